"""Pages have the field shapes of the real ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from simulator import pages, vienna
from simulator.ads import Ad
from simulator.catalogue import WIEN_7
from simulator.clock import Clock
from simulator.market import Market
from simulator.searching import SearchRequest, parse
from tests.simulator.serving import MARKET, NOON, page_props

SAMPLES = json.loads((Path(__file__).parents[1] / "samples" / "willhaben.json").read_text(encoding="utf-8"))
JULY = 1_784_109_630_000
"""2026-07-15 10:00:30 UTC, summer time."""


def first_page() -> SearchRequest:
    request = parse(MARKET, "sort=1&rows=5")
    assert request is not None
    return request


def ad(**given: Any) -> Ad:
    fields = {"title": "Holzregal", "cents": 12_000, "published": NOON, "first_published": NOON, "changed": NOON}
    defaults: dict[str, Any] = {"id": "910000001", "body": "Fichte", "place": WIEN_7, "categories": ("5824", "5878")}
    return Ad(**(defaults | fields | given))


def attributes(ad: Ad) -> dict[str, list[str]]:
    return {str(one["name"]): one["values"] for one in pages.attributes(ad)}  # type: ignore[misc]


@pytest.mark.parametrize(
    ("sample", "made"),
    [
        ("plain_private", ad(images=("1/a.jpg",))),
        ("dealer_special_chars_summer_time", ad(private=False, seller="Huber", images=("1/a.jpg",))),
        ("no_price_no_seo_no_image", ad(cents=None, seo=False)),
        ("promoted_top_old_appears_twice", ad(private=False, seller="Huber", promoted=True, images=("1/a.jpg",))),
        ("bumped_known_id", ad(bumped=True, images=("1/a.jpg",))),
    ],
)
def test_a_summary_has_the_fields_and_types_of_the_sample(sample: str, made: Ad) -> None:
    real, ours = SAMPLES["ads"][sample], json.loads(json.dumps(pages.advert_summary(made)))

    assert list(ours) == list(real)
    assert {name: type(value) for name, value in ours.items()} == {name: type(value) for name, value in real.items()}
    assert ours["advertStatus"] == real["advertStatus"]
    assert ours["productId"] == real["productId"]
    assert ours["advertiserInfo"] == real["advertiserInfo"]
    names = {one["name"] for one in real["attributes"]["attribute"]}
    assert names - {"BODY_DYN", "MMO", "ALL_IMAGE_URLS"} <= set(attributes(made))
    for shape in ("advertImageList", "contextLinkList"):
        assert set(ours[shape]) == set(real[shape])
    for one, other in zip(ours["advertImageList"]["advertImage"], real["advertImageList"]["advertImage"], strict=False):
        assert list(one) == list(other)


def test_a_result_has_the_fields_and_types_of_the_sample() -> None:
    real = SAMPLES["next_data_pages"]["page1_before"]["props"]["pageProps"]["searchResult"]
    market = Market(1, Clock(stopped=NOON), 10)
    request = first_page()

    ours = pages.search_result(market.search(request), NOON)

    assert set(ours) == set(real)
    assert {name: type(value) for name, value in ours.items()} == {name: type(value) for name, value in real.items()}
    assert [link["id"] for link in ours["sortOrderList"]["contextLink"] if link["selected"]] == ["1"]  # type: ignore[index]


def test_no_match_is_a_null_list_and_a_zero() -> None:
    empty = pages.search_result(Market(1, Clock(stopped=NOON), 0).search(first_page()), NOON)

    assert (empty["advertSummaryList"], empty["rowsFound"], empty["rowsReturned"]) == (None, 0, 0)


@pytest.mark.parametrize(
    ("cents", "price", "amount", "display"),
    [
        (12_000, "120", "120.0", "€ 120"),
        (79_676, "796.76", "796.76", "€ 796,76"),
        (40, "0.40", "0.4", "€ 0,40"),
        (0, "0", "0.0", "€ 0"),
        (235_000_000, "2350000", "2350000.0", "€ 2.350.000"),
    ],
)
def test_prices_are_written_as_willhaben_writes_them(cents: int, price: str, amount: str, display: str) -> None:
    written = attributes(ad(cents=cents))

    assert (written["PRICE"], written["PRICE/AMOUNT"], written["PRICE_FOR_DISPLAY"]) == ([price], [amount], [display])


def test_an_ad_without_a_price_has_only_a_display_text() -> None:
    written = attributes(ad(cents=None))

    assert "PRICE" not in written
    assert written["PRICE_FOR_DISPLAY"] == ["Preis auf Anfrage"]
    assert attributes(ad(cents=None, price_text="VB"))["PRICE_FOR_DISPLAY"] == ["VB"]


def test_published_is_utc_in_milliseconds_beside_viennese_wall_time_with_a_false_z() -> None:
    summer, winter = attributes(ad(published=JULY)), attributes(ad(published=NOON))

    assert (summer["PUBLISHED"], summer["PUBLISHED_String"]) == (["1784109630000"], ["2026-07-15T12:00:30Z"])
    assert (winter["PUBLISHED"], winter["PUBLISHED_String"]) == ([str(NOON)], ["2026-11-29T11:00:00Z"])


@pytest.mark.parametrize(
    ("epoch", "wall"),
    [
        (1_774_745_999_000, "2026-03-29T01:59:59+0100"),
        (1_774_746_000_000, "2026-03-29T03:00:00+0200"),
        (1_792_889_999_000, "2026-10-25T02:59:59+0200"),
        (1_792_890_000_000, "2026-10-25T02:00:00+0100"),
    ],
)
def test_clocks_change_on_the_last_sundays_of_march_and_october(epoch: int, wall: str) -> None:
    assert vienna.with_offset(epoch) == wall


def test_flags_of_bumped_and_promoted_ads_are_absent_otherwise() -> None:
    assert not {"IS_BUMPED", "UPSELLING_AD_SEARCHRESULT", "RESULT_LIST_TOPAD"} & set(attributes(ad()))
    assert attributes(ad(bumped=True))["IS_BUMPED"] == ["1"]
    assert attributes(ad(promoted=True))["RESULT_LIST_TOPAD"] == ["topad_result"]
    assert attributes(ad(promoted=True))["UPSELLING_AD_SEARCHRESULT"] == ["true"]


def test_an_attribute_can_be_set_emptied_and_left_out_and_a_field_replaced() -> None:
    written = attributes(ad(attributes={"PRICE": None, "LOCATION": (), "PRICE_FOR_DISPLAY": ("€ 6.700/m²",)}))

    assert "PRICE" not in written
    assert (written["LOCATION"], written["PRICE_FOR_DISPLAY"]) == ([], ["€ 6.700/m²"])
    assert pages.advert_summary(ad(raw={"attributes": None, "id": 7})) | {} == pages.advert_summary(ad()) | {
        "attributes": None,
        "id": 7,
    }


def test_the_page_of_an_ad_tells_when_it_was_first_published() -> None:
    details = pages.advert_details(ad(first_published=JULY, published=NOON, bumped=True))

    assert details["firstPublishedDate"] == "2026-07-15T12:00:30+0200"
    assert details["publishedDate"] == "2026-11-29T11:00:00+0100"
    assert details["upsellings"] == [{"type": "BUMPED"}]
    assert details["disposed"] is False


def test_a_sold_ad_says_so_on_its_page() -> None:
    details = pages.advert_details(ad(status="sold"))

    assert details["advertStatus"] == {"id": "sold", "description": "verkauft", "statusId": 120}
    assert details["disposed"] is True


def test_real_estate_shows_square_metre_prices_and_commas_on_its_own_page() -> None:
    flat = Market(1, Clock(stopped=NOON), 0).publish(kind="wohnung", title="Helle Wohnung", cents=79_676)

    written = attributes(flat)
    details: Any = pages.advert_details(flat)
    detailed = {one["name"]: one["values"] for one in details["attributes"]["attribute"]}

    assert written["PRICE/SQUARE_METER_FOR_DISPLAY_WITH_UNIT"] == ["€ 11,38/m²"]
    assert pages.advert_summary(flat)["teaserAttributes"] == [
        {"prefix": None, "value": "70", "postfix": "m²"},
        {"prefix": None, "value": "3", "postfix": "Zimmer"},
    ]
    assert (detailed["PRICE"], detailed["RENT/PER_MONTH_LETTINGS"]) == (["796.76"], ["796,76"])
    assert "p2penabled" not in written


def test_no_title_ends_the_script_or_breaks_the_page() -> None:
    title = '</script><script>alert("1")</script> & \u2028 \ud83d halb'

    html = pages.document(pages.next_data({"title": title}, "b"), title).encode("utf-8", "backslashreplace").decode()

    assert html.count("</script>") == 1
    assert page_props(html)["title"] == title
