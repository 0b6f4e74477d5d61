from typing import Any

import pytest

from lago.domain.query import Query
from lago.errors import BadInputError
from lago.sources.willhaben import query_from_keyword
from lago.sources.willhaben.address import NAME, PUBLIC_BASE, address, parse_url

MARKET = "https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz"
FLATS = "https://www.willhaben.at/iad/immobilien/mietwohnungen/mietwohnung-angebote"
CARS = "https://www.willhaben.at/iad/gebrauchtwagen/auto/gebrauchtwagenboerse"


def test_two_people_who_paste_the_same_search_with_different_noise_share_it() -> None:
    first = parse_url(f"{MARKET}?keyword=rennrad&PRICE_TO=500&sfId=1-2-3&isNavigation=true&rows=30&page=2")
    second = parse_url(f"{MARKET}?PRICE_TO=500&utm_source=mail&UTM_Medium=x&sort=3&view=&topicId=9&keyword=rennrad")

    assert first == second
    assert first.params == (("PRICE_TO", "500"), ("keyword", "rennrad"))


@pytest.mark.parametrize("price", ["500.0", "500.00"])
def test_a_round_price_is_the_same_search_with_and_without_cents(price: str) -> None:
    assert parse_url(f"{MARKET}?PRICE_TO={price}") == parse_url(f"{MARKET}?PRICE_TO=500")
    assert parse_url(f"{MARKET}?PRICE_TO=500.50") != parse_url(f"{MARKET}?PRICE_TO=500")


@pytest.mark.parametrize(
    "url",
    [
        "http://willhaben.at/iad/kaufen-und-verkaufen/marktplatz?keyword=rennrad",
        "https://m.willhaben.at/iad/kaufen-und-verkaufen/marktplatz/?keyword=rennrad",
        "www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz?keyword=rennrad",
        "HTTPS://WWW.WILLHABEN.AT:443/IAD//Kaufen-und-Verkaufen/Marktplatz?keyword=rennrad#top",
        "  <https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz?keyword=+rennrad&PRICE_TO=>  ",
    ],
)
def test_host_case_slashes_and_wrapping_make_no_difference(url: str) -> None:
    assert parse_url(url) == parse_url(f"{MARKET}?keyword=rennrad")


@pytest.mark.parametrize("url", [FLATS, CARS, f"{MARKET}/fahrraeder-4525/rennraeder-4530"])
def test_every_vertical_is_accepted_with_its_path(url: str) -> None:
    assert parse_url(url) == Query(source=NAME, path=url.removeprefix(PUBLIC_BASE))


def test_repeated_parameters_are_sorted_and_said_once() -> None:
    query = parse_url(f"{FLATS}?NO_OF_ROOMS_BUCKET=4X4&areaId=900&NO_OF_ROOMS_BUCKET=3X3&areaId=900")

    assert query.params == (("NO_OF_ROOMS_BUCKET", "3X3"), ("NO_OF_ROOMS_BUCKET", "4X4"), ("areaId", "900"))


def test_parameters_with_slashes_survive() -> None:
    query = parse_url(f"{CARS}?CAR_MODEL/MAKE=1065&CAR_MODEL%2FMODEL=1234")

    assert query.params == (("CAR_MODEL/MAKE", "1065"), ("CAR_MODEL/MODEL", "1234"))
    assert parse_url(address(PUBLIC_BASE, query)) == query


def test_umlauts_mean_the_same_composed_or_not() -> None:
    assert parse_url(f"{MARKET}?keyword=k%C3%BCche") == parse_url(f"{MARKET}?keyword=ku%CC%88che")


@pytest.mark.parametrize("path", ["/fahrraeder-4525", "/fahrraeder-4525/", "/-4525", "/4525"])
def test_a_category_is_the_same_in_the_path_and_as_a_parameter(path: str) -> None:
    assert parse_url(f"{MARKET}{path}?keyword=rennrad") == parse_url(f"{MARKET}?ATTRIBUTE_TREE=4525&keyword=rennrad")


def test_a_category_below_the_one_in_the_path_leaves_the_path_alone() -> None:
    query = parse_url(f"{MARKET}/fahrraeder-4525?ATTRIBUTE_TREE=4530")

    assert query.path.endswith("/fahrraeder-4525")
    assert query.params == (("ATTRIBUTE_TREE", "4530"),)


def test_a_search_on_the_configured_server_is_the_same_search() -> None:
    here = parse_url(
        "http://127.0.0.1:8099/iad/kaufen-und-verkaufen/marktplatz?keyword=rennrad", "http://127.0.0.1:8099"
    )

    assert here == parse_url(f"{MARKET}?keyword=rennrad")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("rennrad", "the address of a willhaben result list"),
        ("", "the address of a willhaben result list"),
        ("https://", "the address of a willhaben result list"),
        ("https://[::1", "the address of a willhaben result list"),
        ("https://www.willhaben.at:99999/iad", "the address of a willhaben result list"),
        (f"{MARKET}?keyword=zwei woerter", "the address of a willhaben result list"),
        (f"{MARKET}/../../x", "the address of a willhaben result list"),
        ("https://www.willhaben.at/", "the address of a willhaben result list"),
        ("https://www.willhaben.at/iad/immobilien", "the address of a willhaben result list"),
        ("https://www.willhaben.at/iad/kaufen-und-verkaufen/verkaeuferprofil/123", "the address of a willhaben"),
        ("https://www.willhaben.at/iad/kaufen-und-verkaufen/d/regal-910000001/", "this is one ad"),
        ("https://www.willhaben.at/iad/object?adId=910000001", "this is one ad"),
        ("https://www.willhaben.at/iad/immobilien/d/mietwohnungen/wien/loggia-1560000008", "this is one ad"),
        ("https://www.willhaben.at/jobs/suche?keyword=koch", "jobs are not supported"),
        ("https://www.willhaben.at/iad/jobs", "jobs are not supported"),
        ("https://www.willhaben.at/iad/myprofile/ads", "not a page of an account"),
        ("https://www.willhaben.at/login", "not a page of an account"),
        ("https://www.willhaben.at/webapi/iad/search/atz/2/301?keyword=x", "from the browser's result list"),
        ("https://www.willhaben.at.evil.example/iad/kaufen-und-verkaufen/marktplatz", "on www.willhaben.at"),
        ("https://www.willhaben.at:8443/iad/kaufen-und-verkaufen/marktplatz", "on www.willhaben.at"),
        ("https://www.kleinanzeigen.de/s-fahrrad/k0", "on www.willhaben.at"),
        ("https://user:secret@www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz", "without a user name"),
        ("ftp://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz", "begins with https://"),
        ("javascript://www.willhaben.at/%0aalert(1)", "begins with https://"),
        (f"{MARKET}?keyword=%ff", "in UTF-8"),
        (f"{MARKET}/%ff-1", "in UTF-8"),
        (f"{MARKET}?keyword=a%00b", "without control characters"),
        (f"{MARKET}?PRICE_TO=abc", "500 for PRICE_TO instead of 'abc'"),
        (f"{MARKET}?PRICE_TO=500&PRICE_FROM=-5", "500 for PRICE_FROM instead of '-5'"),
        (f"{MARKET}?{'&'.join(f'a{n}=1' for n in range(61))}", "at most 60 parameters"),
        (f"{MARKET}?keyword={'x' * 2000}", "at most 2000 characters"),
    ],
)
def test_an_address_that_is_no_search_says_what_is_wrong_with_it(url: str, says: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_url(url)

    assert caught.value.field == "url"
    assert says in str(caught.value)


def test_a_keyword_with_options_is_the_query_of_its_pasted_address() -> None:
    said = query_from_keyword(
        " Rennrad  56 ",
        price_from=100,
        price_to="1.500",
        category=4525,
        areas=["Wien", "Niederösterreich", 117236],
        seller="private",
        paylivery=True,
    )

    assert said == parse_url(
        f"{MARKET}/fahrraeder-4525?keyword=Rennrad+56&PRICE_FROM=100&PRICE_TO=1500"
        "&areaId=3&areaId=900&areaId=117236&ISPRIVATE=1&paylivery=true&sfId=x"
    )


def test_options_left_out_leave_nothing_behind() -> None:
    assert query_from_keyword("rennrad").params == (("keyword", "rennrad"),)
    assert query_from_keyword("", category="fahrraeder-4525").params == (("ATTRIBUTE_TREE", "4525"),)


def test_cents_are_kept_and_a_dealer_is_a_zero() -> None:
    assert query_from_keyword("x", price_to=12.5, seller="dealer").params == (
        ("ISPRIVATE", "0"),
        ("PRICE_TO", "12.50"),
        ("keyword", "x"),
    )


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"keyword": " "}, "keyword"),
        ({"keyword": "x" * 201}, "keyword"),
        ({"keyword": "a\x00b"}, "keyword"),
        ({"price_to": -1}, "price_to"),
        ({"price_to": "viel"}, "price_to"),
        ({"price_to": float("nan")}, "price_to"),
        ({"price_to": float("inf")}, "price_to"),
        ({"price_to": True}, "price_to"),
        ({"price_from": 10, "price_to": 5}, "price_from"),
        ({"category": "fahrraeder"}, "category"),
        ({"areas": ["Bayern"]}, "areas"),
        ({"areas": "Bayern"}, "areas"),
        ({"areas": [0]}, "areas"),
        ({"seller": "robot"}, "seller"),
    ],
)
def test_a_bad_option_is_named(options: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInputError) as caught:
        query_from_keyword(**({"keyword": "rennrad"} | options))

    assert caught.value.field == field
