"""The searches table in memory: same contracts as the DynamoDB store (tests/contracts)."""

from itertools import count
from threading import Lock

from msgspec.structs import replace

from lago.domain.event import Event
from lago.domain.ids import EpochMs, Milliseconds, SearchId, SourceName, WatchId
from lago.domain.query import shard_of
from lago.domain.search import Cursor, Health, Search
from lago.errors import ConflictError, StoreUnavailableError
from lago.ports import Cycle


class FakeSearches:
    """`lago.ports.Searches`. `writes` counts what would be charged for; writing a search in `down` fails."""

    def __init__(self, *searches: Search) -> None:
        self._lock = Lock()
        self._items = {search.id: search for search in searches}
        self._outbox_ids = count(1)
        self.writes = 0
        self.down: set[SearchId] = set()

    def put(self, search: Search) -> None:
        """Place a search as it is, as a test's given."""
        self._items[search.id] = search

    def add_watch(self, search: SearchId, watch: WatchId) -> None:
        """What adding a watch does to its search."""
        item = self._items[search]
        self._items[search] = replace(item, watches=item.watches + 1, awaiting=item.awaiting | {watch})

    def in_shard(self, shard: int) -> list[Search]:
        return [search for search in self._items.values() if shard_of(search.id) == shard]

    def get(self, search: SearchId) -> Search | None:
        return self._items.get(search)

    def commit(
        self,
        search: Search,
        *,
        cursor: Cursor,
        events: tuple[Event, ...],
        announced: frozenset[WatchId],
        now: EpochMs,
    ) -> None:
        with self._writing(search.id):
            item = self._items.get(search.id)
            if item is None or item.version != search.version:
                raise ConflictError(f"{search.id} is not at version {search.version}")
            item = replace(
                item,
                version=item.version + 1,
                cursor=cursor,
                health=None,
                awaiting=item.awaiting - announced,
            )
            if events:
                item = replace(
                    item,
                    outbox=item.outbox + events,
                    outbox_id=f"outbox-{next(self._outbox_ids)}",
                    outbox_since=now if item.outbox_since is None else item.outbox_since,
                )
            self._items[search.id] = item

    def set_health(self, search: SearchId, health: Health | None) -> None:
        with self._writing(search):
            if search in self._items:
                self._items[search] = replace(self._items[search], health=health)

    def clear_outbox(self, search: SearchId, outbox_id: str) -> bool:
        with self._writing(search):
            item = self._items.get(search)
            if item is None or item.outbox_id != outbox_id:
                return False
            self._items[search] = replace(item, outbox=(), outbox_id=None, outbox_since=None)
            return True

    def retire(self, search: Search) -> bool:
        with self._writing(search.id):
            item = self._items.get(search.id)
            if item is None or item.watches > 0 or item.outbox_id is not None:
                return False
            del self._items[search.id]
            return True

    def _writing(self, search: SearchId) -> Lock:
        if search in self.down:
            raise StoreUnavailableError("throttled")
        self.writes += 1
        return self._lock


class FakeSources:
    """`lago.ports.Sources`."""

    def __init__(self, **health: Health) -> None:
        self._health = {SourceName(name): value for name, value in health.items()}
        self.writes = 0

    def health(self, source: SourceName) -> Health | None:
        return self._health.get(source)

    def set_health(self, source: SourceName, health: Health | None) -> None:
        self.writes += 1
        if health is None:
            self._health.pop(source, None)
        else:
            self._health[source] = health


class FakeCycles:
    """`lago.ports.Cycles`."""

    def __init__(self) -> None:
        self._last: dict[int, Cycle] = {}
        self._holder: Cycle | None = None

    def begin(self, shard: int, now: EpochMs, lease: Milliseconds) -> Cycle | None:
        if self._holder is not None and self._holder.lease_until > now:
            return None
        last = self._last.get(shard)
        self._holder = self._last[shard] = Cycle(
            shard=shard,
            started=now,
            lease_until=EpochMs(now + lease),
            previous=None if last is None else last.started,
        )
        return self._holder

    def end(self, cycle: Cycle, now: EpochMs) -> None:
        if self._holder == cycle:
            self._holder = None
