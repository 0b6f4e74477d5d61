"""A network for an `HttpClient` under test: answers from a script, keeps connections as httpcore's pool would."""

from collections.abc import Callable, Sequence
from typing import Any

import httpx

Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


def page(status: int = 200, content: bytes = b"ok", **headers: str) -> httpx.Response:
    """An answer; `_` in a header's name stands for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, content=content, headers=named)


class FakeNetwork(httpx.BaseTransport):
    """Gives `answers` in turn. A connection is made when none is kept, and is lost by an exception.

    `kept` is how many connections, alive or dead, the pool holds already.
    """

    def __init__(self, *answers: Answer, kept: int = 0) -> None:
        self.answers = list(answers)
        self.kept = kept
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        trace: Callable[[str, dict[str, Any]], None] = request.extensions["trace"]
        if self.kept:
            self.kept -= 1
        else:
            trace("connection.connect_tcp.started", {})
            if isinstance(answer, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)):
                raise answer
            trace("connection.connect_tcp.complete", {})
        trace("http11.send_request_headers.started", {})
        if isinstance(answer, Exception):
            raise answer
        self.kept += 1
        return answer if isinstance(answer, httpx.Response) else answer(request)

    @property
    def urls(self) -> Sequence[str]:
        return [str(request.url) for request in self.requests]
