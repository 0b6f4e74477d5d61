"""What keeping the connection saves: one client per process against a new client for every request.

`make bench-reuse`. A TLS server on loopback (certificate by `trustme`, made when it starts) behaves as if it were
20 ms away: it waits two round trips before the TLS handshake of a new connection (TCP, then TLS 1.3) and one before
each answer. Warm invocations are a minute apart: not by waiting, but by moving the clock that httpcore's keep-alive
expiry reads. Exits with 1 when the shared client saves less than 40 %.
"""

import socket
import ssl
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import httpcore._sync.http11 as kept_connections
import httpx
import trustme

from lago.http import HttpClient, HttpSettings

ROUND_TRIP_SECONDS = 0.020
INVOCATIONS = 12
REQUESTS_EACH = 2
MINUTE_SECONDS = 60.0
LEAST_SAVING = 0.40
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Server:
    """Answers every request with "ok", late. `hangs_up` ends a connection after each invocation's requests."""

    def __init__(self, *, hangs_up: bool = False) -> None:
        authority = trustme.CA()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost").configure_cert(self._context)
        self._authority = authority
        self._hangs_up = hangs_up
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"https://localhost:{self._listener.getsockname()[1]}/"

    def trust(self) -> ssl.SSLContext:
        """A client's context, as expensive as the default one: it loads the usual roots too."""
        context = httpx.create_ssl_context()
        self._authority.configure_trust(context)
        return context

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        time.sleep(2 * ROUND_TRIP_SECONDS)
        try:
            with self._context.wrap_socket(connection, server_side=True) as stream:
                served = 0
                while not (self._hangs_up and served == REQUESTS_EACH):
                    request = b""
                    while not request.endswith(b"\r\n\r\n"):
                        received = stream.recv(65_536)
                        if not received:
                            return
                        request += received
                    time.sleep(ROUND_TRIP_SECONDS)
                    stream.sendall(ANSWER)
                    served += 1
        except OSError:
            return


class MovableTime:
    """Stands where httpcore's connections find the `time` module; `ahead` is how far its clock is ahead."""

    ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@contextmanager
def movable_time() -> Iterator[MovableTime]:
    """Lets minutes pass for kept connections."""
    movable = MovableTime()
    with patch.object(kept_connections, "time", movable):
        yield movable


def measure(get: Callable[[], object]) -> list[float]:
    """Milliseconds of each request, over warm invocations a minute apart."""
    spent = []
    with movable_time() as clock:
        for _ in range(INVOCATIONS):
            for _ in range(REQUESTS_EACH):
                started = time.perf_counter()
                get()
                spent.append((time.perf_counter() - started) * 1000)
            clock.ahead += MINUTE_SECONDS
    return spent


def new_client_each(server: Server) -> list[float]:
    """As the ancestor did: client and context made for one request and thrown away."""

    def get() -> None:
        with httpx.Client(verify=server.trust(), trust_env=False) as client:
            client.get(server.url).raise_for_status()

    return measure(get)


def new_client_shared_context(server: Server) -> list[float]:
    """The same with the context kept: what remains is the handshake."""
    context = server.trust()

    def get() -> None:
        with httpx.Client(verify=context, trust_env=False) as client:
            client.get(server.url).raise_for_status()

    return measure(get)


def shared_with_default_expiry(server: Server) -> list[float]:
    """One client, but httpx's 5 s: nothing is reused from one minute to the next."""
    return shared(server, HttpSettings(keepalive_seconds=5))


def shared_as_lago_does(server: Server) -> list[float]:
    """One client whose connections outlive the schedule's interval."""
    return shared(server, HttpSettings())


def shared(server: Server, settings: HttpSettings) -> list[float]:
    client = HttpClient(settings, ssl_context=server.trust())
    try:
        return measure(lambda: client.get(server.url, label="bench"))
    finally:
        client.close()


def main() -> int:
    """Print the figures; 0 when the saving is large enough."""
    print(
        f"{INVOCATIONS} invocations a minute apart (httpcore's clock is moved, nobody waits), {REQUESTS_EACH} requests "
        f"each;\nTLS server {ROUND_TRIP_SECONDS * 1000:.0f} ms away: two round trips to connect, one to answer\n"
    )
    ways = (
        ("new client per request", new_client_each, False),
        ("new client, context kept", new_client_shared_context, False),
        ("shared client, httpx's 5 s expiry", shared_with_default_expiry, False),
        ("shared client, Lago's settings", shared_as_lago_does, False),
        ("  … when the server hung up", shared_as_lago_does, True),
    )
    means: list[float] = []
    print(f"{'':<36}{'mean':>9}{'median':>9}{'slowest':>9}{'saved':>8}{'connections':>13}")
    for title, way, hangs_up in ways:
        server = Server(hangs_up=hangs_up)
        spent = way(server)
        server.close()
        means.append(statistics.mean(spent))
        saved = 1 - means[-1] / means[0]
        print(
            f"{title:<36}{means[-1]:>6.1f} ms{statistics.median(spent):>6.1f} ms{max(spent):>6.1f} ms"
            f"{saved:>7.0%}{server.connections:>10} of {len(spent)}"
        )
    # Against the way that keeps its context: the stricter of the two comparisons decides.
    saving = 1 - means[3] / means[1]
    print(f"\nreuse alone saves {saving:.0%} (at least {LEAST_SAVING:.0%} wanted)")
    return 0 if saving >= LEAST_SAVING else 1


if __name__ == "__main__":
    sys.exit(main())
