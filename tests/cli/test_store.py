"""The commands on the stack's own tables, which moto holds."""

from collections.abc import Iterator

import pytest
from moto import mock_aws
from msgspec.structs import replace

from lago.domain.ids import DestinationId, WatchId
from lago.store.mailboxes import MailboxStore
from lago_cli.store import StackDestinations, StackWatches, current_stats
from tests.builders import ME, NOW, a_destination, a_query, a_row, a_watch, an_event
from tests.tables import create_tables


@pytest.fixture(autouse=True)
def _tables() -> Iterator[None]:
    with mock_aws():
        create_tables()
        yield


def the_stack() -> tuple[StackWatches, StackDestinations, MailboxStore]:
    mailboxes = MailboxStore(1)
    return StackWatches(mailboxes, 1), StackDestinations(mailboxes), mailboxes


def test_a_watch_is_stored_listed_paused_and_removed() -> None:
    watches, _, _ = the_stack()
    watch = a_watch()

    watches.add(a_query(), watch)
    paused = watches.set_paused(watch, "on holiday")

    assert paused
    assert watches.all() == [replace(watch, paused="on holiday")]
    assert watches.remove(watch) == 0
    assert watches.all() == []
    assert not watches.set_paused(watch, "again")


def test_removing_a_watch_cancels_what_waits_for_it_alone() -> None:
    watches, destinations, mailboxes = the_stack()
    watch, destination = a_watch(), a_destination()
    alone, shared = a_row(), a_row(an_event("910000002"))
    both = replace(shared.notification, watches=(WatchId("w1"), WatchId("w2")))
    destinations.put(destination)
    watches.add(a_query(), watch)
    mailboxes.enqueue(destination, (alone, replace(shared, notification=both)), now=NOW)

    cancelled = watches.remove(watch)

    assert cancelled == 1
    assert [row.id for row in mailboxes.waiting(ME, 10)] == [shared.id]


def test_destinations_are_found_by_name_and_listed() -> None:
    _, destinations, _ = the_stack()

    destinations.put(a_destination())
    destinations.put(a_destination(address="2002"))

    assert destinations.all() == [a_destination(address="2002")]
    assert destinations.get(ME) == a_destination(address="2002")
    assert destinations.get(DestinationId("you")) is None


def test_stats_count_the_watches() -> None:
    watches, _, mailboxes = the_stack()
    watches.add(a_query(), a_watch())

    assert current_stats(mailboxes, 1, lambda: NOW).watches == 1
