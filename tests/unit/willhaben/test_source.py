from typing import Any

import httpx
import pytest

from lago.domain.ids import AdId, EpochMs, Milliseconds
from lago.errors import SearchError, SettingError, SourceBlockedError, SourceUnavailableError
from lago.host_gate import HostGate
from lago.http import HttpClient, HttpSettings
from lago.sources.willhaben import Willhaben, WillhabenSettings, query_from_keyword
from tests.fake_network import Answer, FakeNetwork, page
from tests.willhaben_pages import SAMPLES, details, html, page_of, plain, sample_page

NOW = EpochMs(1_795_885_500_000)  # 2026-11-28T17:05:00Z
QUERY = query_from_keyword("renn rad", price_to=500)
AD_URL = "https://www.willhaben.at/iad/kaufen-und-verkaufen/d/rennrad-910000006/"


def source_over(*answers: Answer, **settings: Any) -> tuple[Willhaben, FakeNetwork]:
    network = FakeNetwork(*answers)
    gate = HostGate(Milliseconds(0), clock=lambda: EpochMs(0), sleep=lambda _: None, random=lambda: 0.0)
    http = HttpClient(HttpSettings(), transport=network)
    return Willhaben(WillhabenSettings(**settings), http=http, gate=gate, clock=lambda: NOW), network


def moved_to(location: str, status: int = 302) -> httpx.Response:
    return page(status, b"", Location=location)


def test_a_page_is_asked_for_newest_first_with_rows_and_number() -> None:
    source, network = source_over(page(content=page_of(plain())), rows=200)

    source.fetch(QUERY, 3)

    asked = "?PRICE_TO=500&keyword=renn%20rad&sort=1&rows=200&page=3"
    assert network.urls == [f"https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz{asked}"]


def test_the_user_agent_is_honest_and_names_a_contact() -> None:
    source, network = source_over(page(content=page_of(plain())), contact="me@example.at")

    source.fetch(QUERY, 1)

    sent = network.requests[0].headers
    assert sent["user-agent"] == "Lago/0.1.0 (+me@example.at)"
    assert "cookie" not in sent


def test_another_base_url_serves_the_pages_while_people_get_willhabens_addresses() -> None:
    source, network = source_over(page(content=sample_page("page1_before")), base_url="http://127.0.0.1:8099")

    found = source.fetch(QUERY, 1)

    assert network.urls[0].startswith("http://127.0.0.1:8099/iad/kaufen-und-verkaufen/marktplatz?")
    assert source.url(QUERY).startswith("https://www.willhaben.at/iad/")
    assert all(ad.url.startswith("https://www.willhaben.at/iad/") for ad in found.ads)
    assert source.parse_url("http://127.0.0.1:8099/iad/kaufen-und-verkaufen/marktplatz?keyword=x")


def test_what_a_person_opens_means_the_same_query() -> None:
    source, _ = source_over()

    assert source.parse_url(source.url(QUERY)) == QUERY


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (page(403, SAMPLES["error_bodies"]["blocked_403_html"].encode()), SourceBlockedError),
        (page(403, sample_page("page1_before")), SourceBlockedError),
        (page(429), SourceBlockedError),
        (page(503, SAMPLES["error_bodies"]["challenge_200_html"].encode()), SourceBlockedError),
        (page(202, b"", X_Amzn_Waf_Action="challenge"), SourceBlockedError),
        (page(200, SAMPLES["error_bodies"]["challenge_200_html"].encode()), SourceBlockedError),
        (page(500), SourceUnavailableError),
        (page(502), SourceUnavailableError),
        (page(503), SourceUnavailableError),
        (page(408), SourceUnavailableError),
        (httpx.ReadTimeout("x"), SourceUnavailableError),
        (httpx.ConnectError("x"), SourceUnavailableError),
        (httpx.RemoteProtocolError("x"), SourceUnavailableError),
        (page(400), SearchError),
        (page(404), SearchError),
        (page(204), SearchError),
        (page(200, SAMPLES["error_bodies"]["no_next_data_200_html"].encode()), SearchError),
        (page(200, SAMPLES["error_bodies"]["truncated_next_data"].encode()), SearchError),
        (page(200, b"not gzip", Content_Encoding="br"), SearchError),
        (moved_to("https://www.willhaben.at/"), SearchError),
        (moved_to("https://evil.example/"), SearchError),
        (moved_to("http://[::1"), SourceUnavailableError),
        (moved_to("https://www.willhaben.at/captcha?return=/iad/"), SourceBlockedError),
        (moved_to("https://challenge.example/x"), SourceBlockedError),
        (page(302), SearchError),
    ],
)
def test_each_failure_is_of_the_source_or_of_the_search_and_never_no_ads(
    answer: Answer, error: type[Exception]
) -> None:
    source, _ = source_over(answer)

    with pytest.raises(error) as caught:
        source.fetch(QUERY, 1)

    assert "renn" not in str(caught.value)
    assert "?" not in str(caught.value)


@pytest.mark.parametrize("asked", ["120", "Sat, 28 Nov 2026 17:07:00 GMT"])
@pytest.mark.parametrize("status", [403, 429, 503])
def test_what_the_server_asks_to_wait_is_passed_on(status: int, asked: str) -> None:
    source, _ = source_over(page(status, Retry_After=asked))

    with pytest.raises((SourceBlockedError, SourceUnavailableError)) as caught:
        source.fetch(QUERY, 1)

    assert caught.value.retry_after_ms == 120_000


@pytest.mark.parametrize(
    "location",
    [
        "/iad/kaufen-und-verkaufen/marktplatz/?keyword=renn+rad&PRICE_TO=500",
        "https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz/?keyword=renn+rad&PRICE_TO=500&sfId=1",
    ],
)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_search_that_moved_to_another_address_of_itself_is_followed_with_our_order(
    location: str, status: int
) -> None:
    source, network = source_over(moved_to(location, status), page(content=page_of(plain())))

    assert source.fetch(QUERY, 2).ads
    assert network.urls[1].endswith("keyword=renn%20rad&sort=1&rows=30&page=2")


def test_a_category_that_moves_to_its_own_path_is_followed_there() -> None:
    query = query_from_keyword("", category=4525)
    source, network = source_over(
        moved_to("/iad/kaufen-und-verkaufen/marktplatz/fahrraeder-4525"), page(content=page_of(plain()))
    )

    assert source.fetch(query, 1).ads
    assert "/marktplatz/fahrraeder-4525?ATTRIBUTE_TREE=4525&sort=1" in network.urls[1]


def test_a_search_that_moves_and_loses_a_filter_is_an_error() -> None:
    source, _ = source_over(moved_to("/iad/kaufen-und-verkaufen/marktplatz?keyword=renn+rad"))

    with pytest.raises(SearchError, match="redirects to another page"):
        source.fetch(QUERY, 1)


def test_a_search_that_moves_in_circles_is_an_error() -> None:
    circle = [moved_to("/iad/kaufen-und-verkaufen/marktplatz?keyword=renn+rad&PRICE_TO=500") for _ in range(3)]
    source, network = source_over(*circle)

    with pytest.raises(SearchError, match="in circles"):
        source.fetch(QUERY, 1)
    assert len(network.requests) == 3


def test_the_first_publication_is_asked_of_the_ads_own_page_on_the_base_url() -> None:
    content = html(details("910000006", firstPublishedDate="2026-01-29T16:59:00+0100"))
    source, network = source_over(page(content=content), base_url="http://127.0.0.1:8099")

    assert source.first_published(AdId("910000006"), AD_URL) == 1769702340000
    assert network.urls == ["http://127.0.0.1:8099/iad/kaufen-und-verkaufen/d/rennrad-910000006/"]


@pytest.mark.parametrize(
    "url", ["https://www.willhaben.at/iad/object?adId=910000006", "https://evil.example/iad/d/x", "", "//x"]
)
def test_an_ad_without_a_page_of_its_own_is_found_by_its_id(url: str) -> None:
    content = html(details("910000006", firstPublishedDate="2026-01-29T16:59:00+0100"))
    source, network = source_over(
        moved_to("/iad/kaufen-und-verkaufen/d/captcha-rennrad-910000006/", 308), page(content=content)
    )

    assert source.first_published(AdId("910000006"), url) == 1769702340000
    assert network.urls == [
        "https://www.willhaben.at/iad/object?adId=910000006",
        "https://www.willhaben.at/iad/kaufen-und-verkaufen/d/captcha-rennrad-910000006/",
    ]


@pytest.mark.parametrize(
    "answers",
    [
        [page(content=sample_page("removed_ad_page_soft_404"))],
        [page(404)],
        [page(410)],
        [page(content=b"<html>")],
        [moved_to("https://evil.example/")],
        [moved_to("/iad/a"), moved_to("/iad/b"), moved_to("/iad/c")],
    ],
)
def test_an_ad_page_that_does_not_tell_is_none(answers: list[Answer]) -> None:
    source, network = source_over(*answers)

    assert source.first_published(AdId("910000006"), AD_URL) is None
    assert len(network.requests) == len(answers)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (page(403), SourceBlockedError),
        (page(429), SourceBlockedError),
        (page(502), SourceUnavailableError),
        (httpx.ReadTimeout("x"), SourceUnavailableError),
        (moved_to("https://www.willhaben.at/captcha"), SourceBlockedError),
    ],
)
def test_a_wall_or_an_outage_at_an_ad_page_is_the_sources_trouble(answer: Answer, error: type[Exception]) -> None:
    source, _ = source_over(answer)

    with pytest.raises(error):
        source.first_published(AdId("910000006"), AD_URL)


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        ({"rows": 0}, "SCRAPE_ROWS"),
        ({"rows": 201}, "SCRAPE_ROWS"),
        ({"base_url": "willhaben.at"}, "WILLHABEN_BASE_URL"),
        ({"base_url": "ftp://willhaben.at"}, "WILLHABEN_BASE_URL"),
        ({"base_url": "https://www.willhaben.at/"}, "WILLHABEN_BASE_URL"),
        ({"base_url": "https://u:p@www.willhaben.at"}, "WILLHABEN_BASE_URL"),
        ({"contact": "me\r\nCookie: x"}, "CONTACT"),
        ({"contact": "me)"}, "CONTACT"),
    ],
)
def test_a_bad_setting_is_named_as_its_environment_variable(settings: dict[str, Any], variable: str) -> None:
    with pytest.raises(SettingError, match=f"^{variable} must"):
        WillhabenSettings(**settings)
