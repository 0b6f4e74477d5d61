"""HTTP as Lago speaks it: the one place that imports httpx.

One `HttpClient` per process, kept over warm invocations, so that TLS is shaken hands on once and not once a minute.
Threads, not asyncio: a module-global AsyncClient dies with its event loop on the second warm invocation (httpx#2473).

TransportError              no whole answer came; `reason` names no URL, so a token in one cannot leak
├── NotSentError            the request never left: trying again is safe
└── NoAnswerError           it may have been acted upon: only its sender knows whether to try again
    ├── TooSlowError            an answer began, but took too long
    └── UnreadableAnswerError   an answer came but was too large, encoded in an unknown way, or broken
"""

import atexit
import logging
import signal
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import FrameType
from typing import Any, Literal

import httpx
from msgspec import Struct

from lago.errors import LagoError, SettingError

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
_ENCODINGS = ("", "identity", "gzip", "deflate")
"""One layer of compression only: layers on layers make a bomb of a few bytes."""
_CLOSE_SECONDS = 0.5


class HttpSettings(Struct, frozen=True, kw_only=True):
    """Limits and time-outs.

    `read_seconds` bounds each wait for bytes, `total_seconds` the whole answer (checked as its body arrives).
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


class TransportError(LagoError):
    """No whole answer came. `reason` is for health, rows and logs: it holds neither URL nor content."""

    def __init__(self, host: str, reason: str) -> None:
        """`reason` says what happened, such as ReadTimeout."""
        self.host, self.reason = host, reason
        super().__init__(f"{host}: {reason}")


class NotSentError(TransportError):
    """The request never left this machine whole: no connection could be had."""


class NoAnswerError(TransportError):
    """The request left, and what became of it is unknown."""


class UnreadableAnswerError(NoAnswerError):
    """An answer began, but was too large or could not be decompressed."""


class TooSlowError(NoAnswerError):
    """An answer began, but took longer than `total_seconds`."""


class HttpClient:
    """A keep-alive pool with Lago's manners: no cookies, no proxies, no redirects, nothing read without bounds.

    Thread-safe. `transport` stands in for the network in tests; `clock` returns seconds and never goes back.
    """

    def __init__(
        self,
        settings: HttpSettings,
        *,
        transport: httpx.BaseTransport | None = None,
        ssl_context: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._clock = settings, clock
        if ssl_context is None and transport is None:
            # Made once and shared by all connections: it costs 42 ms, most of what making a client costs.
            ssl_context = httpx.create_ssl_context()
        self._client = httpx.Client(
            transport=transport,
            verify=ssl_context or True,
            timeout=httpx.Timeout(settings.read_seconds, connect=settings.connect_seconds),
            limits=httpx.Limits(
                max_connections=settings.max_connections,
                max_keepalive_connections=settings.max_connections,
                keepalive_expiry=settings.keepalive_seconds,
            ),
            # An empty list of allowed domains: httpx keeps cookies by default, this jar takes none.
            cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
            headers={"accept-encoding": "gzip, deflate"},
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
        host, status, size, failure = "", None, 0, ""
        try:
            request = self._client.build_request(
                method, url, headers=headers, content=content, extensions={"trace": trace}
            )
            host = request.url.host
            response = self._client.send(request, stream=True)
            try:
                status = response.status_code
                body = self._read(response, host, started)
                size = response.num_bytes_downloaded
            finally:
                response.close()
            return Reply(
                status=status,
                headers=dict(response.headers),
                content=body,
                ms=round((self._clock() - started) * 1000),
                reused=trace.reused,
            )
        except (TooSlowError, UnreadableAnswerError) as error:
            failure = error.reason
            raise
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            failure = type(error).__name__
            raise _translated(error, host, before_answer=status is None, reused=trace.reused) from None
        finally:
            # The host is known, the rest of the URL is not said: it may hold a token or what a person looks for.
            _log.log(
                logging.WARNING if failure else logging.INFO,
                "request",
                extra={
                    "host": host,
                    "label": label,
                    "status": status,
                    "ms": round((self._clock() - started) * 1000),
                    "bytes": size,
                    "reused": trace.reused,
                    "error": failure,
                },
            )

    def _read(self, response: httpx.Response, host: str, started: float) -> bytes:
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            raise UnreadableAnswerError(host, "content encoding not understood")
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > self._settings.max_bytes:
                raise UnreadableAnswerError(host, f"answer larger than {self._settings.max_bytes} bytes")
            if self._clock() - started > self._settings.total_seconds:
                raise TooSlowError(host, f"answer took longer than {self._settings.total_seconds:g} s")
        return bytes(body)


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


def _translated(error: Exception, host: str, *, before_answer: bool, reused: bool) -> TransportError:
    reason = type(error).__name__
    if isinstance(error, (*_NOT_SENT, httpx.InvalidURL)):
        return NotSentError(host, reason)
    if isinstance(error, httpx.DecodingError):
        return UnreadableAnswerError(host, reason)
    if before_answer and reused and isinstance(error, _STALE):
        return _StaleConnectionError(host, reason)
    return NoAnswerError(host, reason)


_lock = threading.Lock()
_shared: HttpClient | None = None


def client(settings: HttpSettings) -> HttpClient:
    """The process's client, made at the first call and after a close; later settings change nothing."""
    global _shared  # noqa: PLW0603 (one per process is the point)
    with _lock:
        if _shared is None or _shared.closed:
            _shared = HttpClient(settings)
        return _shared


def close() -> None:
    """Close the process's client, if there is one."""
    global _shared
    open_client, _shared = _shared, None
    if open_client is not None:
        open_client.close()


def close_on_shutdown() -> None:
    """Close the client when the process ends: at exit, and at SIGTERM, after which the previous handler runs.

    Lambda sends SIGTERM to a runtime only when an extension is registered (Lambda's "Extensions API", shutdown phase);
    without one the sandbox just ends. Call it from the main thread at import; elsewhere only the exit hook is set.
    """
    atexit.register(close)
    if threading.current_thread() is not threading.main_thread():
        return
    previous = signal.getsignal(signal.SIGTERM)

    def handle(number: int, frame: FrameType | None) -> None:
        # In a thread, with a bound: the signal may have come while this thread held the pool's lock.
        closing = threading.Thread(target=close, daemon=True)
        closing.start()
        closing.join(_CLOSE_SECONDS)
        if callable(previous):
            previous(number, frame)
        elif previous is not signal.SIG_IGN:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.raise_signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, handle)
