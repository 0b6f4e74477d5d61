"""HTTP as Lago speaks it: the one place that imports httpx.

One `HttpClient` per process (`http_shared`), kept over warm invocations, so that TLS is shaken hands on once and not
once a minute. Threads, not asyncio: a module-global AsyncClient dies with its event loop on the second warm invocation
(httpx#2473).

TransportError              no whole answer came; `reason` names no URL, so a token in one cannot leak
├── NotSentError            the request never left: trying again is safe
│   └── ForbiddenTargetError    the URL points where none that a person gives may point
└── NoAnswerError           it may have been acted upon: only its sender knows whether to try again
    ├── TooSlowError            an answer began, but took too long
    └── UnreadableAnswerError   an answer came but was too large, encoded in an unknown way, or broken
"""

import logging
import ssl
import time
import zlib
from collections.abc import Callable, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Literal

import httpcore
import httpx
from msgspec import Struct
from msgspec.structs import asdict, replace

from lago.errors import LagoError, SettingError
from lago.http_deadline import BoundedNetwork, ThreadDeadline

_log = logging.getLogger("lago.http")
# httpx and httpcore log whole URLs, and a Telegram URL holds the bot token: they never get to speak below an error.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.ERROR)

_STALE = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
"""How a connection that died while the function was frozen shows itself; httpx's own retries do not cover these."""
_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)
_ENCODINGS = ("", "identity", "gzip")
"""One layer of compression only: layers on layers make a bomb of a few bytes."""
_GZIP = 16 + zlib.MAX_WBITS


class HttpSettings(Struct, frozen=True, kw_only=True):
    """Limits and time-outs.

    `read_seconds` bounds each wait for bytes, `total_seconds` the whole request.
    `keepalive_seconds` must be longer than the schedule's interval: httpx's default of 5 s would reuse nothing from
    one minute to the next. `max_bytes` bounds an answer after decompression.
    """

    connect_seconds: float = 5.0
    read_seconds: float = 10.0
    total_seconds: float = 20.0
    keepalive_seconds: float = 300.0
    max_connections: int = 4
    max_bytes: int = 8 * 1024 * 1024

    def __post_init__(self) -> None:
        """Raises SettingError for a limit that would let nothing through."""
        for name in self.__struct_fields__:
            if not 0 < getattr(self, name) < 2**31:
                msg = f"{name} must be above 0, got {getattr(self, name)!r}"
                raise SettingError(msg)


class Reply(Struct, frozen=True, kw_only=True):
    """An answer, read to its end. `headers` has lower-case names, `ms` is the time it took, `reused` its connection."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    ms: int
    reused: bool


class Exchange(Struct, frozen=True, kw_only=True):
    """How one request went, for log and metrics: the host is known, the rest of the URL is not said.

    It may hold a token or what a person looks for. `label` stands for it; `status` is None without an answer, `error`
    says why; `bytes` came over the wire, in `ms` milliseconds.
    """

    host: str
    label: str
    status: int | None
    ms: int
    bytes: int
    reused: bool
    error: str


Observer = Callable[[Exchange], None]


class TransportError(LagoError):
    """No whole answer came. `reason` is for health, rows and logs: it holds neither URL nor content."""

    def __init__(self, host: str, reason: str) -> None:
        """`reason` says what happened, such as ReadTimeout."""
        self.host, self.reason = host, reason
        super().__init__(f"{host}: {reason}")


class NotSentError(TransportError):
    """The request never left this machine whole: no connection could be had."""


class ForbiddenTargetError(NotSentError):
    """Refused before anything was sent: the URL leads inside, or is not of a kind that may be asked (`Guard`)."""


class NoAnswerError(TransportError):
    """The request left, and what became of it is unknown.

    `begun` is the answer's status and headers, when these came and only its content did not.
    """

    def __init__(self, host: str, reason: str, begun: Reply | None = None) -> None:
        self.begun = begun
        super().__init__(host, reason)


class UnreadableAnswerError(NoAnswerError):
    """An answer began, but was too large or could not be decompressed."""


class TooSlowError(NoAnswerError):
    """An answer began, but took longer than `total_seconds`."""


class Guard(httpcore.NetworkBackend):
    """Makes the connections of a client whose URLs are given by people, and says which may be asked at all."""

    def check(self, scheme: str, host: str, port: int | None, *, credentials: bool) -> None:
        """Before a connection is sought. `port` is None for the scheme's own. Raises ForbiddenTargetError."""
        raise NotImplementedError


class HttpClient:
    """A keep-alive pool with Lago's manners: no cookies, no proxies, no redirects, nothing read without bounds.

    Thread-safe. `transport` stands in for the network in tests; `clock` returns seconds and never goes back. `observer`
    hears of each request when it is over, in the thread that made it. With a `guard` (`http_backend.guarded_client`)
    no connection is kept: each request is checked and connects anew.
    """

    def __init__(
        self,
        settings: HttpSettings,
        *,
        transport: httpx.BaseTransport | None = None,
        guard: Guard | None = None,
        ssl_context: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
        observer: Observer = lambda _: None,
    ) -> None:
        self._settings, self._clock, self._observer = settings, clock, observer
        if ssl_context is None and transport is None:
            # Made once and shared by all connections: it costs 42 ms, most of what making a client costs.
            ssl_context = httpx.create_ssl_context()
        self._deadline = ThreadDeadline(clock)
        if transport is None:
            transport = _Transport(settings, ssl_context, guard, BoundedNetwork(self._deadline.left))
        self._client = httpx.Client(
            transport=transport,
            verify=ssl_context or True,
            timeout=httpx.Timeout(settings.read_seconds, connect=settings.connect_seconds),
            # An empty list of allowed domains: httpx keeps cookies by default, this jar takes none.
            cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
            headers={"accept-encoding": "gzip"},
            follow_redirects=False,
            trust_env=False,
        )

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._client.is_closed

    def close(self) -> None:
        """End all connections. Safe to call twice."""
        self._client.close()

    def get(self, url: str, *, label: str, headers: Mapping[str, str] | None = None) -> Reply:
        """Read `url`. `label` stands for it in the log. Raises TransportError.

        A GET on a connection that died while the function was frozen is sent again: each dead connection leaves the
        pool, so that this ends at a fresh one, whose failure is final.
        """
        for _ in range(self._settings.max_connections):
            try:
                return self._once("GET", url, label=label, headers=headers)
            except _StaleConnectionError:
                continue
        return self._once("GET", url, label=label, headers=headers)

    def post(self, url: str, *, label: str, content: bytes, headers: Mapping[str, str] | None = None) -> Reply:
        """Send `content` once. `label` stands for the URL in the log. Raises TransportError.

        Never sent again by itself: NotSentError and NoAnswerError tell the caller what is known.
        """
        return self._once("POST", url, label=label, headers=headers, content=content)

    def _once(
        self,
        method: Literal["GET", "POST"],
        url: str,
        *,
        label: str,
        headers: Mapping[str, str] | None,
        content: bytes | None = None,
    ) -> Reply:
        trace = _Trace()
        started = self._clock()
        self._deadline.begin(started + self._settings.total_seconds)
        host, size, failure = "", 0, ""
        begun: Reply | None = None
        try:
            request = self._client.build_request(
                method, url, headers=headers, content=content, extensions={"trace": trace}
            )
            host = request.url.host
            response = self._client.send(request, stream=True)
            try:
                begun = Reply(
                    status=response.status_code,
                    headers=dict(response.headers),
                    content=b"",
                    ms=self._since(started),
                    reused=trace.reused,
                )
                body, size = self._read(response, begun, host, started)
            finally:
                response.close()
            return replace(begun, content=body, ms=self._since(started))
        except TransportError as error:
            failure = error.reason
            raise
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            failure = type(error).__name__
            raise _translated(error, host, begun=begun, reused=trace.reused) from None
        finally:
            exchange = Exchange(
                host=host,
                label=label,
                status=begun.status if begun else None,
                ms=self._since(started),
                bytes=size,
                reused=trace.reused,
                error=failure,
            )
            _log.log(logging.WARNING if failure else logging.INFO, "request", extra=asdict(exchange))
            self._observer(exchange)

    def _since(self, started: float) -> int:
        return round((self._clock() - started) * 1000)

    def _read(self, response: httpx.Response, begun: Reply, host: str, started: float) -> tuple[bytes, int]:
        """The content, and how many bytes of it came over the wire.

        Unpacked here and not by httpx, which makes 64 MB of a 64 KB piece before anybody can count them.
        """
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            raise UnreadableAnswerError(host, "content encoding not understood", begun)
        packed = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
        most = self._settings.max_bytes
        body, size = bytearray(), 0
        assert isinstance(response.stream, httpx.SyncByteStream)  # noqa: S101 - of a client that is not async
        for piece in response.stream:
            size += len(piece)
            try:
                body += packed.decompress(piece, most + 1 - len(body)) if packed else piece
            except zlib.error:
                raise UnreadableAnswerError(host, "broken compression", begun) from None
            if len(body) > most:
                raise UnreadableAnswerError(host, f"answer larger than {most} bytes", begun)
            if self._clock() - started > self._settings.total_seconds:
                raise TooSlowError(host, f"answer took longer than {self._settings.total_seconds:g} s", begun)
        return bytes(body), size


class _Transport(httpx.HTTPTransport):
    """httpx's own transport over a pool whose connections `guard` or `network` makes: httpx has no place for that.

    With a guard no connection is kept.
    """

    def __init__(
        self,
        settings: HttpSettings,
        ssl_context: ssl.SSLContext | None,
        guard: Guard | None,
        network: httpcore.NetworkBackend,
    ) -> None:
        super().__init__(verify=ssl_context or True, trust_env=False)
        self._guard = guard
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl_context,
            max_connections=settings.max_connections,
            max_keepalive_connections=settings.max_connections if guard is None else 0,
            keepalive_expiry=settings.keepalive_seconds,
            network_backend=guard or network,
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if self._guard is not None:
            self._guard.check(url.scheme, url.raw_host.decode("ascii"), url.port, credentials=bool(url.userinfo))
        return super().handle_request(request)


class _StaleConnectionError(NoAnswerError):
    """A reused connection broke before any answer."""


class _Trace:
    """Told by httpcore what it does: a request that connects nothing goes over a connection from the pool."""

    def __init__(self) -> None:
        self._events = 0
        self._connected = False

    def __call__(self, event: str, _info: dict[str, Any]) -> None:
        self._events += 1
        if event.startswith("connection.connect_"):
            self._connected = True

    @property
    def reused(self) -> bool:
        return self._events > 0 and not self._connected


def _translated(error: Exception, host: str, *, begun: Reply | None, reused: bool) -> TransportError:
    reason = type(error).__name__
    if isinstance(error, (*_NOT_SENT, httpx.InvalidURL)):
        return NotSentError(host, reason)
    if begun is None and reused and isinstance(error, _STALE):
        return _StaleConnectionError(host, reason)
    return NoAnswerError(host, reason, begun)
