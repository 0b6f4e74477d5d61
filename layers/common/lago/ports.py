"""What the use cases need of the store, as small protocols; DynamoDB and the in-memory fake pass one suite."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

from msgspec import Struct

from lago.domain.event import Event
from lago.domain.ids import DestinationId, EpochMs, Milliseconds, NotificationId, SearchId, SourceName, WatchId
from lago.domain.mailbox import Head, Row, Settlement
from lago.domain.notification import Destination
from lago.domain.query import Query
from lago.domain.resolve import Told
from lago.domain.search import Cursor, Health, Search
from lago.domain.watch import Watch


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


class DueMailbox(NamedTuple):
    """A mailbox whose next attempt is due, by the index: it may lag, so the head decides."""

    destination: DestinationId
    due_at: EpochMs


class Counts(NamedTuple):
    """Exact numbers of rows."""

    pending: int
    dead: int


class Mailboxes(Protocol):
    """The notification queue. Every method may raise StoreUnavailableError."""

    shards: int
    """How many queue shards the destinations are spread over."""

    def put_destination(self, destination: Destination) -> None:
        """Store a destination, new or changed; its mailbox keeps what waits, due at once when it was disabled.

        Its channel changes only while nothing is there that was counted under the old one: ConflictError otherwise.
        """
        ...

    def change_destination(
        self, name: DestinationId, change: Callable[[Destination], Destination]
    ) -> Destination | None:
        """Change what is stored of a destination, whatever else changes it at the same time; its channel stays.

        Returns it as it is then; None when there is none of that name.
        """
        ...

    def destinations(self) -> list[DestinationId]:
        """Every destination that exists."""
        ...

    def head(self, destination: DestinationId) -> Head | None:
        """A mailbox, read consistently."""
        ...

    def due(self, shard: int, now: EpochMs, limit: int) -> Iterator[DueMailbox]:
        """The mailboxes of a shard that are due, longest overdue first."""
        ...

    def waiting(self, destination: DestinationId, limit: int) -> list[Row]:
        """The first rows of a mailbox by the time of their next attempt, read consistently."""
        ...

    def row(self, destination: DestinationId, row: NotificationId) -> Row | None:
        """One row, waiting or dead, read consistently."""
        ...

    def dead(self, destination: DestinationId) -> list[Row]:
        """The dead letters of a destination."""
        ...

    def dead_letters(self, limit: int) -> list[Row]:
        """The newest dead letters of all destinations."""
        ...

    def counts(self) -> dict[str, Counts]:
        """Pending and dead rows by channel."""
        ...

    def claim(
        self,
        head: Head,
        ids: Iterable[NotificationId],
        *,
        now: EpochMs,
        lease_until: EpochMs,
        lost: tuple[Row, ...] = (),
        suspects: frozenset[NotificationId] = frozenset(),
    ) -> Head:
        """Become the one sender: raise the epoch, set the lease, name the rows in the air, store the `lost` ones.

        Raises ConflictError when another claimed, or rows arrived, since `head` was read.
        """
        ...

    def release(self, claim: Head, settlement: Settlement, *, now: EpochMs) -> None:
        """Give up the mailbox after a message that has no stored rows; a claim that was lost changes nothing."""
        ...

    def record(
        self, claim: Head, settlement: Settlement, *, new: bool, next_row_at: EpochMs | None, now: EpochMs
    ) -> bool:
        """Store what a send's outcome means and give up the mailbox, in one write; says whether the claim still held.

        If not: failures are not recorded (someone else is at it), acknowledgements are.
        """
        ...

    def acknowledge(self, destination: Destination, ids: Iterable[NotificationId]) -> None:
        """Remove delivered rows, waiting or dead, whoever holds the mailbox: a success is accepted from any epoch."""
        ...

    def enqueue(
        self,
        destination: Destination,
        rows: tuple[Row, ...],
        *,
        now: EpochMs,
        charged: Callable[[Row], Row] = ...,
    ) -> int:
        """Store rows without a claim; one that is there already stays as it is. Returns how many were new.

        `charged` makes of a row that a dead sender left in the air what is stored of it.
        """
        ...

    def cancel(self, destination: Destination, rows: Iterable[Row]) -> int:
        """Remove waiting rows that nobody wants any more. Returns how many were removed."""
        ...

    def redrive(self, destination: Destination, rows: Iterable[Row], *, now: EpochMs) -> int:
        """Bring dead letters back to their place, with all their attempts. Returns how many were still dead."""
        ...


class Deliveries(Protocol):
    """The delivery log. Every method may raise StoreUnavailableError."""

    def told(self, destination: DestinationId, events: Iterable[Event]) -> dict[str, Told]:
        """What of these events' subjects this destination was told, by subject, read consistently."""
        ...

    def log(self, destination: DestinationId, events: Iterable[Event], now: EpochMs) -> None:
        """Note that the far side acknowledged these events. Twice is once."""
        ...


class Watches(Protocol):
    """Watches by search. Every method may raise StoreUnavailableError."""

    def of(self, search: SearchId) -> list[Watch]:
        """The watches of a search, read consistently."""
        ...

    def get(self, search: SearchId, watch: WatchId) -> Watch | None:
        """One watch, or None when it was removed."""
        ...

    def add(self, query: Query, watch: Watch) -> None:
        """Store a watch and its search, new or known. Raises ConflictError when its id is there already."""
        ...

    def remove(self, watch: Watch) -> bool:
        """Delete a watch. Says whether it was still there."""
        ...

    def set_paused(self, watch: Watch, reason: str) -> bool:
        """Pause with a reason, or resume with an empty one. Says whether the watch was still there."""
        ...

    def count_missed(self, watch: Watch, found: tuple[EpochMs, ...]) -> None:
        """Count what was found while the watch was paused; counting the same finds again changes nothing."""
        ...
