"""The watches table, and the search item that counts its watches."""

import msgspec
from pynamodb.attributes import BinaryAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from lago.domain.ids import EpochMs, SearchId, WatchId
from lago.domain.query import Query
from lago.domain.watch import Watch
from lago.errors import ConflictError
from lago.store.connection import Table, find, table_name, transaction, translated
from lago.store.schema import decoding
from lago.store.searches import SearchItem, SearchStore, key


class WatchItem(Table):
    """A watch as it is stored. `missed` counts what was found while it was paused, up to `missed_until` (epoch ms)."""

    class Meta:
        table_name = table_name("WATCHES_TABLE")

    search = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    watch = BinaryAttribute(legacy_encoding=False)
    paused = UnicodeAttribute(null=True)
    missed = NumberAttribute(default=0)
    missed_until = NumberAttribute(null=True)


def watch_of(item: WatchItem) -> Watch:
    """The watch that the item holds. Raises NewerItemError."""
    with decoding(item):
        stored = msgspec.json.decode(item.watch, type=Watch)
    return msgspec.structs.replace(stored, paused=item.paused or "", missed=int(item.missed or 0))


class WatchStore:
    """Watches by search. Every method may raise StoreUnavailableError."""

    def __init__(self, shards: int = 1) -> None:
        """`shards` is the number of search shards, which `all` has to look through."""
        self._shards = shards

    def of(self, search: SearchId) -> list[Watch]:
        """The watches of a search, read consistently."""
        with translated():
            return [watch_of(item) for item in WatchItem.query(search, consistent_read=True)]

    def get(self, search: SearchId, watch: WatchId) -> Watch | None:
        """One watch, or None when it was removed."""
        item = find(WatchItem, search, watch)
        return None if item is None else watch_of(item)

    def all(self) -> list[Watch]:
        """Every watch, oldest first."""
        searches = [search for shard in range(self._shards) for search in SearchStore().in_shard(shard)]
        return sorted((watch for search in searches for watch in self.of(search.id)), key=lambda watch: watch.created)

    def add(self, query: Query, watch: Watch) -> None:
        """Store a watch and its search, new or known, in one transaction; the next cycle announces it.

        Raises ConflictError when a watch with this id is there already.
        """
        search = SearchItem(*key(watch.search))
        item = WatchItem(watch.search, watch.id, watch=msgspec.json.encode(watch), paused=watch.paused or None)
        with transaction() as writes:
            writes.save(item, condition=WatchItem.id.does_not_exist())
            writes.update(
                search,
                [
                    SearchItem.source.set(SearchItem.source | query.source),
                    SearchItem.path.set(SearchItem.path | query.path),
                    SearchItem.params.set(SearchItem.params | msgspec.json.encode(query.params)),
                    SearchItem.version.set(SearchItem.version | 0),
                    SearchItem.watches.add(1),
                    SearchItem.awaiting.add({watch.id}),
                    SearchItem.marked(),
                ],
            )

    def remove(self, watch: Watch) -> bool:
        """Delete a watch; its search retires with the last one. Says whether the watch was still there."""
        try:
            with transaction() as writes:
                writes.delete(WatchItem(watch.search, watch.id), condition=WatchItem.id.exists())
                writes.update(
                    SearchItem(*key(watch.search)),
                    [SearchItem.watches.add(-1), SearchItem.awaiting.delete({watch.id})],
                    condition=SearchItem.id.exists(),
                )
        except ConflictError:
            return False
        return True

    def set_paused(self, watch: Watch, reason: str) -> bool:
        """Pause with a reason, or resume with an empty one. Says whether the watch was still there."""
        action = WatchItem.paused.set(reason) if reason else WatchItem.paused.remove()
        try:
            with translated():
                WatchItem(watch.search, watch.id).update([action], condition=WatchItem.id.exists())
        except ConflictError:
            return False
        return True

    def count_missed(self, watch: Watch, found: tuple[EpochMs, ...]) -> None:
        """Count what was found while the watch was paused; counting the same finds again changes nothing."""
        item = find(WatchItem, watch.search, watch.id, consistent=True)
        if item is None:
            return
        fresh = [at for at in found if at > (item.missed_until or 0)]
        if not fresh:
            return
        unchanged: Condition = WatchItem.missed_until.does_not_exist()
        if item.missed_until is not None:
            unchanged = WatchItem.missed_until == item.missed_until
        try:
            with translated():
                item.update(
                    [WatchItem.missed.add(len(fresh)), WatchItem.missed_until.set(max(fresh))],
                    condition=WatchItem.id.exists() & unchanged,
                )
        except ConflictError:
            return
