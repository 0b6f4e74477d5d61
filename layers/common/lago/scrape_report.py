"""What one cycle of a shard did."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from lago.domain.ids import EpochMs, Milliseconds, SearchId, SourceName


class End(StrEnum):
    """How the work on one search ended; the words are counted in the report."""

    UNCHANGED = "unchanged"
    COMMITTED = "committed"
    CONFLICT = "conflicts"
    """Another commit came first: nothing was written, the next cycle finds it again."""
    RESTING = "resting"
    """The source or the search failed and backs off."""
    HELD = "held"
    """The outbox is full: nothing could be committed."""
    LATE = "late"
    """The cycle's time was used up."""
    HANDED_OVER = "handed_over"
    RETIRED = "retired"
    KEPT = "kept"
    """To be retired, but a watch or an event came."""
    SOURCE = "source"
    SEARCH = "search"
    STORE = "store"
    HAND_OVER = "hand_over"
    BUG = "bug"


_ERRORS = (End.SOURCE, End.SEARCH, End.STORE, End.HAND_OVER, End.BUG)


class Result(Struct, frozen=True, kw_only=True):
    """What became of one search. `waiting` counts ads left for the next read, `note` is for people."""

    end: End
    search: SearchId
    pages: int = 0
    new_ads: int = 0
    price_drops: int = 0
    live: int = 0
    waiting: int = 0
    note: str = ""


class ScrapeReport(Struct, frozen=True, kw_only=True):
    """The result of a Scrape invocation.

    `interval_ms` is the time since the cycle before began. `searches` counts all of the shard, `read` those whose pages
    were read and understood. `errors` counts by reason (source, search, store, hand_over, bug). `sources` are those
    that were asked after, `resting_because` those of them that back off now, and why; `gaps` are the searches that had
    more news than could be read. `notes` has a line for each search that had something to tell.
    """

    shard: int
    started: EpochMs
    skipped: bool = False
    """Another cycle of the shard was still running."""
    interval_ms: Milliseconds | None = None
    searches: int = 0
    read: int = 0
    pages: int = 0
    unchanged: int = 0
    committed: int = 0
    conflicts: int = 0
    new_ads: int = 0
    price_drops: int = 0
    live: int = 0
    waiting: int = 0
    resting: int = 0
    held: int = 0
    late: int = 0
    handed_over: int = 0
    retired: int = 0
    errors: dict[str, int] = {}
    sources: tuple[SourceName, ...] = ()
    resting_because: dict[SourceName, str] = {}
    gaps: tuple[SearchId, ...] = ()
    notes: tuple[str, ...] = ()


def with_results(report: ScrapeReport, results: Iterable[Result]) -> ScrapeReport:
    """The report with every search's result counted in."""
    done = tuple(results)
    ends = Counter(result.end for result in done)
    return replace(
        report,
        read=ends[End.UNCHANGED] + ends[End.COMMITTED] + ends[End.CONFLICT],
        pages=sum(result.pages for result in done),
        unchanged=ends[End.UNCHANGED],
        committed=ends[End.COMMITTED],
        conflicts=ends[End.CONFLICT],
        new_ads=sum(result.new_ads for result in done),
        price_drops=sum(result.price_drops for result in done),
        live=sum(result.live for result in done),
        waiting=sum(result.waiting for result in done),
        resting=ends[End.RESTING],
        held=ends[End.HELD],
        late=ends[End.LATE],
        handed_over=ends[End.HANDED_OVER],
        retired=ends[End.RETIRED],
        errors={str(end): ends[end] for end in _ERRORS if ends[end]},
        notes=tuple(f"{result.search}: {result.note}" for result in done if result.note),
    )
