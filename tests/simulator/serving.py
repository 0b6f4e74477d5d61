"""A simulator in this process on a free loopback port, and plain HTTP to talk to it."""

import http.client
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from simulator.client import Simulator
from simulator.clock import Clock
from simulator.server import serve, stop
from simulator.telegram import DEFAULT_TOKEN
from simulator.world import World

MARKET = "/iad/kaufen-und-verkaufen/marktplatz"
CHAT = 4711
NOON = 1_795_946_400_000
"""2026-11-29 11:00 UTC."""


@dataclass(frozen=True)
class Got:
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def page_props(self) -> Any:
        return page_props(self.body.decode())

    @property
    def search(self) -> Any:
        return self.page_props["searchResult"]

    @property
    def ids(self) -> list[str]:
        listed = self.search["advertSummaryList"]
        return [ad["id"] for ad in listed["advertSummary"]] if listed else []


class Running:
    """The simulator under test: `client` steers it, `get` and `bot` are what the product does."""

    def __init__(self, url: str, world: World) -> None:
        self.url, self.world, self.client = url, world, Simulator(url)

    def connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Got:
        return self.ask("GET", path, headers=headers or {})

    def search(self, **params: object) -> Got:
        return self.get(f"{MARKET}?{urlencode({'sort': 1} | params, doseq=True)}")

    def bot(self, method: str, token: str = DEFAULT_TOKEN, **params: object) -> Got:
        body = json.dumps(params).encode()
        return self.ask("POST", f"/bot{token}/{method}", body, {"Content-Type": "application/json"})

    def ask(self, verb: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Got:
        connection = self.connect()
        try:
            return ask(connection, verb, path, body, headers)
        finally:
            connection.close()


@contextmanager
def served(**options: Any) -> Iterator[Running]:
    """A world of its own for each test; the clock runs unless `clock` says otherwise."""
    world = World(**options)
    server = serve(world)
    try:
        yield Running(server.url, world)
    finally:
        stop(server)


def stopped() -> Clock:
    return Clock(stopped=NOON)


def ask(
    connection: http.client.HTTPConnection,
    verb: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Got:
    connection.request(verb, path, body, dict(headers or {}))
    with connection.getresponse() as answer:
        return Got(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


def page_props(html: str) -> Any:
    found = re.search(r'<script id="__NEXT_DATA__" type="application/json">(.*?)</script>', html, re.DOTALL)
    assert found, html[:300]
    return json.loads(found[1])["props"]["pageProps"]
