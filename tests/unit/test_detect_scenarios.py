"""The scenarios of the recorded pages (tests/samples/willhaben.json), from page to message."""

import pytest
from msgspec.structs import replace

from lago.domain.ad import Page
from lago.domain.event import AdEvent
from lago.domain.ids import AdId, EpochMs, Milliseconds, SearchId
from lago.domain.query import Query
from lago.domain.search import Search
from lago.errors import SearchError, SourceBlockedError
from lago.scrape import ScrapeReport, ScrapeSettings, scrape_shard
from tests.fakes.market import WILLHABEN, Market, a_page, an_ad
from tests.fakes.searches import FakeCycles, FakeSearches, FakeSources

BASELINE_AT = EpochMs(1_795_896_000_000)
TOP = an_ad(910_000_005, price=49_900, published=1_788_242_400_000, promoted=True)
FILLERS = [
    an_ad(920_000_000 + n, price=100 * (10 + n), published=1_795_895_400_000 - (n - 1) * 600_000) for n in range(1, 9)
]
INSERTED = an_ad(920_000_099, price=10_900, published=1_795_897_800_000)

PAGE1_BEFORE = a_page(TOP, *FILLERS[:4], TOP, rows=5, total=12)
PAGE1_AFTER = a_page(TOP, INSERTED, *FILLERS[:3], rows=5, total=13)
PAGE2_AFTER = a_page(*FILLERS[3:8], number=2, rows=5, total=13)


class Recorded(Market):
    """Answers with the given pages; what lies beyond them is an empty page."""

    pages: tuple[Page, ...] = ()

    def page(self, number: int) -> Page:
        return self.pages[number - 1] if number <= len(self.pages) else a_page(number=number, rows=5)


class Story:
    def __init__(self) -> None:
        self.market = Recorded()
        search = Search(id=SearchId("0.a"), query=Query(source=WILLHABEN, path="/"), version=0, watches=1)
        self.searches, self.health, self.cycles = FakeSearches(search), FakeSources(), FakeCycles()
        self.now = BASELINE_AT

    def feed(self, *pages: Page, error: Exception | None = None) -> ScrapeReport:
        self.market.pages = pages
        self.market.errors = [error] if error else []
        self.market.fetched.clear()
        report = scrape_shard(
            0,
            searches=self.searches,
            sources={WILLHABEN: self.market},
            health=self.health,
            cycles=self.cycles,
            hand_over=lambda search: None,
            settings=ScrapeSettings(threads=1, full_every=Milliseconds(10**15)),
            clock=lambda: self.now,
            random=lambda: 0.5,
        )
        self.now = EpochMs(self.now + 7_200_000)
        return report

    @property
    def search(self) -> Search:
        found = self.searches.get(SearchId("0.a"))
        assert found is not None
        return found

    def known(self) -> list[AdId]:
        assert self.search.cursor is not None
        return sorted(ad.id for ad in self.search.cursor.window)

    def told(self) -> list[tuple[str, str, int | None, int | None]]:
        return [(e.kind, e.ad, e.old_price, e.price) for e in self.search.outbox if isinstance(e, AdEvent)]


def test_first_run_baseline_stores_five_ids_and_tells_nothing() -> None:
    story = Story()

    story.feed(PAGE1_BEFORE)

    assert story.told() == []
    assert story.known() == ["910000005", "920000001", "920000002", "920000003", "920000004"]


def test_one_new_ad_is_exactly_one_message() -> None:
    story = Story()
    story.feed(PAGE1_BEFORE)

    story.feed(PAGE1_AFTER)

    assert story.told() == [("new_ad", "920000099", None, 10_900)]


def test_early_stop_is_not_fooled_by_the_old_top_ad() -> None:
    story = Story()
    story.feed(PAGE1_BEFORE)

    story.feed(PAGE1_AFTER, PAGE2_AFTER)

    assert story.told() == [("new_ad", "920000099", None, 10_900)]
    assert story.market.fetched == [1, 2]
    assert "920000008" in story.known()


@pytest.mark.parametrize("error", [SearchError("no data in the page"), SourceBlockedError("a challenge page")])
def test_an_error_is_not_empty_and_the_only_real_zero_is_an_empty_result(error: Exception) -> None:
    story = Story()
    story.feed(PAGE1_BEFORE)
    before = story.search.cursor

    failed = story.feed(error=error)
    assert story.search.cursor == before
    assert sum(failed.errors.values()) == 1

    empty = story.feed(a_page(total=0))
    assert (empty.read, empty.committed, empty.errors) == (1, 0, {})
    assert story.known() == ["910000005", "920000001", "920000002", "920000003", "920000004"]


def test_a_bump_then_a_drop_is_one_price_drop_and_nothing_new() -> None:
    story = Story()
    ad = an_ad(910_000_006, price=65_000, published=1_795_806_000_000)
    bumped = replace(ad, published=EpochMs(1_795_892_400_000), bumped=True)
    story.feed(a_page(ad))

    story.feed(a_page(bumped))
    assert story.told() == []

    story.feed(a_page(replace(bumped, price=59_000)))
    assert story.told() == [("price_drop", "910000006", 65_000, 59_000)]


def test_a_removed_ad_is_silent_and_not_new_when_it_comes_back() -> None:
    story = Story()
    story.feed(PAGE1_BEFORE)

    story.feed(a_page(*FILLERS[1:4], rows=5))
    story.feed(PAGE1_BEFORE)

    assert story.told() == []
