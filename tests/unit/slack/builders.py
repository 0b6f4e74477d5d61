"""A far side that posts are sent to, and the channel before it."""

import json
from collections.abc import Callable
from typing import Any

import httpx

from lago.channels.slack.channel import SlackChannel
from lago.domain.ids import DestinationId, OwnerId
from lago.domain.notification import Destination
from lago.http import HttpClient, HttpSettings
from tests.unit.telegram.builders import FakeTime

URL = "https://hooks.slack.com/services/T0AAA/B0BBB/abcdefgh12345678"


def ok() -> httpx.Response:
    return httpx.Response(200, text="ok")


class FakeHook:
    """Answers in the given order, and remembers what it was posted. An exception stands for a broken connection."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.urls: list[str] = []
        self.headers: list[httpx.Headers] = []
        self.payloads: list[dict[str, Any]] = []
        self.before_answer: Callable[[], object] = lambda: None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.urls.append(str(request.url))
        self.headers.append(request.headers)
        self.payloads.append(json.loads(request.content))
        self.before_answer()
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def client(self) -> HttpClient:
        return HttpClient(HttpSettings(), transport=httpx.MockTransport(self))


def place(channel: str = "slack", **changes: Any) -> Destination:
    fields = {"id": DestinationId("d1"), "owner": OwnerId("o1"), "channel": channel, "address": "hooks.slack.com"}
    return Destination(**fields | changes)


def channel(hook: FakeHook, time: FakeTime | None = None, **changes: Any) -> SlackChannel:
    return SlackChannel(hook.client, clock=(time or FakeTime()).clock, **changes)
