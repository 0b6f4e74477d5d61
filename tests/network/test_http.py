"""The client against real sockets: what the unit tests pretend is what httpcore really does."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from lago.http import HttpClient, HttpSettings, NoAnswerError, NotSentError

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
SETTINGS = HttpSettings(connect_seconds=2, read_seconds=0.5)


class Server:
    """Answers with "ok" while `answers` lasts; what it then does to a request is `then`: silence, hang up or reset."""

    def __init__(self, *, answers: int, then: str, hangs_up_idle: bool = False) -> None:
        self._answers, self._then, self._hangs_up_idle = answers, then, hangs_up_idle
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/bot:SECRET/x"
        self.requests = 0
        self.connections = 0
        self.hung_up = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            served = 0
            while request := connection.recv(65_536):
                self.requests += request.startswith((b"GET", b"POST"))
                if served < self._answers:
                    connection.sendall(OK)
                    served += 1
                    if self._hangs_up_idle:
                        break
                elif self._then == "reset":
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    break
                elif self._then == "hang up":
                    break
        self.hung_up.set()


@contextmanager
def talking(
    *, answers: int = 1, then: str = "silence", hangs_up_idle: bool = False
) -> Iterator[tuple[HttpClient, Server]]:
    server = Server(answers=answers, then=then, hangs_up_idle=hangs_up_idle)
    client = HttpClient(SETTINGS)
    try:
        yield client, server
    finally:
        client.close()
        server.close()


def test_a_connection_is_kept_and_said_to_be_reused() -> None:
    with talking(answers=3) as (client, server):
        assert [client.get(server.url, label="test").reused for _ in range(3)] == [False, True, True]
        assert server.connections == 1


def test_a_connection_that_was_hung_up_while_frozen_is_replaced_even_for_a_post() -> None:
    with talking(hangs_up_idle=True) as (client, server):
        client.get(server.url, label="test")
        assert server.hung_up.wait(2)

        reply = client.post(server.url, label="test", content=b"{}")

        assert (reply.status, reply.reused) == (200, False)


@pytest.mark.parametrize("then", ["hang up", "reset"])
def test_a_get_whose_kept_connection_breaks_is_sent_again_on_a_fresh_one(then: str) -> None:
    with talking(then=then) as (client, server):
        client.get(server.url, label="test")

        reply = client.get(server.url, label="test")

        assert (reply.status, reply.reused) == (200, False)
        assert server.requests == 3


@pytest.mark.parametrize("then", ["hang up", "reset"])
def test_a_post_whose_kept_connection_breaks_is_ambiguous_and_sent_once(then: str) -> None:
    with talking(then=then) as (client, server):
        client.get(server.url, label="test")

        with pytest.raises(NoAnswerError) as caught:
            client.post(server.url, label="test", content=b"{}")

        assert server.requests == 2
        assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("then", ["silence", "hang up", "reset"])
def test_no_answer_on_a_fresh_connection_is_final(then: str) -> None:
    with talking(answers=0, then=then) as (client, server):
        with pytest.raises(NoAnswerError):
            client.get(server.url, label="test")
        assert server.requests == 1


def test_a_refused_connection_was_not_sent() -> None:
    with talking() as (client, server):
        server.close()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]

        with pytest.raises(NotSentError):
            client.post(f"http://127.0.0.1:{port}/", label="test", content=b"{}")


@pytest.mark.parametrize("endless", [b"HTTP/1.1 100 Continue\r\n\r\n", b"x"], ids=["100 continue", "a header by bytes"])
def test_an_answer_that_never_begins_ends_with_the_time_for_all_of_it(endless: bytes) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            while not over.wait(0.02):
                connection.sendall(endless)

    threading.Thread(target=drip, daemon=True).start()
    client = HttpClient(HttpSettings(read_seconds=0.4, total_seconds=0.6))

    with pytest.raises(NoAnswerError, match="ReadTimeout"):
        client.post(f"http://127.0.0.1:{listener.getsockname()[1]}/", label="test", content=b"{}")

    over.set()
    client.close()
    listener.close()
