"""The searches table: searches by shard, and under the shard "meta" how sources do and which cycle runs."""

import logging
import secrets

import msgspec
from msgspec import Struct
from pynamodb.attributes import (
    BinaryAttribute,
    JSONAttribute,
    ListAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.expressions.update import Action

from lago.domain.event import Event, decode_events, encode_events
from lago.domain.ids import EpochMs, Milliseconds, SearchId, SourceName, WatchId
from lago.domain.query import Query, shard_of
from lago.domain.search import Cursor, Health, Search
from lago.errors import ConflictError, NewerItemError
from lago.ports import Cycle
from lago.store.codec import decode_cursor, encode_cursor
from lago.store.connection import Table, find, table_name, translated
from lago.store.schema import decoding

log = logging.getLogger(__name__)

CYCLE = "cycle"
META = "meta"
"""The partition of what belongs to no search. Its items never have an outbox_id, so the stream never wakes Notify."""


class SearchesTable(Table):
    """The keys that every item of the table has."""

    class Meta:
        table_name = table_name("SEARCHES_TABLE")

    shard = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)


class SearchItem(SearchesTable):
    """A search as it is stored. Optional attributes are absent, not null: the stream filters on that."""

    source = UnicodeAttribute()
    path = UnicodeAttribute()
    params = BinaryAttribute(legacy_encoding=False)
    version = NumberAttribute(default=0)
    watches = NumberAttribute(default=0)
    cursor = BinaryAttribute(legacy_encoding=False, null=True)
    outbox: ListAttribute[bytes] = ListAttribute(of=BinaryAttribute, null=True)  # type: ignore[arg-type]
    outbox_id = UnicodeAttribute(null=True)
    outbox_since = NumberAttribute(null=True)
    health = BinaryAttribute(legacy_encoding=False, null=True)
    awaiting = UnicodeSetAttribute(null=True)


class SourceItem(SearchesTable):
    """How one marketplace does; without `health` it is healthy."""

    health = BinaryAttribute(legacy_encoding=False, null=True)


class CycleItem(SearchesTable):
    """The lease that one scrape at a time holds, and by shard the record of the last cycle. Times in epoch ms."""

    holder = UnicodeAttribute(null=True)
    lease_until = NumberAttribute(null=True)
    shards = JSONAttribute(null=True)


class CycleRecord(Struct, frozen=True, kw_only=True):
    """A shard's last cycle: `finished` is None while it runs and when it died."""

    started: EpochMs
    finished: EpochMs | None = None
    previous: EpochMs | None = None


def key(search: SearchId) -> tuple[str, str]:
    """Partition and sort key of a search."""
    return str(shard_of(search)), search


def _encode_health(health: Health) -> bytes:
    return msgspec.json.encode(health)


def _health(data: bytes | None) -> Health | None:
    return None if data is None else msgspec.json.decode(data, type=Health)


def search_of(item: SearchItem) -> Search:
    """The search that the item holds. Raises NewerItemError."""
    with decoding(item):
        return Search(
            id=SearchId(item.id),
            query=Query(
                source=SourceName(item.source),
                path=item.path,
                params=msgspec.json.decode(item.params, type=tuple[tuple[str, str], ...]),
            ),
            version=int(item.version),
            watches=int(item.watches),
            cursor=None if item.cursor is None else decode_cursor(item.cursor),
            outbox_id=item.outbox_id,
            outbox=tuple(event for data in item.outbox or () for event in decode_events(data)),
            outbox_since=None if item.outbox_since is None else EpochMs(int(item.outbox_since)),
            health=_health(item.health),
            awaiting=frozenset(WatchId(watch) for watch in item.awaiting or ()),
        )


def _readable(item: SearchItem) -> Search | None:
    """One that this version can't read (stored by a newer one during a deploy) is left alone and stops no other."""
    try:
        return search_of(item)
    except NewerItemError:
        log.exception("a search cannot be read", extra={"search": item.id})
        return None


class SearchStore:
    """`lago.ports.Searches` on DynamoDB."""

    def in_shard(self, shard: int) -> list[Search]:
        """All searches of a shard, read eventually consistently."""
        with translated():
            items = list(SearchItem.query(str(shard)))
        return [search for item in items if (search := _readable(item)) is not None]

    def get(self, search: SearchId) -> Search | None:
        """One search, read consistently."""
        item = find(SearchItem, *key(search), consistent=True)
        return None if item is None else search_of(item)

    def commit(
        self,
        search: Search,
        *,
        cursor: Cursor,
        events: tuple[Event, ...],
        announced: frozenset[WatchId],
        now: EpochMs,
    ) -> None:
        """Cursor, events and the end of failures in one write. Raises ConflictError when another came first."""
        actions: list[Action] = [
            SearchItem.version.set(search.version + 1),
            SearchItem.cursor.set(encode_cursor(cursor)),
            SearchItem.health.remove(),
            SearchItem.marked(),
        ]
        if events:
            pending = SearchItem.outbox | []
            stored = [encode_events((event,)) for event in events]
            actions += [
                SearchItem.outbox.set(pending.append(stored)),
                SearchItem.outbox_id.set(secrets.token_hex(4)),
                SearchItem.outbox_since.set(SearchItem.outbox_since | now),
            ]
        if announced:
            actions.append(SearchItem.awaiting.delete(set(announced)))
        with translated():
            SearchItem(*key(search.id)).update(actions, condition=SearchItem.version == search.version)

    def set_health(self, search: SearchId, health: Health | None) -> None:
        """Record why a search is not being read, or that it is again. A search that is gone stays gone."""
        actions: list[Action] = [SearchItem.health.remove()]
        if health is not None:
            actions = [SearchItem.health.set(_encode_health(health)), SearchItem.marked()]
        try:
            with translated():
                SearchItem(*key(search)).update(actions, condition=SearchItem.id.exists())
        except ConflictError:
            return

    def clear_outbox(self, search: SearchId, outbox_id: str) -> bool:
        """Empty the outbox if it is still the one that was read."""
        actions: list[Action] = [
            SearchItem.outbox.remove(),
            SearchItem.outbox_id.remove(),
            SearchItem.outbox_since.remove(),
        ]
        try:
            with translated():
                SearchItem(*key(search)).update(actions, condition=SearchItem.outbox_id == outbox_id)
        except ConflictError:
            return False
        return True

    def retire(self, search: Search) -> bool:
        """Delete a search without watches and without pending events."""
        idle = (SearchItem.watches == 0) & SearchItem.outbox_id.does_not_exist()
        try:
            with translated():
                SearchItem(*key(search.id)).delete(condition=idle)
        except ConflictError:
            return False
        return True


class SourceStore:
    """`lago.ports.Sources` on DynamoDB."""

    def health(self, source: SourceName) -> Health | None:
        """None while the source is healthy."""
        item = find(SourceItem, META, _source_id(source))
        if item is None:
            return None
        with decoding(item):
            return _health(item.health)

    def set_health(self, source: SourceName, health: Health | None) -> None:
        """Record an outage or block, or its end."""
        item = SourceItem(META, _source_id(source))
        with translated():
            if health is None:
                item.delete()
            else:
                item.update([SourceItem.health.set(_encode_health(health)), SourceItem.marked()])


class CycleStore:
    """`lago.ports.Cycles` on DynamoDB: two write units a scrape, whatever the number of searches.

    All shards share one lease: they are read one after the other, so that a cycle that is late and its successor do not
    ask a marketplace twice at a time.
    """

    def begin(self, shard: int, now: EpochMs, lease: Milliseconds) -> Cycle | None:
        """Take the lease for `lease` ms; None while another scrape holds it."""
        item = find(CycleItem, META, CYCLE, consistent=True) or CycleItem(META, CYCLE)
        if item.lease_until is not None and item.lease_until > now:
            return None
        records = _records(item)
        before = records.get(shard)
        previous = None if before is None else before.started
        holder = secrets.token_hex(8)
        unchanged = CycleItem.holder.does_not_exist() if item.holder is None else CycleItem.holder == item.holder
        actions: list[Action] = [
            CycleItem.holder.set(holder),
            CycleItem.lease_until.set(now + lease),
            CycleItem.shards.set(_stored(records | {shard: CycleRecord(started=now, previous=previous)})),
            CycleItem.marked(),
        ]
        try:
            with translated():
                CycleItem(META, CYCLE).update(actions, condition=unchanged)
        except ConflictError:
            return None
        return Cycle(shard=shard, started=now, lease_until=EpochMs(now + lease), previous=previous, holder=holder)

    def end(self, cycle: Cycle, now: EpochMs) -> None:
        """Give the lease back. A cycle that outlived it changes nothing."""
        records = _records(find(CycleItem, META, CYCLE, consistent=True))
        done = CycleRecord(started=cycle.started, finished=now, previous=cycle.previous)
        try:
            with translated():
                CycleItem(META, CYCLE).update(
                    [CycleItem.shards.set(_stored(records | {cycle.shard: done})), CycleItem.lease_until.remove()],
                    condition=CycleItem.holder == cycle.holder,
                )
        except ConflictError:
            return

    def last(self) -> dict[int, CycleRecord]:
        """The record of each shard's last cycle."""
        return _records(find(CycleItem, META, CYCLE))


def _records(item: CycleItem | None) -> dict[int, CycleRecord]:
    if item is None:
        return {}
    with decoding(item):
        return {int(shard): msgspec.convert(record, CycleRecord) for shard, record in (item.shards or {}).items()}


def _stored(records: dict[int, CycleRecord]) -> dict[str, object]:
    return {str(shard): msgspec.to_builtins(record) for shard, record in records.items()}


def _source_id(source: SourceName) -> str:
    return f"source#{source}"
