"""The willhaben adapter: one polite GET a page, and an answer's meaning for the source and for the search."""

import re
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from lago import __version__
from lago.domain.ad import Page
from lago.domain.ids import AdId, Clock, EpochMs
from lago.domain.query import Query
from lago.domain.redact import shown
from lago.errors import BadInputError, SearchError, SettingError, SourceBlockedError, SourceUnavailableError
from lago.host_gate import HostGate
from lago.http import HttpClient, Reply, TransportError, UnreadableAnswerError
from lago.retry_after import retry_after_ms
from lago.sources.willhaben.address import NAME, PUBLIC_BASE, address, parse_url
from lago.sources.willhaben.checks import NEWEST_FIRST
from lago.sources.willhaben.page import looks_blocked, read_first_published, read_page

MOST_ROWS = 200
"""willhaben silently caps `rows` here."""
_MAX_REDIRECTS = 2
_WALL_PATHS = re.compile(r"captcha|challenge|blocked|denied", re.IGNORECASE)
_WALL_HEADERS = ("x-amzn-waf-action", "cf-mitigated")
"""Sent with a challenge by AWS WAF (which answers 202 or 405) and Cloudflare."""


class WillhabenSettings(Struct, frozen=True, kw_only=True):
    """`base_url` is where pages are fetched, `rows` the page size asked for, `contact` goes into the user agent.

    Errors name the environment variables that these come from.
    """

    base_url: str = PUBLIC_BASE
    rows: int = 30
    contact: str = ""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        parts = urlsplit(self.base_url)
        is_base = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
        if not is_base or parts.path or parts.username:
            msg = f"WILLHABEN_BASE_URL must be like https://www.willhaben.at, got {shown(self.base_url, 200)}"
            raise SettingError(msg)
        if not 1 <= self.rows <= MOST_ROWS:
            msg = f"SCRAPE_ROWS must be from 1 to {MOST_ROWS}, got {self.rows}"
            raise SettingError(msg)
        if not re.fullmatch(r"[!-~ ]{0,200}", self.contact) or set("()") & set(self.contact):
            msg = f"CONTACT must be a mail or web address, got {shown(self.contact, 120)}"
            raise SettingError(msg)


class Willhaben:
    """A `Source`. Thread-safe as long as its client and gate are."""

    name = NAME

    def __init__(self, settings: WillhabenSettings, *, http: HttpClient, gate: HostGate, clock: Clock) -> None:
        self._settings, self._http, self._gate, self._clock = settings, http, gate, clock
        self._origin = _origin(settings.base_url)
        self._host = urlsplit(settings.base_url).netloc
        self._headers = {
            "user-agent": user_agent(settings.contact),
            "accept": "text/html",
            "accept-language": "de-AT,de;q=0.9",
        }

    def parse_url(self, url: str) -> Query:
        """The canonical query of a pasted search URL. Raises BadInputError that says what is wrong with it."""
        return parse_url(url, self._settings.base_url)

    def url(self, query: Query) -> str:
        """The search on willhaben, newest first, for a person to open in a browser."""
        return address(PUBLIC_BASE, query, [("sort", NEWEST_FIRST)])

    def fetch(self, query: Query, page: int) -> Page:
        """Result page `page` (from 1), newest first. Raises SourceError or SearchError; see `lago.errors`."""
        paging = [("sort", NEWEST_FIRST), ("rows", str(self._settings.rows)), ("page", str(page))]
        url = address(self._settings.base_url, query, paging)
        for _ in range(_MAX_REDIRECTS + 1):
            reply = self._get(url, label=f"{NAME} page")
            if not _is_redirect(reply):
                self._check(reply, query.path)
                return read_page(reply.content, query, page)
            self._redirected(reply, url, query)
            # The new path with our own parameters: the redirect may have lost order and paging.
            url = address(self._settings.base_url, _at(self._target(reply, url), query), paging)
        raise SearchError(f"{query.path} redirects in circles")

    def first_published(self, ad: AdId, url: str) -> EpochMs | None:
        """When the ad was first published, by its own page.

        None where the page does not tell or is gone. Raises SourceError, as the whole source is concerned then.
        """
        public = urlsplit(url)
        path = public.path if _origin(url) in (_origin(PUBLIC_BASE), self._origin) and "/d/" in public.path else ""
        at = f"{self._settings.base_url}{path}" if path else f"{self._settings.base_url}/iad/object?adId={ad}"
        for _ in range(_MAX_REDIRECTS + 1):
            try:
                reply = self._get(at, label=f"{NAME} ad")
                if not _is_redirect(reply):
                    self._check(reply, path or "/iad/object")
                    return read_first_published(reply.content, ad)
                at = self._target(reply, at)
            except SearchError:
                return None
            self._refuse_wall(at)
            if _origin(at) != self._origin:
                return None
        return None

    def _get(self, url: str, label: str) -> Reply:
        try:
            with self._gate.turn(self._host):
                return self._http.get(url, label=label, headers=self._headers)
        except UnreadableAnswerError as error:
            raise SearchError(f"page not understood: {error.reason}") from None
        except TransportError as error:
            raise SourceUnavailableError(f"no answer from {self._host}: {error.reason}") from None

    def _check(self, reply: Reply, path: str) -> None:
        """Raises what a status other than 200 means."""
        status = reply.status
        retry_after = retry_after_ms(reply.headers, self._clock())
        is_wall = any(name in reply.headers for name in _WALL_HEADERS)
        if status == 200 and not is_wall:
            return
        if status in (401, 403, 429, 451) or is_wall or (status >= 500 and looks_blocked(reply.content)):
            raise SourceBlockedError(f"{self._host} answered {status}", retry_after)
        if status >= 500 or status == 408:
            raise SourceUnavailableError(f"{self._host} answered {status}", retry_after)
        raise SearchError(f"{self._host} answered {status} for {path}")

    def _target(self, reply: Reply, url: str) -> str:
        """Where a redirect leads, on our base URL where it names the public host."""
        try:
            target = urljoin(url, reply.headers.get("location", ""))
            is_public = _origin(target) == _origin(PUBLIC_BASE)
        except ValueError:
            raise SearchError("a redirect that leads nowhere") from None
        return self._settings.base_url + target[len(PUBLIC_BASE) :] if is_public else target

    def _redirected(self, reply: Reply, url: str, query: Query) -> None:
        """A search may move to another address of the same query; anything else is not what was asked for."""
        target = self._target(reply, url)
        self._refuse_wall(target)
        try:
            is_same = self.parse_url(target) == query
        except BadInputError:
            is_same = False
        if not is_same:
            raise SearchError(f"{query.path} redirects to another page")

    def _refuse_wall(self, target: str) -> None:
        parts = urlsplit(target)
        if _origin(target) == self._origin and parts.path.startswith("/iad/"):
            return  # an ordinary page, whatever words a seller put into its address
        if _WALL_PATHS.search(f"{parts.netloc}{parts.path}"):
            raise SourceBlockedError(f"{self._host} redirects to a block page")


def user_agent(contact: str) -> str:
    """Lago's honest name, with how to reach whoever runs it where that is known."""
    return f"Lago/{__version__}" + (f" (+{contact})" if contact else "")


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _is_redirect(reply: Reply) -> bool:
    return reply.status in (301, 302, 303, 307, 308) and "location" in reply.headers


def _at(target: str, query: Query) -> Query:
    return Query(source=query.source, path=urlsplit(target).path, params=query.params)
