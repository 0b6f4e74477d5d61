"""Ads, notifications and answers to begin from: a test names only what it is about."""

import json
from collections.abc import Callable
from typing import Any

import httpx

from lago.channels.telegram import TelegramChannel
from lago.domain.event import AdEvent, Event, NewestAd, WatchLive
from lago.domain.ids import (
    AdId,
    DestinationId,
    EpochMs,
    Milliseconds,
    Minor,
    NotificationId,
    OwnerId,
    SourceName,
    WatchId,
)
from lago.domain.notification import Destination, Message, Notification
from lago.http import HttpClient, HttpSettings

TOKEN = "123456789:AAEhBOweik6ad9rHZQ3lk0dF4tF5lZ0d2bW"
NOON = EpochMs(1_764_412_200_000)
"""2025-11-29 10:30:00 UTC, 11:30 in Vienna."""


def an_ad(**changes: Any) -> AdEvent:
    fields: dict[str, Any] = {
        "kind": "new_ad",
        "source": SourceName("willhaben"),
        "ad": AdId("1234567890"),
        "title": "KTM Strada 1000",
        "price": 28_300,
        "currency": "EUR",
        "price_text": "€ 283",
        "old_price": None,
        "published": NOON,
        "found": NOON,
        "url": "https://www.willhaben.at/iad/ktm-strada-1234567890/",
        "image": None,
        "place": "1070 Wien, Neubau",
        "seller_kind": "private",
        "seller_name": "Anna",
        "coordinates": None,
        "details": (),
    }
    return AdEvent(**fields | changes)


def a_drop(**changes: Any) -> AdEvent:
    return an_ad(**{"kind": "price_drop", "old_price": 31_000} | changes)


def live(total: int = 120, *newest: NewestAd) -> WatchLive:
    return WatchLive(watch=WatchId("w1"), found=NOON, total=total, newest=newest)


def newest(title: str) -> NewestAd:
    url = f"https://www.willhaben.at/{title}"
    return NewestAd(title=title, price=Minor(10_000), currency="EUR", price_text="", url=url)


def news(event: Event | None = None, **changes: Any) -> Notification:
    fields: dict[str, Any] = {
        "id": NotificationId("n1"),
        "destination": DestinationId("d1"),
        "event": event or an_ad(),
        "watches": (WatchId("w1"),),
        "label": "Rennrad Wien",
        "search_url": "https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz?keyword=rennrad",
    }
    return Notification(**fields | changes)


def message(*notifications: Notification, more: int = 0) -> Message:
    return Message(notifications=notifications or (news(),), more=more)


def chat(address: str = "4711", **changes: Any) -> Destination:
    fields = {"id": DestinationId("d1"), "owner": OwnerId("o1"), "channel": "telegram", "address": address}
    return Destination(**fields | changes)


def ok() -> httpx.Response:
    return httpx.Response(200, json={"ok": True, "result": {"message_id": 7}})


def refusal(code: int, description: str, **parameters: Any) -> httpx.Response:
    body: dict[str, Any] = {"ok": False, "error_code": code, "description": description}
    if parameters:
        body["parameters"] = parameters
    return httpx.Response(code, json=body)


class FakeTelegram:
    """Answers in the given order, and remembers what it was asked. An exception stands for a broken connection."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.urls: list[str] = []
        self.before_answer: Callable[[], object] = lambda: None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.urls.append(str(request.url))
        self.requests.append((request.url.path.rpartition("/")[2], json.loads(request.content)))
        self.before_answer()
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.requests]

    @property
    def last(self) -> dict[str, Any]:
        return self.requests[-1][1]


class FakeTime:
    """A clock that only moves when something sleeps, or a test says so."""

    def __init__(self) -> None:
        self.now = NOON
        self.slept: list[int] = []

    def clock(self) -> EpochMs:
        return self.now

    def sleep(self, duration: Milliseconds) -> None:
        self.slept.append(duration)
        self.pass_by(duration)

    def pass_by(self, milliseconds: int) -> None:
        self.now = EpochMs(self.now + milliseconds)


def channel(telegram: FakeTelegram, time: FakeTime | None = None, **changes: Any) -> TelegramChannel:
    time = time or FakeTime()
    client = HttpClient(HttpSettings(), transport=httpx.MockTransport(telegram))
    fields: dict[str, Any] = {"api_url": "https://api.telegram.org", "clock": time.clock, "sleep": time.sleep}
    return TelegramChannel(client, **fields | changes)
