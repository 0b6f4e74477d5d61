"""What older versions stored is read for ever, one version ahead works both ways, and what is newer is left alone."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import boto3
import msgspec
import pytest
from msgspec.structs import replace

from lago.domain.ids import DestinationId, EpochMs
from lago.domain.mailbox import Settlement
from lago.errors import NewerItemError
from lago.store.connection import Table
from lago.store.destinations import turn
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import HEAD, QueueItem, encode_destination, item_of
from lago.store.schema import AHEAD, SCHEMA
from lago.store.searches import SearchItem, SearchStore, key
from lago.store.watches import WatchItem, WatchStore
from tests.builders import ME, NOW, a_cursor, a_destination, a_query, a_row, a_search_id, a_watch, an_event
from tests.store import before, written

NEXT = SCHEMA + AHEAD
TOO_NEW = NEXT + 1


@pytest.fixture(scope="module")
def version_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return before.checkout(tmp_path_factory.mktemp("before"))


def differences(known: Any, found: Any, place: str = "") -> Iterator[str]:
    """Where `found` does not say what `known` says; what it says beyond that is its own."""
    if isinstance(known, dict) and isinstance(found, dict):
        for name, value in known.items():
            yield from differences(value, found.get(name, "missing"), f"{place}/{name}")
    elif isinstance(known, list) and isinstance(found, list) and len(known) == len(found):
        for n, (one, other) in enumerate(zip(known, found, strict=True)):
            yield from differences(one, other, f"{place}/{n}")
    elif known != found:
        yield f"{place}: {known!r} is read as {found!r}"


def as_before(read: Any) -> Any:
    """Without what the version before had in its heads, but never filled: the number of dead letters."""
    known = deepcopy(read)
    for head in known["heads"].values():
        head.pop("dead", None)
    return known


def in_builtins(read: Any) -> Any:
    return json.loads(json.dumps(read))


def marks(table: str) -> dict[str, set[str] | None]:
    """The marks of a table's items, by their keys."""
    found = boto3.client("dynamodb").scan(TableName=table)["Items"]
    names = {"searches": ("shard", "id"), "watches": ("search", "id"), "notification_queue": ("mailbox", "id")}
    first, second = names.get(table, ("destination", "ad"))
    return {f"{item[first]['S']} {item[second]['S']}": set(item["v"]["NS"]) if "v" in item else None for item in found}


def written_by(schema: int, item: Table) -> None:
    """Mark the item as of that schema."""
    item.update([type(item).schemas.set({schema})])


# what older versions stored


def test_what_the_first_schema_stored_is_read_as_that_version_read_it():
    stored = written.sample(1)
    written.fill(stored["items"])

    found = in_builtins(written.read())

    assert list(differences(as_before(stored["read"]), found)) == []


def test_tables_of_the_first_schema_work_on_and_are_marked_where_they_are_written():
    written.fill(written.sample(1)["items"])

    written.use()

    found = in_builtins(written.read())
    assert found["heads"]["me"]["destination"]["address"] == "-1001"
    assert found["counts"]["telegram"] == [3, 0]
    assert marks("searches")[f"0 {a_search_id()}"] == {str(SCHEMA)}
    assert marks("notification_queue")["me head"] == {str(SCHEMA)}
    assert marks("notification_queue")["gone head"] is None
    assert marks("watches")[f"{a_search_id()} w1"] is None


def test_all_that_is_stored_is_marked_but_counters():
    written.write()

    for table in ("searches", "watches", "notification_queue", "deliveries"):
        found = marks(table)
        assert found
        assert {name for name, schemas in found.items() if schemas != {str(SCHEMA)}} <= {"shard#0 counts#telegram"}


def test_a_destination_without_news_is_stored_byte_by_byte_as_the_first_schema_compares_it():
    written.fill(written.sample(1)["items"])

    for name in ("me", "gone"):
        stored = QueueItem.get(name, HEAD).destination
        assert encode_destination(MailboxStore(1).head(DestinationId(name)).destination, {}) == stored


# the version before beside this one


def test_the_version_before_reads_what_this_one_writes(version_before: Path):
    written.write()

    read_before = before.run(version_before, "read", written.dump())

    assert "unknown" not in read_before["heads"]["me"], "this is not the version before"
    assert list(differences(as_before(read_before), in_builtins(written.read()))) == []


def test_the_version_before_works_on_with_what_this_one_wrote_and_back(version_before: Path, tables_anew):
    written.write()
    queue = MailboxStore(1)
    queue.put_destination(replace(queue.head(DestinationId("gone")).destination, digest_at=540))

    after = before.run(version_before, "use", written.dump())
    tables_anew()
    written.fill(after)

    found = in_builtins(written.read())
    assert found["counts"]["telegram"] == [3, 0]
    assert found["heads"]["me"]["destination"]["disabled"] == "blocked"
    assert found["heads"]["gone"]["destination"]["digest_at"] == 540
    assert found["heads"]["gone"]["revision"] == 3
    assert [event[3] for search in found["searches"].values() for event in search["outbox"]] == ["910000011"]
    assert marks("notification_queue")["me head"] == {str(SCHEMA)}


# the next version beside this one


def test_what_the_next_version_knows_of_a_destination_survives_a_verdict_and_a_change():
    queue = MailboxStore(1)
    queue.put_destination(a_destination())
    by_next = msgspec.json.encode({**msgspec.to_builtins(a_destination()), "voice": {"language": "de"}})
    head_item = QueueItem(ME, HEAD)
    head_item.update([QueueItem.destination.set(by_next)])
    written_by(NEXT, head_item)

    claim = queue.claim(queue.head(ME), [], now=NOW, lease_until=EpochMs(NOW + 60_000))
    queue.record(claim, Settlement(address="-1001"), new=False, next_row_at=None, now=NOW)
    queue.change_destination(ME, lambda each: replace(each, club_seconds=600))

    stored = msgspec.json.decode(QueueItem.get(ME, HEAD).destination)
    assert (stored["voice"], stored["address"], stored["club_seconds"]) == ({"language": "de"}, "-1001", 600)


def test_what_the_next_version_knows_of_a_watch_survives_when_it_is_sent_elsewhere():
    WatchStore(1).add(a_query(), a_watch())
    item = WatchItem.get(a_search_id(), "w1")
    item.update([WatchItem.watch.set(msgspec.json.encode({**msgspec.json.decode(item.watch), "sound": "loud"}))])

    assert turn(a_watch(), (DestinationId("other"),))

    stored = msgspec.json.decode(WatchItem.get(a_search_id(), "w1").watch)
    assert (stored["sound"], stored["destinations"]) == ("loud", ["other"])


def test_attributes_of_the_next_version_survive_every_update():
    written.write()
    client = boto3.client("dynamodb")
    places = {"searches": ("shard", "id"), "watches": ("search", "id"), "notification_queue": ("mailbox", "id")}
    for table, names in places.items():
        for item in client.scan(TableName=table)["Items"]:
            client.update_item(
                TableName=table,
                Key={name: item[name] for name in names},
                UpdateExpression="SET novelty = :n ADD v :v",
                ExpressionAttributeValues={":n": {"S": "kept"}, ":v": {"NS": [str(NEXT)]}},
            )

    written.use()

    rewritten = {("me", row.id) for row in MailboxStore(1).waiting(ME, 10)}
    for table, names in places.items():
        for item in client.scan(TableName=table)["Items"]:
            whole = item[names[0]]["S"], item[names[1]]["S"]
            if whole not in rewritten:
                assert item["novelty"] == {"S": "kept"}
                assert str(NEXT) in item["v"]["NS"]


def test_an_older_version_that_rewrites_a_part_does_not_make_the_item_look_older():
    SearchItem(*key(a_search_id()), source="willhaben", path="/", params=b"[]", schemas={NEXT}).save()
    search = SearchStore().get(a_search_id())

    SearchStore().commit(search, cursor=a_cursor(), events=(), announced=frozenset(), now=NOW)

    assert SearchItem.get(*key(a_search_id())).schemas == {SCHEMA, NEXT}


# what is newer than that


def test_a_search_that_is_too_new_is_left_alone_and_stops_no_other(caplog):
    for keyword in ("rennrad", "velo"):
        WatchStore(1).add(a_query(keyword), a_watch(keyword, keyword=keyword))
    written_by(TOO_NEW, SearchItem(*key(a_search_id("velo"))))

    assert [search.id for search in SearchStore().in_shard(0)] == [a_search_id()]
    assert f"an item of schema {TOO_NEW}: this version reads up to {NEXT}" in caplog.text
    with pytest.raises(NewerItemError):
        SearchStore().get(a_search_id("velo"))


def test_rows_that_are_too_new_wait_uncharged_and_stop_no_other():
    queue = MailboxStore(1)
    queue.put_destination(a_destination())
    rows = [a_row(an_event(str(n))) for n in range(2)]
    queue.enqueue(a_destination(), tuple(rows), now=NOW)
    dead_letter = a_row(an_event("9"), died=NOW, dead_reason="outage")
    item_of(dead_letter, "shard#0").save()
    for row in (rows[0], dead_letter):
        written_by(TOO_NEW, QueueItem(ME, row.id))

    assert [row.id for row in queue.waiting(ME, 10)] == [rows[1].id]
    assert (queue.dead(ME), queue.dead_letters(10)) == ([], [])
    with pytest.raises(NewerItemError):
        queue.row(ME, rows[0].id)
    assert QueueItem.get(ME, rows[0].id).row == msgspec.msgpack.encode(rows[0])


def test_a_mailbox_or_a_watch_that_is_too_new_is_not_worked_with():
    queue = MailboxStore(1)
    queue.put_destination(a_destination())
    WatchStore(1).add(a_query(), a_watch())
    written_by(TOO_NEW, QueueItem(ME, HEAD))
    written_by(TOO_NEW, WatchItem(a_search_id(), "w1"))

    with pytest.raises(NewerItemError):
        queue.head(ME)
    with pytest.raises(NewerItemError):
        queue.put_destination(a_destination(address="-1001"))
    with pytest.raises(NewerItemError):
        WatchStore(1).of(a_search_id())


def test_what_cannot_be_decoded_is_as_if_it_were_newer():
    queue = MailboxStore(1)
    queue.put_destination(a_destination())
    QueueItem(ME, HEAD).update([QueueItem.destination.set(b"from the future")])

    with pytest.raises(NewerItemError, match="does not understand"):
        queue.head(ME)
