"""The willhaben adapter, as the commands use it."""

import random

from lago.domain.ad import Page
from lago.domain.ids import Milliseconds, Minor
from lago.domain.query import Query
from lago.errors import SourceUnavailableError
from lago.host_gate import HostGate
from lago.http import HttpClient, HttpSettings, TransportError
from lago.sources.willhaben import Willhaben, WillhabenSettings, query_from_keyword, user_agent
from lago_cli.clock import now, pause
from lago_cli.ports import Narrowing

_SPACING = Milliseconds(250)
"""Least time between two requests, as in the template."""


class WillhabenMarketplace:
    """Willhaben at one base URL, with the same manners as the functions have."""

    def __init__(self, base_url: str, contact: str = "") -> None:
        """`contact` is for the marketplace, in case of questions. Raises SettingError that names the variable."""
        settings = WillhabenSettings(base_url=base_url.rstrip("/"), contact=contact)
        gate = HostGate(_SPACING, clock=now, sleep=pause, random=random.random)
        self._settings, self._http = settings, HttpClient(HttpSettings())
        self._source = Willhaben(settings, http=self._http, gate=gate, clock=now)

    def parse_url(self, url: str) -> Query:
        """The canonical query of a pasted search URL."""
        return self._source.parse_url(url)

    def from_keyword(self, keyword: str, narrow: Narrowing) -> Query:
        """The canonical query of a keyword with options."""
        return query_from_keyword(
            keyword,
            price_from=_euros(narrow.price_from),
            price_to=_euros(narrow.price_to),
            category=narrow.category,
            areas=narrow.areas,
            seller=narrow.seller_kind,
            paylivery=narrow.paylivery,
        )

    def url(self, query: Query) -> str:
        """The search for a person to open in a browser."""
        return self._source.url(query)

    def fetch(self, query: Query, page: int) -> Page:
        """Result page `page` (from 1), newest first."""
        return self._source.fetch(query, page)

    def knock(self) -> int:
        """The status of one request for what every robot may read, robots.txt."""
        headers = {"user-agent": user_agent(self._settings.contact)}
        try:
            return self._http.get(f"{self._settings.base_url}/robots.txt", label="robots.txt", headers=headers).status
        except TransportError as error:
            raise SourceUnavailableError(f"no answer from {error.host}: {error.reason}") from None


def _euros(price: Minor | None) -> str | None:
    return None if price is None else f"{price // 100},{price % 100:02d}"
