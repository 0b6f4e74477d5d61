"""Scrape: one cycle over one shard of searches."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from lago.correlation import about
from lago.domain.event import PENDING_EVENTS
from lago.domain.ids import Clock, EpochMs, Milliseconds, SearchId, SourceName
from lago.domain.search import Search
from lago.errors import StoreError
from lago.ports import Cycle, Cycles, Searches, Sources
from lago.scrape_report import End, Result, ScrapeReport, with_results
from lago.scrape_search import ScrapeSettings, SearchReader
from lago.source_health import SourceHealth, State, is_due
from lago.sources.base import Source

__all__ = ["ScrapeReport", "ScrapeSettings", "in_turn", "scrape_shard"]

logger = logging.getLogger(__name__)

_GOLDEN = 0.618034
_MINUTE = 60_000


def scrape_shard(
    shard: int,
    *,
    searches: Searches,
    sources: Mapping[SourceName, Source],
    health: Sources,
    cycles: Cycles,
    hand_over: Callable[[SearchId], None],
    settings: ScrapeSettings,
    clock: Clock,
    random: Callable[[], float],
) -> ScrapeReport:
    """Read all due searches of a shard and commit what they found; skip when another cycle still runs.

    `hand_over` wakes Notify for a search whose outbox the stream has left behind. `random` is in [0, 1). What happens
    to one search stops no other. Raises StoreUnavailableError when the shard itself cannot be read.
    """
    started = clock()
    cycle = cycles.begin(shard, started, settings.lease)
    if cycle is None:
        return ScrapeReport(shard=shard, started=started, skipped=True)
    try:
        source_health = SourceHealth(health, settings.backoff, clock, random)
        reader = SearchReader(
            searches=searches,
            sources=sources,
            health=source_health,
            settings=settings,
            cycle=cycle,
            clock=clock,
            random=random,
        )
        found = searches.in_shard(shard)
        results = list(_hand_over_stranded(found, hand_over, started - settings.hand_over_after))
        results += _retire(found, searches)
        results += _read(found, reader, source_health, settings.threads, started)
        report = ScrapeReport(
            shard=shard,
            started=started,
            interval_ms=None if cycle.previous is None else Milliseconds(started - cycle.previous),
            searches=len(found),
            sources=source_health.asked(),
            resting_because=source_health.resting(),
            gaps=tuple(search.id for search in found if search.cursor is not None and search.cursor.gap),
        )
        return with_results(report, results)
    finally:
        _end(cycles, cycle, clock())


def in_turn(searches: Iterable[Search], now: EpochMs) -> list[Search]:
    """The order of reading: those whose new watch waits for its baseline, then the others from a changing start.

    Where the time does not suffice for all, none is always last: ids are digests, and steps of the golden ratio spread
    the starts of successive minutes evenly over them.
    """
    ordered = sorted(searches, key=lambda search: search.id)
    start = int(len(ordered) * (now // _MINUTE * _GOLDEN % 1))
    return sorted(ordered[start:] + ordered[:start], key=lambda search: not search.awaiting)


def _hand_over_stranded(searches: list[Search], hand_over: Callable[[SearchId], None], before: int) -> Iterator[Result]:
    """Wake Notify for old outboxes, whatever the health, pauses or retirement of their searches."""

    def work(search: Search) -> Result:
        hand_over(search.id)
        return Result(end=End.HANDED_OVER, search=search.id)

    for search in searches:
        if search.outbox_id is not None and (search.outbox_since or 0) <= before:
            yield _attempt(work, search, End.HAND_OVER)


def _retire(searches: list[Search], store: Searches) -> Iterator[Result]:
    """Delete searches that nobody watches any more, once their outbox is empty."""

    def work(search: Search) -> Result:
        return Result(end=End.RETIRED if store.retire(search) else End.KEPT, search=search.id)

    for search in searches:
        if search.watches <= 0 and search.outbox_id is None:
            yield _attempt(work, search, End.BUG)


def _read(
    searches: list[Search], reader: SearchReader, health: SourceHealth, threads: int, now: EpochMs
) -> list[Result]:
    """Read what is due, `threads` searches at a time; a source that had failed is tried by one search alone first."""

    def work(search: Search) -> Result:
        if health.state(search.query.source) is State.RESTING:
            return Result(end=End.RESTING, search=search.id)
        if not reader.in_time():
            return Result(end=End.LATE, search=search.id)
        return reader.read(search)

    def attempt(search: Search) -> Result:
        return _attempt(work, search, End.BUG)

    results: list[Result] = []
    open_to_all: list[Search] = []
    for search in in_turn((search for search in searches if search.watches > 0), now):
        if len(search.outbox) >= PENDING_EVENTS:
            results.append(Result(end=End.HELD, search=search.id, note="the outbox is full"))
        elif not is_due(search.health, now):
            results.append(Result(end=End.RESTING, search=search.id))
        elif health.state(search.query.source) is State.PROBING:
            results.append(attempt(search))
        else:
            open_to_all.append(search)
    with ThreadPoolExecutor(max_workers=threads) as pool:
        results += pool.map(attempt, open_to_all)
    return results


def _attempt(work: Callable[[Search], Result], search: Search, unexpected: End) -> Result:
    """The outermost boundary of one search: whatever happens inside is logged and counted, and the others go on."""
    with about(search=search.id):
        try:
            result = work(search)
        except StoreError as error:
            logger.warning("the store failed", extra={"reason": str(error)})
            return Result(end=End.STORE, search=search.id, note="the store failed")
        except Exception:
            logger.exception("an unexpected error")
            return Result(end=unexpected, search=search.id, note="an unexpected error, see the log")
        logger.debug("search done", extra={"end": result.end, "pages": result.pages, "note": result.note})
        return result


def _end(cycles: Cycles, cycle: Cycle, now: EpochMs) -> None:
    try:
        cycles.end(cycle, now)
    except StoreError as error:
        logger.warning("a lease could not be given back and will run out", extra={"reason": str(error)})
