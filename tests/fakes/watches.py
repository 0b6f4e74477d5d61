"""Watches in memory: same contract as the DynamoDB store (tests/contracts/watches_contract.py)."""

from threading import Lock

from msgspec.structs import replace

from lago.domain.ids import EpochMs, SearchId, WatchId
from lago.domain.query import Query
from lago.domain.watch import Watch
from lago.errors import ConflictError

Key = tuple[SearchId, WatchId]


class FakeWatches:
    """`lago.ports.Watches`, without the searches that they watch."""

    def __init__(self, *watches: Watch) -> None:
        self._lock = Lock()
        self._watches: dict[Key, Watch] = {(watch.search, watch.id): watch for watch in watches}
        self._missed_until: dict[Key, EpochMs] = {}

    def of(self, search: SearchId) -> list[Watch]:
        with self._lock:
            return [watch for (of, _), watch in sorted(self._watches.items()) if of == search]

    def get(self, search: SearchId, watch: WatchId) -> Watch | None:
        with self._lock:
            return self._watches.get((search, watch))

    def add(self, query: Query, watch: Watch) -> None:
        with self._lock:
            if (watch.search, watch.id) in self._watches:
                raise ConflictError(f"{watch.id} is there already")
            self._watches[watch.search, watch.id] = watch

    def remove(self, watch: Watch) -> bool:
        with self._lock:
            self._missed_until.pop((watch.search, watch.id), None)
            return self._watches.pop((watch.search, watch.id), None) is not None

    def set_paused(self, watch: Watch, reason: str) -> bool:
        return self._change((watch.search, watch.id), paused=reason)

    def count_missed(self, watch: Watch, found: tuple[EpochMs, ...]) -> None:
        key = (watch.search, watch.id)
        before = self._missed_until.get(key, EpochMs(0))
        fresh = [at for at in found if at > before]
        stored = self.get(*key)
        if fresh and stored is not None:
            self._change(key, missed=stored.missed + len(fresh))
            self._missed_until[key] = max(fresh)

    def _change(self, key: Key, **change: object) -> bool:
        with self._lock:
            if key not in self._watches:
                return False
            self._watches[key] = replace(self._watches[key], **change)
            return True
