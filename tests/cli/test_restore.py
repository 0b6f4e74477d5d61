"""`lago restore` as a person meets it: what it asks for, refuses, says and leaves to do."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from moto import mock_aws
from moto.core.base_backend import BackendDict
from moto.dynamodb.models import dynamodb_backends
from msgspec.structs import replace

from lago.domain.ids import DestinationId, EpochMs
from lago.domain.query import Query
from lago.ports import Counts
from lago.store.deliveries import DeliveryStore
from lago.store.mailboxes import MailboxStore
from lago.store.searches import SearchStore
from lago.store.watches import WatchStore
from lago_cli.deployment import Schedule
from lago_cli.store import StackDestinations
from tests.builders import ME, WILLHABEN, a_destination, a_row, a_watch, an_event
from tests.cli.fake_deployment import FakeDeployment
from tests.cli.fakes import NOW, FakeStack, a_world
from tests.cli.run import answer, lago
from tests.store.backups import lose_the_stack
from tests.tables import create_tables

RESTED = Schedule(False, "rate(1 minute)")
TABLES = (
    *("--searches", "old-searches", "--watches", "old-watches"),
    *("--queue", "old-notification_queue", "--deliveries", "old-deliveries"),
)
TOLD_UNTIL = ("--told-until", "1h")
BEFORE = EpochMs(NOW - 2 * 3_600_000)
TOKEN = "/lago/test/telegram-bot-token"


@pytest.fixture(autouse=True)
def _tables() -> Iterator[None]:
    with mock_aws():
        create_tables()
        yield


def anew() -> None:
    backends: BackendDict = dynamodb_backends
    backends.reset()
    create_tables()


@dataclass
class NewStack(FakeStack):
    """A stack whose tables moto holds."""

    def output(self, key: str) -> str:
        return {"SearchShards": "1", "QueueShards": "1"}.get(key) or super().output(key)


def a_new_stack(*, token: bool = True) -> NewStack:
    stack = NewStack()
    stack.destinations = StackDestinations(MailboxStore(1))  # type: ignore[assignment]
    if token:
        stack.secrets.kept[TOKEN] = "4711:token"
    return stack


def a_query_of_willhaben() -> Query:
    """As the fake marketplace reads the address of the watch."""
    return Query(source=WILLHABEN, path="/iad/kaufen-und-verkaufen/marktplatz?keyword=rennrad")


def a_lost_stack(secret: str = TOKEN, lost: Callable[[], None] = anew) -> None:
    """It watched, told, had a message waiting, and is in the `old-` tables."""
    query, queue = a_query_of_willhaben(), MailboxStore(1)
    destination = replace(a_destination(), credentials=secret)
    queue.put_destination(destination)
    queue.enqueue(destination, (a_row(created=BEFORE),), now=BEFORE)
    WatchStore(1).add(query, replace(a_watch(), search=query.search_id(1)))
    DeliveryStore(400).log(ME, (an_event("1"),), BEFORE)
    lose_the_stack(lost)


def restore(*arguments: str, stack: NewStack | None = None, schedule: Schedule = RESTED) -> Any:
    world = a_world(stack or a_new_stack(), deployment=FakeDeployment(runs=schedule))
    return lago(world, "restore", *arguments)


def said(result: Any) -> str:
    return " ".join(result.output.split())


def test_all_four_tables_are_restored_and_what_was_is_said() -> None:
    a_lost_stack()

    done = restore(*TABLES, *TOLD_UNTIL)

    assert done.exit_code == 0, done.output
    assert MailboxStore(1).counts() == {"telegram": Counts(0, 1)}
    assert [search.watches for search in SearchStore().in_shard(0)] == [1]
    assert "waited: now dead 1" in said(done)
    assert "lago dead list --reason expired" in said(done)
    assert "ScheduleState=ENABLED" in said(done)


def test_a_program_gets_json() -> None:
    a_lost_stack()

    report = answer(restore(*TABLES, *TOLD_UNTIL, "--json"))

    assert report == {
        "deliveries": 1,
        "destinations": 1,
        "waiting": 0,
        "dead": 0,
        "expired": 1,
        "watches": 1,
        "searches": 1,
        "there": 0,
        "orphans": 0,
        "unread": [],
        "needs_secret": [],
    }


def test_a_dry_run_says_what_there_is_and_writes_nothing() -> None:
    a_lost_stack()

    done = restore(*TABLES, *TOLD_UNTIL, "--dry-run")

    assert done.exit_code == 0, done.output
    assert "nothing was written" in said(done)
    assert "watches 1" in said(done)
    assert (MailboxStore(1).destinations(), SearchStore().in_shard(0)) == ([], [])


def test_it_refuses_while_cycles_run_unless_it_is_forced() -> None:
    a_lost_stack()
    running = Schedule(True, "rate(1 minute)")

    refused = restore(*TABLES, *TOLD_UNTIL, schedule=running)

    assert refused.exit_code == 1
    assert "ScheduleState=DISABLED" in said(refused)
    assert MailboxStore(1).destinations() == []
    assert restore(*TABLES, *TOLD_UNTIL, "--force", schedule=running).exit_code == 0


def test_it_refuses_a_stack_that_is_not_empty_unless_that_is_to_be_filled_up() -> None:
    a_lost_stack()
    MailboxStore(1).put_destination(a_destination("me", address="99"))

    refused = restore(*TABLES, *TOLD_UNTIL)

    assert refused.exit_code == 1
    assert "not empty (queue)" in said(refused)
    assert SearchStore().in_shard(0) == []
    assert restore(*TABLES, *TOLD_UNTIL, "--into-existing").exit_code == 0
    head = MailboxStore(1).head(ME)
    assert head is not None
    assert (head.destination.address, head.dead) == ("99", 1)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "--told-until"),
        (("--told-until", "tomorrow"), "90min"),
        (("--told-until", "2099-01-01"), "a time in the past"),
        (TOLD_UNTIL, "at least one restored table"),
        ((*TOLD_UNTIL, "--watches", "nothing"), "a table of this account"),
        ((*TOLD_UNTIL, "--watches", "watches"), "not the stack's own"),
        ((*TOLD_UNTIL, "--watches", "old-searches"), "keys search and id"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(arguments: tuple[str, ...], why: str) -> None:
    a_lost_stack()

    refused = restore(*arguments)

    assert refused.exit_code == 2
    assert why in said(refused).replace("│", "")
    assert MailboxStore(1).destinations() == []


@pytest.mark.parametrize("secret", [TOKEN, "/lago/lost/telegram-bot-token"])
def test_a_destination_whose_secret_is_gone_or_another_stacks_is_disabled_and_named(secret: str) -> None:
    a_lost_stack(secret)

    done = restore(*TABLES, *TOLD_UNTIL, stack=a_new_stack(token=secret != TOKEN))

    head = MailboxStore(1).head(ME)
    assert head is not None
    assert head.destination.disabled == "needs its secret"
    assert "lago setup --destination me --chat=1001 --stack test" in said(done)


def test_a_destination_that_needs_no_secret_goes_on() -> None:
    mail = replace(a_destination("mail", address="me@example.org"), channel="email")
    MailboxStore(1).put_destination(mail)
    lose_the_stack(anew)

    done = restore(*TABLES, *TOLD_UNTIL)

    assert done.exit_code == 0, done.output
    head = MailboxStore(1).head(DestinationId("mail"))
    assert head is not None
    assert head.destination == mail


def test_stopped_in_the_middle_it_says_how_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    a_lost_stack()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(MailboxStore, "put_destination", killed)
    stopped = restore(*TABLES, *TOLD_UNTIL)
    monkeypatch.undo()

    assert stopped.exit_code != 0
    assert "run it again with --into-existing" in said(stopped)
    assert restore(*TABLES, *TOLD_UNTIL, "--into-existing").exit_code == 0
    assert MailboxStore(1).counts() == {"telegram": Counts(0, 1)}


def test_a_watch_without_a_search_is_named() -> None:
    query = Query(source=WILLHABEN, path="/elsewhere")
    WatchStore(1).add(query, replace(a_watch(), search=query.search_id(1)))
    lose_the_stack(anew)

    done = restore("--watches", "old-watches", *TOLD_UNTIL)

    assert "The watch w1 has no search in the backup" in said(done)
