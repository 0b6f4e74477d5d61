"""The traps of the fact sheet that lie in one ad, and what sellers may write into it."""

import re

import pytest

from lago.domain.ad import Ad
from lago.domain.query import Query
from lago.sources.willhaben.address import MARKETPLACE, NAME
from lago.sources.willhaben.page import read_page
from tests.willhaben_pages import SAMPLES, Json, page_of, plain, sample_ad, with_attributes


def only(ad: Json) -> Ad:
    page = read_page(page_of(ad), Query(source=NAME, path=MARKETPLACE), 1)
    assert len(page.ads) == 1
    return page.ads[0]


@pytest.mark.parametrize("name", SAMPLES["expected"])
def test_each_sample_ad_is_read_as_expected(name: str) -> None:
    expected = SAMPLES["expected"][name]

    ad = only(sample_ad(name))

    assert ad.id == expected["id"]
    assert ad.price == (None if expected["price"] is None else round(float(expected["price"]) * 100))
    for field in ("url", "promoted", "bumped", "seller_name"):
        if field in expected:
            assert getattr(ad, field) == expected[field]
    if "seller" in expected:
        assert ad.seller_kind == expected["seller"]
    if "images" in expected:
        assert bool(ad.image) == bool(expected["images"])


def test_a_plain_ad_is_read_whole() -> None:
    ad = only(sample_ad("plain_private"))

    assert ad.title == "Holzregal Fichte 180 cm"
    assert ad.price_text == "€ 120"
    assert ad.place == "1070 Wien, 07. Bezirk, Neubau"
    assert ad.published == 1795885500000
    assert ad.coordinates == (48.2011, 16.3489)
    assert ad.categories == ("5824", "5878", "5884")
    assert ad.paylivery is False
    assert ad.image == "https://cache.willhaben.at/mmo/1/910/000/001_111_hoved.jpg"


def test_real_estate_tells_its_size_and_rooms_and_never_the_price_per_square_metre() -> None:
    ad = only(sample_ad("real_estate_rent"))

    assert ad.details == ("70 m²", "3 Zimmer")
    assert ad.price == 79_676


def test_facts_come_from_attributes_where_there_are_no_teasers() -> None:
    ad = only(plain(YEAR_MODEL="2019", MILEAGE="85000", ENGINE__FUEL_RESOLVED="Diesel"))

    assert ad.details == ("2019", "85000 km", "Diesel")


# Trap 1: PUBLISHED_String ends in Z but is Vienna's wall time.


def test_the_milliseconds_win_over_the_mislabelled_wall_time() -> None:
    ad = only(sample_ad("dealer_special_chars_summer_time"))

    assert ad.published == 1784109630000  # 10:00:30Z; the string says 12:00:30Z


@pytest.mark.parametrize("milliseconds", [None, "", "soon", "12", "9" * 30])
def test_the_wall_time_is_read_as_vienna_time_where_the_milliseconds_fail(milliseconds: str | None) -> None:
    summer = only(plain(PUBLISHED=milliseconds, PUBLISHED_String="2026-07-15T12:00:30Z"))
    winter = only(plain(PUBLISHED=milliseconds, PUBLISHED_String="2026-11-28T18:05:00Z"))

    assert summer.published == 1784109630000
    assert winter.published == 1795885500000


@pytest.mark.parametrize("text", [None, "gestern", "9999-99-99T00:00:00Z", "0001-01-01T00:00:00Z"])
def test_a_time_that_cannot_be_read_is_no_time(text: str | None) -> None:
    assert only(plain(PUBLISHED=None, PUBLISHED_String=text)).published is None


# Trap 2: bumps keep their id.


def test_a_bumped_ad_keeps_its_id_and_its_place_in_order() -> None:
    ad = only(sample_ad("bumped_known_id"))

    assert (ad.id, ad.bumped, ad.promoted) == ("910000006", True, False)


# Trap 5: prices.


def test_a_price_on_request_is_none_and_the_ad_and_its_words_stay() -> None:
    ad = only(sample_ad("no_price_no_seo_no_image"))

    assert (ad.price, ad.price_text) == (None, "Preis auf Anfrage")


def test_a_gift_is_zero() -> None:
    assert only(plain(PRICE="0", PRICE__AMOUNT="0.0", PRICE_FOR_DISPLAY="Zu verschenken")).price == 0


def test_a_display_per_square_metre_never_becomes_the_price() -> None:
    assert only(plain(PRICE=None, PRICE__AMOUNT=None, PRICE_FOR_DISPLAY="€ 6.700/m²")).price is None


# Trap 6: a price change makes no new identity.


def test_a_price_drop_keeps_the_id() -> None:
    before, after = only(sample_ad("bumped_known_id")), only(sample_ad("bumped_with_price_drop"))

    assert before.id == after.id
    assert (before.price, after.price) == (65_000, 59_000)


# Trap 7: category ids are split, never matched as substrings.


def test_category_ids_are_split() -> None:
    assert "587" not in only(plain(categorytreeids="5824;5878;5884")).categories


# Trap 8: whatever may be missing, is missing.


def test_an_ad_without_attributes_still_has_a_name_and_an_address() -> None:
    ad = only({"id": 2147483650})

    assert ad.id == "2147483650"  # beyond 32 bits, and a number here
    assert ad.title == "Anzeige 2147483650"
    assert ad.url == "https://www.willhaben.at/iad/object?adId=2147483650"
    assert (ad.price, ad.published, ad.image, ad.seller_kind) == (None, None, None, None)


@pytest.mark.parametrize("values", [None, [], [None], [""], ["", None]])
def test_empty_values_are_missing_values(values: list[str | None] | None) -> None:
    ad = only(plain(SEO_URL=values, PRICE=values, PRICE__AMOUNT=values, PRICE_FOR_DISPLAY=values, PUBLISHED=values))

    assert ad.url.endswith("/iad/object?adId=930000001")
    assert ad.price is None


@pytest.mark.parametrize("gap", ["attributes", "advertImageList", "teaserAttributes", "description"])
def test_null_where_a_structure_is_expected_costs_nothing(gap: str) -> None:
    assert only(sample_ad("real_estate_rent", **{gap: None})).id == "1560000008"


def test_numbers_where_strings_are_expected_are_read() -> None:
    assert only(plain(PRICE=[120.5], ISPRIVATE=[0])).price == 12_050


# Trap 9: everything is written by sellers.


def test_titles_become_one_line_and_stay_raw_otherwise() -> None:
    ad = only(sample_ad("plain_private", description=' <b>&amp;*_[x](y)|`\n\t\x00\u2028\u202eRTL\u200b🚲 </script>"'))

    assert ad.title == '<b>&amp;*_[x](y)|` \u202eRTL\u200b🚲 </script>"'


def test_titles_are_cut() -> None:
    assert len(only(sample_ad("plain_private", description="ä" * 10_000)).title) == 300


@pytest.mark.parametrize(
    "seo",
    ["//evil.example/x", "https://evil.example/", "../../../login", "a/../b", "javascript:alert(1)", "a?b", "a#b",
     "a b", "a\\b", "x" * 400, "a//b", "%2e%2e/x", "a\u202eb", "a<b"],
)  # fmt: skip
def test_a_hostile_address_never_leaves_the_ads_own_pages(seo: str) -> None:
    url = only(plain(SEO_URL=seo)).url

    assert url.startswith("https://www.willhaben.at/iad/")
    assert ".." not in url
    assert len(url) < 320
    assert re.fullmatch(r"[!-~]+", url)


@pytest.mark.parametrize(
    "url",
    ["https://evil.example/x.jpg", "https://cache.willhaben.at.evil.example/x.jpg", "https://u@cache.willhaben.at/x",
     "https://cache.willhaben.at:81/x", "ftp://cache.willhaben.at/x", "javascript:alert(1)", "http://[::1", "//x/y",
     "https://cache.willhaben.at/a b", "https://cache.willhaben.at/../x", "https://cache.willhaben.at/" + "x" * 400],
)  # fmt: skip
def test_pictures_come_from_the_image_host_only(url: str) -> None:
    images = {"advertImage": [{"mainImageUrl": url, "referenceImageUrl": None}]}

    assert only(plain(MMO=None, ALL_IMAGE_URLS=None) | {"advertImageList": images}).image is None
    assert only(plain() | {"advertImageList": images}).image == "https://cache.willhaben.at/mmo/1/910/000/001_111.jpg"


@pytest.mark.parametrize("text", ["0,0", "0.0,0.0", "nan,nan", "inf,1", "91,16", "48", "48,16,1", "a,b", None])
def test_coordinates_that_are_none_are_none(text: str | None) -> None:
    assert only(plain(COORDINATES=text)).coordinates is None


def test_the_seller_kind_is_told_by_the_organisation_or_the_ad_type_where_the_flag_is_missing() -> None:
    assert only(plain(ISPRIVATE=None, ORGNAME="Rad GmbH")).seller_kind == "dealer"
    assert only(plain(ISPRIVATE=None)).seller_kind == "private"
    assert only(plain(ISPRIVATE=None) | {"verticalId": 2, "adTypeId": 2}).seller_kind is None


def test_fields_that_nobody_asked_for_do_no_harm() -> None:
    ad = sample_ad("plain_private", n=10**400, deep=[[[{}]]], id2=None)

    assert only(with_attributes(ad, NEW_THING=["1", "2"])).id == "910000001"
