"""Time limits on a connection that hold however busy the far side seems.

httpcore's time-outs bound each wait for bytes. A far side that drips its headers, or says "100 Continue" without end,
would hold a thread for hours, and with it a mailbox whose lease ends meanwhile.
"""

import math
import ssl
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpcore

from lago.host_names import Resolve, resolve, resolve_within

Left = Callable[[float | None, type[Exception]], float]
"""The seconds left, or the time-out given if that is less. Raises the error given when none are."""

_TLS_RECORD = 16_384


class Deadline:
    """One moment. `clock` returns seconds and never goes back."""

    def __init__(self, at: float, clock: Callable[[], float]) -> None:
        self._at, self._clock = at, clock

    def left(self, timeout: float | None, error: type[Exception]) -> float:
        """See `Left`."""
        left = self._at - self._clock()
        if left <= 0:
            raise error("no time left")
        return left if timeout is None else min(timeout, left)


class ThreadDeadline(threading.local):
    """When what this thread asks for has to be over: a kept connection serves one thread after another."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._deadline = Deadline(math.inf, clock)

    def begin(self, at: float) -> None:
        """A request begins in this thread."""
        self._deadline = Deadline(at, self._clock)

    def left(self, timeout: float | None, error: type[Exception]) -> float:
        """See `Left`."""
        return self._deadline.left(timeout, error)


class BoundedNetwork(httpcore.NetworkBackend):
    """httpcore's own network, within what is `left`: the look-up of the name, each address, and all of it."""

    def __init__(self, left: Left, *, resolve: Resolve = resolve) -> None:
        self._left, self._resolve = left, resolve
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """To the first address that answers; as any backend does, with httpcore's errors."""
        failure: Exception = httpcore.ConnectError("the host name has no address")
        for address in self._addresses(host, port, self._left(timeout, httpcore.ConnectTimeout)):
            left = self._left(timeout, httpcore.ConnectTimeout)
            try:
                stream = self._network.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return BoundedStream(stream, self._left)
        raise failure

    def _addresses(self, host: str, port: int, seconds: float) -> Sequence[str]:
        try:
            return resolve_within(seconds, host, port, self._resolve)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error


class BoundedStream(httpcore.NetworkStream):
    """A stream whose every step ends within what is `left`."""

    def __init__(self, stream: httpcore.NetworkStream, left: Left) -> None:
        self._stream, self._left = stream, left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What arrives next."""
        return self._stream.read(max_bytes, self._left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """All of it, by records: the time-out bounds each, so that a reader who drains byte by byte cannot hold us."""
        for start in range(0, len(buffer), _TLS_RECORD):
            self._stream.write(buffer[start : start + _TLS_RECORD], self._left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        """End it."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """The same stream, encrypted."""
        left = self._left(timeout, httpcore.ConnectTimeout)
        return BoundedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._left)

    def get_extra_info(self, info: str) -> Any:
        """What httpcore asks of a stream."""
        return self._stream.get_extra_info(info)
