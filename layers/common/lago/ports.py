"""What the use cases need of the store, as small protocols; DynamoDB and the in-memory fake pass one suite."""

from typing import Protocol

from msgspec import Struct

from lago.domain.event import Event
from lago.domain.ids import EpochMs, Milliseconds, SearchId, SourceName, WatchId
from lago.domain.search import Cursor, Health, Search


class Cycle(Struct, frozen=True, kw_only=True):
    """One run over one shard. `previous` is when the run before it started, `holder` is who has the lease."""

    shard: int
    started: EpochMs
    lease_until: EpochMs
    previous: EpochMs | None
    holder: str = ""


class Searches(Protocol):
    """The searches table. Every method may raise StoreUnavailableError."""

    def in_shard(self, shard: int) -> list[Search]:
        """All searches of a shard, read eventually consistently: half a read unit for 4 KB."""
        ...

    def get(self, search: SearchId) -> Search | None:
        """One search, read consistently."""
        ...

    def commit(
        self,
        search: Search,
        *,
        cursor: Cursor,
        events: tuple[Event, ...],
        announced: frozenset[WatchId],
        now: EpochMs,
    ) -> None:
        """Store cursor, events and the end of failures in ONE write, conditional on `search.version`.

        Events are appended to what is pending, under a new outbox id; `announced` leave `awaiting`.
        Raises ConflictError when another commit came first: nothing is written then.
        """
        ...

    def set_health(self, search: SearchId, health: Health | None) -> None:
        """Record why a search is not being read, or that it is again."""
        ...

    def clear_outbox(self, search: SearchId, outbox_id: str) -> bool:
        """Empty the outbox if it is still the one that was read; says whether it was."""
        ...

    def retire(self, search: Search) -> bool:
        """Delete a search without watches and without pending events; says whether that still held."""
        ...


class Sources(Protocol):
    """How each marketplace is doing, shared by all its searches over all invocations."""

    def health(self, source: SourceName) -> Health | None:
        """None while the source is healthy."""
        ...

    def set_health(self, source: SourceName, health: Health | None) -> None:
        """Record an outage or block, or its end."""
        ...


class Cycles(Protocol):
    """The lease that keeps two scrapes from overlapping, whatever their shards, and the record of each shard's last."""

    def begin(self, shard: int, now: EpochMs, lease: Milliseconds) -> Cycle | None:
        """Take the lease for `lease` ms; None while another scrape holds it."""
        ...

    def end(self, cycle: Cycle, now: EpochMs) -> None:
        """Give the lease back. A cycle that outlived its lease changes nothing."""
        ...
