"""The traps of the fact sheet that lie in a page, and that no error is ever an empty result."""

from typing import Any

import pytest

from lago.domain.ad import Page
from lago.domain.ids import AdId
from lago.domain.query import Query
from lago.errors import SearchError, SourceBlockedError
from lago.sources.willhaben import query_from_keyword
from lago.sources.willhaben.address import NAME, parse_url
from lago.sources.willhaben.page import read_first_published, read_page
from tests.willhaben_pages import (
    SAMPLES,
    details,
    html,
    page_of,
    plain,
    result,
    sample_ad,
    sample_page,
)

QUERY = Query(source=NAME, path="/iad/kaufen-und-verkaufen/marktplatz", params=(("keyword", "rennrad"),))


def read(content: bytes, query: Query = QUERY, number: int = 1) -> Page:
    return read_page(content, query, number)


# Trap 3: promoted ads appear twice and ignore the order.


def test_a_promoted_ad_listed_twice_is_read_once_and_takes_no_part_in_the_order() -> None:
    page = read(sample_page("page1_before"))

    assert [ad.id for ad in page.ads] == ["910000005", "920000001", "920000002", "920000003", "920000004"]
    assert [ad.id for ad in page.organic] == ["920000001", "920000002", "920000003", "920000004"]
    assert (page.listed, page.rows, page.total, page.skipped) == (6, 5, 12, 0)


def test_the_place_in_order_counts_where_only_the_upper_one_is_flagged() -> None:
    top = plain(1, RESULT_LIST_TOPAD="topad_result")

    page = read(page_of(top, plain(2), plain(1)))

    assert [(ad.id, ad.promoted) for ad in page.ads] == [("2", False), ("1", False)]


@pytest.mark.parametrize(
    "broken",
    [
        {"description": "no id"},
        {"id": None},
        {"id": "../../x"},
        {"id": ""},
        {"id": "9" * 20},
        {"id": [1]},
        {"id": 5, "attributes": "none"},
        {"id": 5, "attributes": {"attribute": [{"values": ["nameless"]}]}},
        "an ad",
        None,
        7,
    ],
)
def test_one_bad_ad_is_counted_and_costs_its_neighbours_nothing(broken: object) -> None:
    page = read(page_of(plain(1), broken, plain(2)))

    assert [ad.id for ad in page.ads] == ["1", "2"]
    assert (page.skipped, page.listed) == (1, 3)


def test_a_title_cut_inside_an_emoji_costs_nothing_at_all() -> None:
    content = page_of(plain(1), plain(2)).replace(b"Holzregal", rb"Rad \ud83d", 1)

    page = read(content)

    assert [ad.id for ad in page.ads] == ["1", "2"]
    assert page.ads[0].title == "Rad \ufffd Fichte 180 cm"


def test_whole_pairs_and_escaped_backslashes_survive_the_repair() -> None:
    content = page_of(plain(1), plain(2))
    content = content.replace(b"Holzregal", rb"\ud83d\ude00 \\ud83d", 1).replace(b"Holzregal", b"\xff \\udc00", 2)

    titles = [ad.title for ad in read(content).ads]

    assert titles == ["\U0001f600 \\ud83d Fichte 180 cm", "\ufffd \ufffd Fichte 180 cm"]


def test_a_title_cannot_end_the_script_it_stands_in() -> None:
    page = read(page_of(sample_ad("plain_private", description="</script><script id='__NEXT_DATA__'>{}</script>")))

    assert page.ads[0].title.startswith("</script>")


# Trap 10: rows above 200 are capped silently.


def test_the_page_size_is_the_servers() -> None:
    assert read(page_of(plain(), rowsRequested=200)).rows == 200


@pytest.mark.parametrize("strange", [None, "12", -1, True, 1.5, [], 10**30])
def test_strange_counts_cost_nothing(strange: object) -> None:
    page = read(page_of(plain(1), plain(2), rowsFound=strange, rowsRequested=strange))

    assert page.rows in (2, 10**30)


# Trap 11: an ignored category.

CATEGORY = parse_url("https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz/fahrraeder-4525")


def test_an_ignored_category_is_an_error_not_a_flood() -> None:
    content = page_of(*(plain(n) for n in range(1, 7)), heading="Alle Anzeigen")

    with pytest.raises(SearchError, match="the category was ignored"):
        read(content, CATEGORY)


def test_no_false_alarm_while_anything_speaks_for_the_category() -> None:
    foreign = [plain(n) for n in range(1, 7)]
    own = plain(9, categorytreeids="4390;4525;4530")

    assert read(page_of(*foreign, own, heading="Alle Anzeigen"), CATEGORY).ads
    assert read(page_of(*foreign, heading="Fahrräder"), CATEGORY).ads
    assert read(page_of(*foreign[:4], heading="Alle Anzeigen"), CATEGORY).ads
    assert read(page_of(*(plain(n, categorytreeids=None) for n in range(6)), heading="Alle Anzeigen"), CATEGORY).ads
    assert read(page_of(*foreign, heading=None), CATEGORY).ads


def test_an_ignored_price_filter_is_an_error() -> None:
    query = query_from_keyword("regal", price_to=100)
    dear, cheap = [plain(n, PRICE="120") for n in range(1, 4)], [plain(n, PRICE="100") for n in range(4, 7)]

    with pytest.raises(SearchError, match="price filter was ignored"):
        read(page_of(*dear, *cheap[:2]), query)
    assert read(page_of(*dear, *cheap), query).ads
    assert read(page_of(*dear), query).ads
    assert read(page_of(*dear, *cheap[:2]), query_from_keyword("regal", price_from=100, price_to=120)).ads


def test_an_ignored_seller_filter_is_an_error() -> None:
    dealers = [plain(n, ISPRIVATE="0") for n in range(1, 6)]

    with pytest.raises(SearchError, match="seller filter was ignored"):
        read(page_of(*dealers), query_from_keyword("regal", seller="private"))
    assert read(page_of(*dealers), query_from_keyword("regal", seller="dealer")).ads
    assert read(page_of(*dealers), query_from_keyword("regal")).ads


def test_promoted_ads_prove_nothing_about_a_filter() -> None:
    promoted = [plain(n, ISPRIVATE="0", RESULT_LIST_TOPAD="topad_result") for n in range(1, 9)]

    assert read(page_of(*promoted, plain(9)), query_from_keyword("regal", price_to=100, seller="private")).ads


# Trap 12: a removed ad answers 200 with a result list.


def test_a_removed_ad_tells_no_first_publication() -> None:
    assert read_first_published(sample_page("removed_ad_page_soft_404"), AdId("920000009")) is None


def test_the_first_publication_is_read_with_its_offset_without_colon() -> None:
    content = html(details("910000006", firstPublishedDate="2026-01-29T16:59:00+0100"))

    assert read_first_published(content, AdId("910000006")) == 1769702340000


@pytest.mark.parametrize("fields", [{}, {"firstPublishedDate": None}, {"firstPublishedDate": "bald"}])
def test_an_ad_page_without_a_date_tells_nothing(fields: dict[str, Any]) -> None:
    assert read_first_published(html(details("1", **fields)), AdId("1")) is None


def test_the_page_of_another_ad_tells_nothing() -> None:
    assert read_first_published(html(details("2", firstPublishedDate="2026-01-29T16:59:00+0100")), AdId("1")) is None


def test_an_ad_page_that_is_a_wall_is_a_block() -> None:
    with pytest.raises(SourceBlockedError):
        read_first_published(SAMPLES["error_bodies"]["challenge_200_html"].encode(), AdId("1"))


# An error is never an empty result.


def test_nothing_found_is_an_empty_page() -> None:
    page = read(sample_page("empty_result"))

    assert (page.ads, page.total, page.listed) == ((), 0, 0)


@pytest.mark.parametrize(
    "content",
    [
        SAMPLES["error_bodies"]["no_next_data_200_html"].encode(),
        SAMPLES["error_bodies"]["truncated_next_data"].encode(),
        b"",
        bytes(range(256)) * 8,
        html("{"),
        html("[]"),
        html("{}"),
        html('{"props": {"pageProps": {}}}'),
        html('{"props": {"pageProps": {"searchResult": null}}}'),
        html('{"props": {"pageProps": {"searchResult": {}}}}'),
        html('{"props": {"pageProps": {"searchResult": []}}}'),
        html('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}"),
        html(details("1")),
        page_of(rowsFound=500),
        page_of(rowsFound=None),
        html(result() | {"props": {"pageProps": {"searchResult": {"advertSummaryList": {"advertSummary": "x"}}}}}),
        page_of({"id": None}, {"id": "x"}),
    ],
    ids=lambda content: repr(content[-60:]),
)
def test_a_page_that_is_not_understood_is_an_error_of_this_search(content: bytes) -> None:
    with pytest.raises(SearchError, match="page not understood"):
        read(content)


def test_an_empty_later_page_is_only_the_end() -> None:
    assert read(page_of(rowsFound=500), number=9).ads == ()


@pytest.mark.parametrize("body", ["blocked_403_html", "challenge_200_html"])
def test_a_wall_instead_of_a_page_is_a_block_of_the_source(body: str) -> None:
    with pytest.raises(SourceBlockedError):
        read(SAMPLES["error_bodies"][body].encode())


def test_an_ad_that_talks_of_captchas_is_no_wall() -> None:
    page = read(page_of(sample_ad("plain_private", description="Captcha: verify you are human")))

    assert page.ads[0].title == "Captcha: verify you are human"


def test_another_order_than_newest_first_is_an_error() -> None:
    order = {"contextLink": [{"id": "1", "selected": False}, {"id": "7", "selected": True}]}

    with pytest.raises(SearchError, match="not sorted by newest"):
        read(page_of(plain(), sortOrderList=order))


def dated(*minutes: int) -> bytes:
    """A page whose ads came to the top so many minutes after the first."""
    return page_of(
        *(plain(n, PUBLISHED=str(1_795_885_500_000 + minute * 60_000)) for n, minute in enumerate(minutes)),
        sortOrderList=None,
    )


def test_an_order_that_is_not_told_but_plainly_wrong_is_an_error() -> None:
    with pytest.raises(SearchError, match="not sorted by newest"):
        read(dated(5, 8, 1, 9, 2, 4, 7, 3, 6, 0))


def test_a_few_unmarked_promotions_among_the_newest_are_no_wrong_order() -> None:
    assert read(dated(99, -500, 98, 97, 96, -900, 95, 94, 94, 93)).ads


@pytest.mark.parametrize(
    "order",
    [
        None,
        [],
        {},
        {"contextLink": None},
        {"contextLink": [{"id": "7", "selected": False}]},
        {"contextLink": [{"id": 1, "selected": True}]},
        {"contextLink": [{"id": "published.descending", "selected": True}]},
        "newest",
    ],
)
def test_an_order_that_is_not_told_is_trusted(order: object) -> None:
    assert read(page_of(plain(), sortOrderList=order)).ads
