"""The figures of `/stats` and `lago stats`. Names and units are part of the interface: see docs/operations.md."""

from datetime import UTC, datetime

from msgspec import Struct

from lago.domain.event import PENDING_EVENTS
from lago.domain.ids import Clock, EpochMs, SourceName
from lago.domain.mailbox import HOUR_MS, HOURS_KEPT
from lago.domain.search import Search
from lago.ports import Mailboxes
from lago.store.searches import CycleRecord, CycleStore, SearchStore, SourceStore


class QueueCounts(Struct, frozen=True, kw_only=True):
    """Exact numbers of notifications, in all and by channel."""

    total: int
    by_channel: dict[str, int]


class SourceStats(Struct, frozen=True, kw_only=True):
    """How a marketplace does. Times are ISO 8601 in UTC, None where they do not apply."""

    healthy: bool
    reason: str | None
    failures: int
    since: str | None
    retry_at: str | None


class CycleStats(Struct, frozen=True, kw_only=True):
    """The last cycle of a shard. `interval_seconds` is what was really achieved between the starts of the last two."""

    shard: int
    started: str
    finished: str | None
    interval_seconds: float | None


class FailingSearch(Struct, frozen=True, kw_only=True):
    """A search that cannot be read now, that has a gap, or whose outbox is full."""

    search: str
    reason: str
    retry_at: str | None


class DisabledDestination(Struct, frozen=True, kw_only=True):
    """A destination that refuses messages."""

    destination: str
    reason: str


class Stats(Struct, frozen=True, kw_only=True):
    """All figures at one moment. Of what is pending, `pending_due` is in mailboxes that are due now."""

    at: str
    pending: QueueCounts
    pending_due: int
    pending_later: int
    dead: QueueCounts
    oldest_due_age_seconds: float
    delivered_24h: int
    searches: int
    watches: int
    sources: dict[str, SourceStats]
    failing_searches: list[FailingSearch]
    disabled_destinations: list[DisabledDestination]
    cycles: list[CycleStats]


def read_stats(
    *,
    mailboxes: Mailboxes,
    searches: SearchStore,
    sources: SourceStore,
    cycles: CycleStore,
    search_shards: int,
    clock: Clock,
) -> Stats:
    """Read them all. Grows with searches and destinations, never with notifications. Raises StoreUnavailableError."""
    now = clock()
    counts = mailboxes.counts()
    found = [search for shard in range(search_shards) for search in searches.in_shard(shard)]
    due = [box.due_at for shard in range(mailboxes.shards) for box in mailboxes.due(shard, now, 1)]
    heads = [head for name in mailboxes.destinations() if (head := mailboxes.head(name)) is not None]
    day_ago = now // HOUR_MS - HOURS_KEPT
    pending = _counts({channel: count.pending for channel, count in counts.items()})
    pending_due = sum(head.waiting for head in heads if head.due_at is not None and head.due_at <= now)
    return Stats(
        at=_iso(now),
        pending=pending,
        pending_due=pending_due,
        pending_later=pending.total - pending_due,
        dead=_counts({channel: count.dead for channel, count in counts.items()}),
        oldest_due_age_seconds=max((now - at for at in due), default=0) / 1000,
        delivered_24h=sum(n for head in heads for hour, n in head.delivered.items() if int(hour) > day_ago),
        searches=len(found),
        watches=sum(search.watches for search in found),
        sources={name: _source(sources, name) for name in sorted({search.query.source for search in found})},
        failing_searches=[failing for search in found if (failing := _failing(search)) is not None],
        disabled_destinations=[
            DisabledDestination(destination=head.destination.id, reason=head.destination.disabled)
            for head in heads
            if head.destination.disabled
        ],
        cycles=[_cycle(shard, record) for shard, record in sorted(cycles.last().items())],
    )


def _counts(by_channel: dict[str, int]) -> QueueCounts:
    return QueueCounts(total=sum(by_channel.values()), by_channel=by_channel)


def _source(sources: SourceStore, name: SourceName) -> SourceStats:
    health = sources.health(name)
    if health is None:
        return SourceStats(healthy=True, reason=None, failures=0, since=None, retry_at=None)
    return SourceStats(
        healthy=False,
        reason=health.reason,
        failures=health.failures,
        since=_iso(health.since),
        retry_at=_iso(health.retry_at),
    )


def _failing(search: Search) -> FailingSearch | None:
    if search.health is not None:
        return FailingSearch(search=search.id, reason=search.health.reason, retry_at=_iso(search.health.retry_at))
    if len(search.outbox) >= PENDING_EVENTS:
        return FailingSearch(search=search.id, reason="its outbox is full: nothing more is read", retry_at=None)
    if search.cursor is not None and search.cursor.gap:
        return FailingSearch(search=search.id, reason="ads came faster than they could be read", retry_at=None)
    return None


def _cycle(shard: int, last: CycleRecord) -> CycleStats:
    return CycleStats(
        shard=shard,
        started=_iso(last.started),
        finished=None if last.finished is None else _iso(last.finished),
        interval_seconds=None if last.previous is None else (last.started - last.previous) / 1000,
    )


def _iso(at: EpochMs) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")
