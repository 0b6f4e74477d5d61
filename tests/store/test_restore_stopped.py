"""A restore that is stopped, that is run twice, and that gets what is no backup of this stack."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import boto3
import pytest

from lago.domain.ids import EpochMs
from lago.domain.mailbox import dead
from lago.errors import BadInputError
from lago.store.connection import connection
from lago.store.deliveries import DeliveryStore
from lago.store.mailboxes import MailboxStore
from lago.store.watches import WatchStore
from tests.builders import ME, NOW, a_destination, a_query, a_row, a_watch, an_event
from tests.store import written
from tests.store.backups import BACKUP, LOST, a_restorer, bring_back, given, lose_the_stack, restored

HOUR = 3_600_000


@pytest.mark.parametrize("stopped_at", range(1, 10))
def test_a_restore_that_was_stopped_goes_on_and_is_as_one_that_was_not(tables_anew, stopped_at):
    _a_bit_of_everything()
    lose_the_stack(tables_anew)
    with stopped_before(stopped_at), pytest.raises(KeyboardInterrupt):
        restored(told_until=LOST)

    restored(told_until=LOST)
    resumed = _comparable()
    for table in ("searches", "watches", "notification_queue", "deliveries"):
        _empty(table)
    restored(told_until=LOST)

    assert resumed == _comparable()


def test_a_second_restore_changes_nothing(tables_anew):
    _a_bit_of_everything()
    lose_the_stack(tables_anew)
    restored(told_until=LOST)
    before = written.dump()

    report = restored(told_until=LOST, now=NOW + HOUR)

    assert written.dump() == before
    assert (report.watches, report.destinations, report.expired, report.dead, report.deliveries) == (0, 0, 0, 0, 0)


def test_a_look_writes_nothing_and_counts_what_a_restore_restores(tables_anew):
    _a_bit_of_everything()
    lose_the_stack(tables_anew)
    restorer = a_restorer(told_until=LOST)

    restorer.look()

    assert {name: items for name, items in written.dump().items() if items} == {}
    looked = restorer.report
    done = restored(told_until=LOST)
    assert looked == done
    assert done.there == 0


def test_items_of_the_first_schema_are_restored():
    bring_back(written.sample(1)["items"])

    report = restored(told_until=NOW - 1)

    assert (report.destinations, report.watches, report.searches, report.deliveries) == (2, 3, 2, 3)
    assert (report.waiting, report.dead) == (2, 1)


@pytest.mark.parametrize("table", ["searches", "watches", "notification_queue"])
def test_an_item_of_a_newer_schema_is_refused(tables_anew, table):
    _a_bit_of_everything()
    lose_the_stack(tables_anew)
    _spoil(f"old-{table}", {"v": {"NS": ["99"]}})

    with pytest.raises(BadInputError, match="schema 99"):
        a_restorer().look()


@pytest.mark.parametrize(
    ("table", "attribute"), [("searches", "params"), ("watches", "watch"), ("notification_queue", "destination")]
)
def test_an_item_that_cannot_be_read_is_named(tables_anew, table, attribute):
    _a_bit_of_everything()
    lose_the_stack(tables_anew)
    _spoil(f"old-{table}", {attribute: {"B": b"?"}})

    with pytest.raises(BadInputError, match="cannot be read"):
        a_restorer().look()


def test_a_table_of_another_kind_or_the_stacks_own_or_none_is_refused():
    bring_back({})
    backup = given("watches").watches

    backup.check()
    for name, why in (("old-searches", "keys search and id"), ("watches", "own"), ("nothing", "a table of this")):
        backup.name = name
        with pytest.raises(BadInputError, match=why):
            backup.check()


def test_what_the_stack_holds_already_is_named():
    restorer = a_restorer()
    assert restorer.filled() == []

    _a_bit_of_everything()

    assert restorer.filled() == ["searches", "watches", "queue", "deliveries"]


@contextmanager
def stopped_before(write: int) -> Iterator[None]:
    """Somebody presses Ctrl-C just before that write, counted from 1."""
    calls, names = connection().client.meta.events, ("PutItem", "UpdateItem", "BatchWriteItem", "TransactWriteItems")
    numbers = count(1)

    def stop(**_: object) -> None:
        if next(numbers) == write:
            raise KeyboardInterrupt

    for name in names:
        calls.register(f"before-call.dynamodb.{name}", stop)
    try:
        yield
    finally:
        for name in names:
            calls.unregister(f"before-call.dynamodb.{name}", stop)


def _a_bit_of_everything() -> None:
    queue = MailboxStore(1)
    for name in ("me", "you"):
        queue.put_destination(a_destination(name))
        rows = [a_row(an_event(f"{name}{n}"), destination=name, created=BACKUP) for n in range(2)]
        letter = dead(a_row(an_event("9"), destination=name), "message", EpochMs(BACKUP))
        recent = a_row(an_event("8"), destination=name, created=LOST + 1)
        queue.enqueue(a_destination(name), (*rows, letter, recent), now=EpochMs(BACKUP))
    for n, keyword in enumerate(("rennrad", "velo")):
        WatchStore(1).add(a_query(keyword), a_watch(f"w{n}", keyword=keyword))
    DeliveryStore(400).log(ME, [an_event(str(n)) for n in range(3)], EpochMs(BACKUP))


def _spoil(table: str, attributes: dict) -> None:
    """One of the items that hold something, with another value."""
    client = boto3.client("dynamodb")
    item = next(
        item for item in client.scan(TableName=table)["Items"] if {"destination", "watch", "params"} & item.keys()
    )
    client.put_item(TableName=table, Item=item | attributes)


def _empty(table: str) -> None:
    client = boto3.client("dynamodb")
    keys = [each["AttributeName"] for each in client.describe_table(TableName=table)["Table"]["KeySchema"]]
    for item in client.scan(TableName=table)["Items"]:
        client.delete_item(TableName=table, Key={key: item[key] for key in keys})


def _comparable() -> object:
    """The tables, but for how often a mailbox was written."""
    tables = written.dump()
    for item in tables["notification_queue"]:
        item.pop("revision", None)
    return tables
