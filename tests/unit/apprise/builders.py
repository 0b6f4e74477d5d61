"""A library that stands in for Apprise: it takes a message, fails, raises or hangs as a test says."""

from collections.abc import Callable
from typing import cast

from lago.channels.apprise.channel import AppriseChannel, Load
from lago.channels.apprise.library import Service
from lago.domain.ids import Milliseconds
from lago.http_guard import NONE_TRUSTED, Trusted

URL = "mailto://anna:passw0rd@example.org?to=bert@example.com"


class FakeService:
    def __init__(self, does: Callable[[], bool], *, html: bool, titled: bool, longest: int) -> None:
        self._does, self.takes_html, self.titled, self.longest = does, html, titled, longest
        self.sent: list[tuple[str, str, bool]] = []

    def notify(self, title: str, body: str, *, html: bool) -> bool:
        self.sent.append((title, body, html))
        return self._does()


def a_service(
    does: Callable[[], bool] = lambda: True, *, html: bool = False, titled: bool = True, longest: int = 5_000
) -> FakeService:
    return FakeService(does, html=html, titled=titled, longest=longest)


def loading(service: FakeService | None) -> Load:
    return lambda: lambda _url: cast("Service | None", service)


def channel(load: Load, *, trusted: Trusted = NONE_TRUSTED, timeout: int = 5_000) -> AppriseChannel:
    def resolve(host: str, _port: int) -> list[str]:
        return [host]

    return AppriseChannel(trusted=trusted, timeout=Milliseconds(timeout), load=load, resolve=resolve)
