"""HTTP to hosts that people name: a name is looked up once, checked, and connected to by that very address.

TLS still greets and checks the name (httpcore does that with the URL's host), so a name that resolves to something
public while it is checked and to something private a moment later ("DNS rebinding") gains nothing. One private address
among several is enough to be refused. All of it, from the look-up to the last byte of the answer, has one deadline:
httpcore's time-outs bound each wait, and a far side could drip its headers for hours.
"""

import ssl
import time
from collections.abc import Callable, Iterable, Sequence

import httpcore

from lago.domain.ids import Milliseconds
from lago.host_names import Resolve, resolve, resolve_within
from lago.http import ForbiddenTargetError, Guard, HttpClient, HttpSettings, NotSentError, Observer
from lago.http_deadline import BoundedStream, Deadline
from lago.http_guard import NONE_TRUSTED, Origin, Trusted, is_public, refusal

GUARDED = HttpSettings(connect_seconds=3, read_seconds=5, total_seconds=7, max_connections=8, max_bytes=64 * 1024)
LONGEST_REQUEST = Milliseconds(int(1000 * (GUARDED.read_seconds + GUARDED.total_seconds)))
"""Waiting for a connection to be free, which ends as a read does, and then the deadline."""

_DEFAULT_PORTS = {"http": 80, "https": 443}


def guarded_client(
    settings: HttpSettings = GUARDED,
    trusted: Trusted = NONE_TRUSTED,
    *,
    observer: Observer = lambda _: None,
    ssl_context: ssl.SSLContext | None = None,
) -> HttpClient:
    """A client for URLs that people give. Its requests raise ForbiddenTargetError for what `http_guard` refuses."""
    return HttpClient(settings, guard=GuardedBackend(settings, trusted), ssl_context=ssl_context, observer=observer)


class GuardedBackend(Guard):
    """Connects to public addresses and `trusted` origins only. `clock` returns seconds and never goes back."""

    def __init__(
        self,
        settings: HttpSettings,
        trusted: Trusted = NONE_TRUSTED,
        *,
        resolve: Resolve = resolve,
        network: httpcore.NetworkBackend | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._trusted, self._resolve, self._clock = settings, trusted, resolve, clock
        self._network = network or httpcore.SyncBackend()
        self._trusted_places = {(origin.host, origin.port) for origin in trusted}

    def check(self, scheme: str, host: str, port: int | None, *, credentials: bool) -> None:
        """See Guard."""
        origin = Origin(scheme, host, port or _DEFAULT_PORTS.get(scheme, 0))
        if credentials:
            raise ForbiddenTargetError(host, "forbidden target: expected a URL without a user name or password")
        if wrong := refusal(origin, self._trusted):
            raise ForbiddenTargetError(host, f"forbidden target: expected {wrong}")

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """To the first address of `host` that answers. Raises NotSentError, and httpcore's errors as any backend."""
        began = self._clock()
        connect = Deadline(began + self._settings.connect_seconds, self._clock)
        addresses = self._addresses(host, port, connect)
        failure: Exception = NotSentError(host, "the host name has no address")
        for address in addresses:
            try:
                stream = self._network.connect_tcp(
                    address, port, connect.left(timeout, httpcore.ConnectTimeout), local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _CheckedStream(stream, Deadline(began + self._settings.total_seconds, self._clock).left)
        raise failure

    def _addresses(self, host: str, port: int, deadline: Deadline) -> Sequence[str]:
        try:
            addresses = resolve_within(deadline.left(None, httpcore.ConnectTimeout), host, port, self._resolve)
        except OSError as error:
            raise NotSentError(host, "the host name cannot be resolved") from error
        if (host, port) not in self._trusted_places and not all(map(is_public, addresses)):
            raise ForbiddenTargetError(host, "forbidden target: the host name leads to an address that is not public")
        return addresses


class _CheckedStream(BoundedStream):
    """Says why a certificate does not hold: a person can mend that."""

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            return super().start_tls(ssl_context, server_hostname, timeout)
        except httpcore.ConnectError as error:
            if isinstance(error.__cause__, ssl.SSLCertVerificationError):
                reason = f"the certificate is not good ({error.__cause__.verify_message})"
                raise NotSentError(server_hostname or "", reason) from error
            raise
