"""Read one search, detect what is new, commit it."""

import logging
from collections.abc import Callable, Mapping

from msgspec import Struct

from lago.domain.ad import Ad
from lago.domain.backoff import SOURCE, Backoff
from lago.domain.compact import watch_live
from lago.domain.detect import Detection, detect, distinct, unsure
from lago.domain.event import PENDING_EVENTS, WatchLive
from lago.domain.ids import AdId, Clock, EpochMs, Milliseconds, SourceName
from lago.domain.paging import Reading, is_full_due, read_pages
from lago.domain.search import Search
from lago.errors import ConflictError, SearchError, SourceBlockedError, SourceError
from lago.ports import Cycle, Searches
from lago.scrape_report import End, Result
from lago.source_health import SourceHealth, search_health
from lago.sources.base import Source

logger = logging.getLogger(__name__)


class ScrapeSettings(Struct, frozen=True, kw_only=True):
    """How a cycle reads. Times in ms.

    `window` ads are remembered per search beyond what is on its pages: it must exceed `max_pages` pages, and every
    stored ad makes each write dearer. `lease` must outlast the function's own time-out.
    """

    max_pages: int = 2
    hard_pages: int = 10
    full_every: Milliseconds = Milliseconds(900_000)
    window: int = 100
    asks: int = 10
    """Ads' own pages read per search and cycle."""
    threads: int = 2
    budget: Milliseconds = Milliseconds(45_000)
    """After this much time no search is begun, no catch-up and no asking goes on."""
    lease: Milliseconds = Milliseconds(90_000)
    hand_over_after: Milliseconds = Milliseconds(60_000)
    backoff: Backoff = SOURCE


class SearchReader:
    """Reads searches of one cycle; used by several threads at a time."""

    def __init__(
        self,
        *,
        searches: Searches,
        sources: Mapping[SourceName, Source],
        health: SourceHealth,
        settings: ScrapeSettings,
        cycle: Cycle,
        clock: Clock,
        random: Callable[[], float],
    ) -> None:
        """The collaborators of `lago.scrape.scrape_shard`."""
        self._searches, self._sources, self._health = searches, sources, health
        self._settings, self._cycle, self._clock, self._random = settings, cycle, clock, random

    def in_time(self) -> bool:
        """Whether the cycle's time is not used up."""
        return self._clock() - self._cycle.started < self._settings.budget

    def read(self, search: Search) -> Result:
        """Read the search and commit what it found, in one write or none.

        An error of the source rests the source, one of the search the search; nothing is concluded about ads then.
        Raises StoreUnavailableError.
        """
        try:
            return self._read(search)
        except SearchError as error:
            self._health.answered(search.query.source)
            worse = search_health(
                search.health,
                error.reason,
                policy=self._settings.backoff,
                now=self._clock(),
                random=self._random,
            )
            self._searches.set_health(search.id, worse)
            return Result(end=End.SEARCH, search=search.id, note=worse.reason)
        except SourceError as error:
            self._health.failed(search.query.source, error)
            return Result(end=End.SOURCE, search=search.id, note=error.reason)

    def _read(self, search: Search) -> Result:
        source = self._sources.get(search.query.source)
        if source is None:
            raise SearchError(f"there is no source named {search.query.source}")
        began = self._clock()
        reading = read_pages(
            lambda number: source.fetch(search.query, number),
            search.cursor,
            max_pages=self._settings.max_pages,
            hard_pages=self._settings.hard_pages,
            full=self._is_full(search),
            in_time=self.in_time,
        )
        self._health.answered(source.name)
        if reading.unchanged and not search.awaiting:
            return self._unchanged(search, reading)
        room = PENDING_EVENTS - len(search.outbox)
        detection = detect(
            reading.pages,
            search.cursor,
            self._ask(source, unsure(reading.pages, search.cursor)),
            now=began,
            window_size=self._settings.window,
            room=room,
            gap=reading.gap,
        )
        live = _watches_live(search, reading, room - len(detection.events), began)
        if not detection.changed and not live:
            return self._unchanged(search, reading)
        return self._commit(search, reading, detection, live)

    def _is_full(self, search: Search) -> bool:
        """In full every `full_every`, and after a failure: much may have happened meanwhile."""
        if search.health is not None or self._health.recovers(search.query.source):
            return True
        return is_full_due(search.id, self._cycle.previous, self._cycle.started, self._settings.full_every)

    def _ask(self, source: Source, ads: tuple[Ad, ...]) -> dict[AdId, EpochMs | None]:
        """First publication dates by the ads' own pages; an ad that is not asked now is asked in the next cycle."""
        answers: dict[AdId, EpochMs | None] = {}
        for ad in ads[: self._settings.asks]:
            if answers and not self.in_time():
                break
            try:
                answers[ad.id] = source.first_published(ad.id, ad.url)
            except SourceBlockedError as error:
                self._health.failed(source.name, error)
                break
            except SearchError as error:
                logger.warning("an ad's page is not understood", extra={"ad": ad.id, "reason": error.reason})
                answers[ad.id] = None
            except SourceError as error:
                # One ad's page that fails for ever must not hold the ad back for ever: unreadable means new.
                logger.warning("an ad's page is unreadable", extra={"ad": ad.id, "reason": error.reason})
                answers[ad.id] = None
                break
        return answers

    def _unchanged(self, search: Search, reading: Reading) -> Result:
        if search.health is not None:
            self._searches.set_health(search.id, None)
        return Result(end=End.UNCHANGED, search=search.id, pages=len(reading.pages))

    def _commit(self, search: Search, reading: Reading, detection: Detection, live: tuple[WatchLive, ...]) -> Result:
        try:
            self._searches.commit(
                search,
                cursor=detection.cursor,
                events=(*detection.events, *live),
                announced=frozenset(event.watch for event in live),
                now=self._clock(),
            )
        except ConflictError:
            return Result(
                end=End.CONFLICT, search=search.id, pages=len(reading.pages), note="another commit came first"
            )
        new_ads = sum(event.kind == "new_ad" for event in detection.events)
        price_drops = len(detection.events) - new_ads
        return Result(
            end=End.COMMITTED,
            search=search.id,
            pages=len(reading.pages),
            new_ads=new_ads,
            price_drops=price_drops,
            live=len(live),
            waiting=detection.waiting,
            note=_note(new_ads, price_drops, len(live), detection.waiting, gap=reading.gap),
        )


def _watches_live(search: Search, reading: Reading, room: int, found: EpochMs) -> tuple[WatchLive, ...]:
    """One event for each watch that awaits its baseline, as far as there is room."""
    total = reading.pages[0].total
    ads = distinct(reading.pages)
    organic = [ad for ad in ads if not ad.promoted]
    return tuple(
        watch_live(watch, total=len(ads) if total is None else total, ads=organic, found=found)
        for watch in sorted(search.awaiting)[: max(0, room)]
    )


def _note(new_ads: int, price_drops: int, live: int, waiting: int, *, gap: bool) -> str:
    counts = ((new_ads, "new"), (price_drops, "cheaper"), (live, "live"), (waiting, "waiting"))
    parts = [f"{count} {word}" for count, word in counts if count]
    return ", ".join(parts + ["some may be missing"] * gap)
