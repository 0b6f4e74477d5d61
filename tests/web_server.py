"""A small web server on loopback that answers from a script, and misbehaves as told."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from msgspec import Struct

LONGEST = 5.0
"""Seconds after which a misbehaviour ends, should nobody have hung up."""


class Answer(Struct, frozen=True, kw_only=True):
    """What to say. `then` is how it goes wrong: no answer, hung up before one, a body or a head without end."""

    status: int = 200
    headers: dict[str, str] = {}
    body: bytes = b""
    then: Literal["", "hang", "drop", "truncate", "endless", "drip"] = ""


class Request(Struct, frozen=True, kw_only=True):
    path: str
    headers: dict[str, str]
    body: bytes


class WebServer:
    """Gives `answers` in turn, and the last of them for ever."""

    def __init__(self, *answers: Answer, ssl_context: ssl.SSLContext | None = None) -> None:
        self.answers = list(answers) or [Answer()]
        self.requests: list[Request] = []
        self.stopped = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign] # clients that hang up are expected
        if ssl_context:
            # In the handler's thread: a handshake that fails must not stop the rest.
            self._server.socket = ssl_context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = self._server.server_address[1]
        self.origin = f"{'https' if ssl_context else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=lambda: self._server.serve_forever(poll_interval=0.02), daemon=True).start()

    def close(self) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def next_answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serving(*answers: Answer, ssl_context: ssl.SSLContext | None = None) -> Iterator[WebServer]:
    server = WebServer(*answers, ssl_context=ssl_context)
    try:
        yield server
    finally:
        server.close()


def _handler(web: WebServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            web.requests.append(Request(path=self.path, headers=headers, body=body))
            answer = web.next_answer()
            if answer.then == "hang":
                web.stopped.wait(LONGEST)
            elif answer.then == "drip":
                self._drip()
            elif answer.then != "drop":
                self._answer(answer)

        def _answer(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            more = {"": 0, "truncate": 10, "endless": 1 << 30}[answer.then]
            self.send_header("content-length", str(len(answer.body) + more))
            self.end_headers()
            self.wfile.write(answer.body)
            while answer.then == "endless" and not web.stopped.is_set():
                self.wfile.write(b"x" * 8_192)

        def _drip(self) -> None:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nx-drip: ")
            while not web.stopped.wait(0.05):
                self.wfile.write(b"x")

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
