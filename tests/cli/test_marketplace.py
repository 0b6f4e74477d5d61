"""The options of a command as willhaben's own parameters; and the one request of `lago doctor`."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from lago import __version__
from lago.domain.ids import Minor
from lago.errors import BadInputError, SettingError, SourceUnavailableError
from lago_cli.marketplace import WillhabenMarketplace
from lago_cli.ports import Narrowing


def test_options_become_the_parameters_of_a_search() -> None:
    narrow = Narrowing(
        price_from=Minor(1_990),
        price_to=Minor(50_000),
        category="4525",
        areas=("Wien", "niederösterreich"),
        seller_kind="private",
        paylivery=True,
    )

    query = WillhabenMarketplace("https://www.willhaben.at").from_keyword("rennrad", narrow)

    assert (
        dict(query.params).items()
        >= {
            "keyword": "rennrad",
            "PRICE_FROM": "19.90",
            "PRICE_TO": "500",
            "ISPRIVATE": "1",
            "paylivery": "true",
        }.items()
    )
    assert {value for name, value in query.params if name == "areaId"} == {"900", "3"}


def test_an_unknown_area_is_named() -> None:
    with pytest.raises(BadInputError, match="Atlantis"):
        WillhabenMarketplace("https://www.willhaben.at").from_keyword("rad", Narrowing(areas=("Atlantis",)))


def test_an_address_on_the_base_url_is_the_same_search() -> None:
    market = WillhabenMarketplace("http://127.0.0.1:8099/")
    path = "/iad/kaufen-und-verkaufen/marktplatz?keyword=rennrad"

    assert market.parse_url(f"http://127.0.0.1:8099{path}") == market.parse_url(
        f"https://www.willhaben.at{path}&page=3"
    )


def test_a_base_url_that_is_none_says_what_one_looks_like() -> None:
    with pytest.raises(SettingError, match="WILLHABEN_BASE_URL must be like https://"):
        WillhabenMarketplace("willhaben")


def test_knocking_is_one_honest_request_for_what_every_robot_may_read() -> None:
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["User-Agent"]))
            self.send_response(403)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keep the tests quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    market = WillhabenMarketplace(f"http://127.0.0.1:{server.server_port}", "me@example.org")
    try:
        assert market.knock() == 403
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    assert asked == [("/robots.txt", f"Lago/{__version__} (+me@example.org)")]
    with pytest.raises(SourceUnavailableError, match=r"no answer from 127\.0\.0\.1: ConnectError"):
        market.knock()
