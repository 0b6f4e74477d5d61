import pytest

from lago.domain.ad import Page
from lago.errors import SearchError, SourceBlockedError, SourceUnavailableError
from tests.cli.fakes import FakeMarketplace, a_world, an_ad
from tests.cli.run import answer, lago


def a_page(*numbers: int, rows: int = 30, **changes: object) -> Page:
    ads = tuple(an_ad(number) for number in numbers)
    return Page(number=1, ads=ads, rows=rows, total=312, listed=len(ads), **changes)  # type: ignore[arg-type]


def test_prints_the_ads_of_a_keyword_without_any_stack() -> None:
    shop = FakeMarketplace([a_page(1, 2)])

    result = lago(a_world(marketplace=shop), "search", "rennrad", "--price-to", "500")

    assert result.exit_code == 0
    assert "Rennrad 1" in result.stdout
    assert "€ 450" in result.stdout
    assert "adId=2" in result.stdout
    assert "2 of 312 ads" in result.stderr
    assert shop.base_url == "https://www.willhaben.at"


def test_asks_the_server_that_the_environment_names() -> None:
    shop = FakeMarketplace([a_page(1)])

    lago(a_world(marketplace=shop, environ={"WILLHABEN_BASE_URL": "http://127.0.0.1:1"}), "search", "rennrad")

    assert shop.base_url == "http://127.0.0.1:1"


def test_json_holds_every_field_and_the_address() -> None:
    found = answer(lago(a_world(marketplace=FakeMarketplace([a_page(1)])), "search", "rennrad", "--json"))

    assert found["total"] == 312
    assert found["url"].startswith("https://")
    assert found["ads"][0]["price"] == 45_000


def test_hands_the_options_on_checked() -> None:
    shop = FakeMarketplace([a_page(1)])

    lago(
        a_world(marketplace=shop),
        *(
            "search",
            "rennrad",
            "--price-from",
            "19,90",
            "--price-to",
            "500",
            "--area",
            "Wien",
            "--area",
            "niederösterreich",
        ),
        *("--dealer", "--paylivery", "--category", "4552"),
    )

    assert shop.narrow is not None
    assert (shop.narrow.price_from, shop.narrow.price_to) == (1_990, 50_000)
    assert shop.narrow.areas == ("Wien", "niederösterreich")
    assert (shop.narrow.seller_kind, shop.narrow.paylivery, shop.narrow.category) == ("dealer", True, "4552")


def test_reads_pages_until_one_is_short_and_shows_an_ad_once() -> None:
    shop = FakeMarketplace([a_page(1, 2, rows=2), a_page(2, rows=2), a_page(4, rows=2)])

    found = answer(lago(a_world(marketplace=shop), "search", "rennrad", "--pages", "3", "--json"))

    assert [ad["id"] for ad in found["ads"]] == ["1", "2"]
    assert shop.fetched == [1, 2]


def test_titles_reach_the_terminal_as_harmless_text() -> None:
    hostile = an_ad(1, title="[red]\x1b[2Jgratis\u202e\nRad[/red]")
    page = Page(number=1, ads=(hostile,), rows=30, total=1, listed=1)

    result = lago(a_world(marketplace=FakeMarketplace([page])), "search", "rad")

    assert "[red][2Jgratis Rad[/red]" in result.stdout
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rad", "--price-to", "1.200"], "--price-to: got '1.200', expected an amount in euros"),
        (["rad", "--price-to", "-5"], "--price-to: got '-5'"),
        (["rad", "--price-to", "nan"], "--price-to: got 'nan'"),
        (["rad", "--price-from", "9", "--price-to", "8"], "--price-to: got '8', expected at least --price-from"),
        (["rad", "--private", "--dealer"], "--dealer: got '--private --dealer', expected one of the two"),
        (["rad", "--area", "Atlantis"], "--area: got 'Atlantis'"),
        (["rad", "--category", "bikes"], "--category: got 'bikes'"),
        (["  "], "KEYWORD|URL: got '  ', expected a keyword"),
        (
            ["https://example.com/"],
            "KEYWORD|URL: got 'https://example.com/', expected the address of a willhaben search",
        ),
        (["https://www.willhaben.at/iad/x", "--area", "wien"], "expected a keyword beside these options"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(arguments: list[str], sentence: str) -> None:
    result = lago(a_world(), "search", *arguments)

    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (SourceBlockedError("status 403"), "refuses requests at the moment (status 403)"),
        (SourceUnavailableError("no connection"), "could not be reached (no connection)"),
        (SearchError("no __NEXT_DATA__"), "did not answer this search as expected"),
    ],
)
def test_a_marketplace_that_fails_is_never_an_empty_list(failure: Exception, sentence: str) -> None:
    result = lago(a_world(marketplace=FakeMarketplace(failure=failure)), "search", "rad", "--json")

    assert result.exit_code == 1
    assert result.stdout == ""
    assert sentence in result.stderr
