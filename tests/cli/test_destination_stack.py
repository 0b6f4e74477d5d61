"""What the commands for destinations do to the stack's own tables and secrets, which moto holds."""

from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws
from msgspec.structs import replace

from lago.destinations import Directory
from lago.domain.ids import DestinationId, EpochMs, WatchId
from lago.store.destinations import RemovalStore
from lago.store.mailboxes import MailboxStore
from lago_cli.stack import ParameterSecrets
from lago_cli.store import StackWatches
from tests.builders import ME, NOW, a_destination, a_query, a_row, a_watch, an_event
from tests.tables import create_tables

YOU = DestinationId("you")


@pytest.fixture(autouse=True)
def _tables() -> Iterator[None]:
    with mock_aws():
        create_tables()
        yield


def test_what_waits_where_a_watch_no_longer_tells_is_cancelled() -> None:
    queue = MailboxStore(1)
    watches = StackWatches(queue, 1)
    for name in ("me", "you"):
        queue.put_destination(a_destination(name))
        queue.enqueue(a_destination(name), (a_row(destination=name),), now=NOW)
    shared = a_row(an_event("2"))
    both = replace(shared, notification=replace(shared.notification, watches=(WatchId("w1"), WatchId("w2"))))
    queue.enqueue(a_destination(), (both,), now=NOW)
    watch = a_watch(destinations=("me", "you"))
    watches.add(a_query(), watch)

    assert watches.turn(watch, (YOU,)) == 1

    assert watches.all() == [a_watch(destinations=("you",))]
    assert [row.id for row in queue.waiting(ME, 5)] == [shared.id]
    assert len(queue.waiting(YOU, 5)) == 1


def test_a_removal_takes_watches_and_secrets_along() -> None:
    queue, ssm = MailboxStore(1), boto3.client("ssm")
    watches, secrets = StackWatches(queue, 1), ParameterSecrets(boto3.Session())
    directory = Directory(
        queue,
        RemovalStore(queue),
        watches,
        secrets,
        prefix="/lago/test/destinations",
        clock=lambda: NOW,
        random_bytes=bytes,
    )
    queue.put_destination(a_destination())
    watches.add(a_query(), a_watch())
    secrets.put("/lago/test/destinations/me/slack", "secret")
    secrets.put("/lago/test/destinations/you/slack", "secret")

    removed = directory.remove(ME, force=True, deadline=EpochMs(NOW + 60_000))

    assert (removed.done, removed.removed) == (True, ("w1",))
    assert watches.all() == []
    left = [each["Name"] for each in ssm.describe_parameters()["Parameters"]]
    assert left == ["/lago/test/destinations/you/slack"]
