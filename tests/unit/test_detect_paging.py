"""How far a search is read, and when something must be wrong."""

from itertools import pairwise

import pytest

from lago.domain.ad import Page
from lago.domain.detect import detect
from lago.domain.ids import EpochMs, Milliseconds, SearchId
from lago.domain.paging import Reading, check_total, fingerprint, is_full_due, is_unchanged, page_is_known, read_pages
from lago.domain.query import Query
from lago.domain.search import Cursor
from lago.errors import SearchError
from tests.fakes.market import MINUTE, START, WILLHABEN, Market, a_page, an_ad

QUERY = Query(source=WILLHABEN, path="/")


def remember(*pages: Page) -> Cursor:
    return detect(pages, None, {}, now=START, window_size=100, room=100).cursor


def read(
    market: Market, cursor: Cursor | None, *, max_pages: int = 2, hard_pages: int = 10, full: bool = False
) -> Reading:
    market.fetched.clear()
    return read_pages(
        lambda number: market.fetch(QUERY, number), cursor, max_pages=max_pages, hard_pages=hard_pages, full=full
    )


def a_market(size: int = 30) -> Market:
    return Market(*(an_ad(number) for number in range(1, size + 1)), rows=5)


def a_known_market(size: int = 30) -> tuple[Market, Cursor]:
    market = a_market(size)
    return market, remember(*read(market, None).pages)


def publish(market: Market, count: int) -> None:
    market.publish(*(an_ad(1_000 + number, published=START + number) for number in range(1, count + 1)))


# where reading ends


def test_the_baseline_is_read_up_to_the_page_limit() -> None:
    market = a_market()

    reading = read(market, None)

    assert market.fetched == [1, 2]
    assert not reading.gap


def test_an_unchanged_first_page_ends_the_read() -> None:
    market, cursor = a_known_market()

    assert read(market, cursor).unchanged
    assert market.fetched == [1]


def test_a_full_read_goes_past_an_unchanged_first_page() -> None:
    market, cursor = a_known_market()

    assert not read(market, cursor, full=True).unchanged
    assert market.fetched == [1, 2]


def test_a_page_of_known_ads_ends_the_read() -> None:
    market, cursor = a_known_market()
    market.remove(30)

    assert not read(market, cursor).unchanged
    assert market.fetched == [1]


def test_one_new_ad_makes_the_next_page_worth_reading() -> None:
    market, cursor = a_known_market()
    publish(market, 1)

    read(market, cursor)

    assert market.fetched == [1, 2]


def test_a_bumped_ad_does_not_end_the_read() -> None:
    market, cursor = a_known_market()
    market.change(27, published=EpochMs(START + 1))

    read(market, cursor, max_pages=3)

    assert market.fetched == [1, 2]


def test_a_short_page_ends_the_read() -> None:
    market = a_market(3)

    read(market, None)

    assert market.fetched == [1]


def test_an_empty_page_ends_the_read() -> None:
    market = a_market(5)

    assert [len(page.ads) for page in read(market, None, max_pages=5).pages] == [5, 0]


def test_an_empty_first_page_is_a_read_without_ads() -> None:
    assert [page.ads for page in read(Market(), None).pages] == [()]


def test_a_repeated_page_ends_the_read() -> None:
    page = a_page(an_ad(2), an_ad(1), rows=2)

    assert len(read_pages(lambda _: page, None, max_pages=5, hard_pages=10, full=False).pages) == 2


def test_ads_on_their_own_places_do_not_repeat_their_promoted_copies() -> None:
    pages = [
        a_page(an_ad(1, promoted=True), an_ad(4), an_ad(3), rows=2),
        a_page(an_ad(1, promoted=True), an_ad(2), an_ad(1), rows=2, number=2),
        a_page(rows=2, number=3),
    ]

    assert len(read_pages(lambda number: pages[number - 1], None, max_pages=3, hard_pages=3, full=False).pages) == 3


# promoted ads


def test_promoted_ads_take_no_part_in_ending_a_read() -> None:
    known, unknown = an_ad(1), an_ad(2, promoted=True)
    cursor = remember(a_page(known))

    assert page_is_known(a_page(unknown, known), cursor)
    assert not page_is_known(a_page(an_ad(1, promoted=True)), cursor)


def test_one_unknown_organic_ad_keeps_a_page_from_being_known() -> None:
    cursor = remember(a_page(an_ad(2), an_ad(1)))

    assert page_is_known(a_page(an_ad(2), an_ad(1)), cursor)
    assert not page_is_known(a_page(an_ad(2), an_ad(1), an_ad(3)), cursor)


def test_an_old_promoted_ad_leaves_a_page_unchanged_and_a_new_one_does_not() -> None:
    cursor = remember(a_page(an_ad(50)))

    assert is_unchanged(a_page(an_ad(1, promoted=True), an_ad(50)), cursor)
    assert not is_unchanged(a_page(an_ad(60, published=START + 1, promoted=True), an_ad(50)), cursor)
    assert not is_unchanged(a_page(an_ad(50, price=1, promoted=True), an_ad(50)), cursor)


def test_the_fingerprint_tells_order_and_prices_apart_and_ignores_the_rest() -> None:
    page = a_page(an_ad(2), an_ad(1))

    assert fingerprint(page) != fingerprint(a_page(an_ad(1), an_ad(2)))
    assert fingerprint(page) != fingerprint(a_page(an_ad(2), an_ad(1, price=99)))
    assert fingerprint(page) != fingerprint(a_page(an_ad(2), an_ad(1, price=None)))
    assert fingerprint(page) == fingerprint(a_page(an_ad(9, promoted=True), an_ad(2, title="?"), an_ad(1), total=3))


# catching up


def test_a_busy_hour_is_caught_up_until_known_ads_come() -> None:
    market, cursor = a_known_market()
    publish(market, 17)

    reading = read(market, cursor)

    assert market.fetched == [1, 2, 3, 4]
    assert not reading.gap


def test_what_exceeds_the_hard_limit_is_a_gap() -> None:
    market, cursor = a_known_market()
    publish(market, 40)

    reading = read(market, cursor, hard_pages=4)

    assert market.fetched == [1, 2, 3, 4]
    assert reading.gap


def test_catching_up_ends_with_the_time_and_says_that_something_may_be_missing() -> None:
    market, cursor = a_known_market()
    publish(market, 17)

    reading = read_pages(
        lambda number: market.fetch(QUERY, number),
        cursor,
        max_pages=2,
        hard_pages=10,
        full=False,
        in_time=lambda: False,
    )

    assert len(reading.pages) == 2
    assert reading.gap


# something is wrong


def test_a_page_of_which_nothing_can_be_read_is_an_error_and_no_empty_page() -> None:
    with pytest.raises(SearchError, match="none of the 30 entries"):
        read_pages(lambda _: a_page(listed=30), None, max_pages=2, hard_pages=10, full=False)


@pytest.mark.parametrize(("before", "now"), [(50, 501), (20, 221), (300, 3_001), (3, 2_001), (0, 12_000_000)])
def test_ten_times_the_matches_of_nothing_known_is_an_ignored_filter(before: int, now: int) -> None:
    cursor = remember(a_page(an_ad(1), total=before))

    with pytest.raises(SearchError, match="the filter seems to be ignored"):
        check_total(a_page(an_ad(2), total=now), cursor)


@pytest.mark.parametrize(("before", "now"), [(50, 500), (20, 220), (0, 300), (3, 2_000), (None, 9_999), (9, None)])
def test_a_search_may_grow(before: int | None, now: int | None) -> None:
    check_total(a_page(an_ad(2), total=now), remember(a_page(an_ad(1), total=before)))


def test_a_jump_with_a_known_ad_on_the_page_is_growth() -> None:
    check_total(a_page(an_ad(2), an_ad(1), total=9_999), remember(a_page(an_ad(1), total=50)))


# the full read


def test_a_full_read_comes_once_in_each_interval_whatever_the_rhythm_of_cycles() -> None:
    every = Milliseconds(15 * MINUTE)

    for search in ("0.a", "0.b", "0.c"):
        starts = [EpochMs(START + minute * MINUTE) for minute in range(61)]
        full = [is_full_due(SearchId(search), before, now, every) for before, now in pairwise(starts)]
        assert sum(full) == 4


def test_searches_do_not_all_read_in_full_at_once() -> None:
    now, before = EpochMs(START + MINUTE), START

    due = [is_full_due(SearchId(f"0.{number}"), before, now, Milliseconds(15 * MINUTE)) for number in range(150)]

    assert 1 < sum(due) < 30


def test_the_first_cycle_and_one_after_a_long_pause_read_in_full() -> None:
    every = Milliseconds(15 * MINUTE)

    assert is_full_due(SearchId("0.a"), None, START, every)
    assert is_full_due(SearchId("0.a"), START, EpochMs(START + 16 * MINUTE), every)
