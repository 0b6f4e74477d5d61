"""A webhook to send to, over a network that is a list of answers."""

import json
from typing import Any

from lago.channels.webhook.channel import WebhookChannel
from lago.channels.webhook.secret import WebhookSecret, write_secret
from lago.domain.event import Event, OperatorAlert, Trial
from lago.domain.notification import Destination, Message
from lago.http import HttpClient, HttpSettings
from tests.fake_network import Answer, FakeNetwork
from tests.unit.telegram.builders import NOON, FakeTime, a_drop, an_ad, chat, live, message, newest, news

PATH = "/hooks/T0PSECRETPATH"
URL = f"https://hook.example.org{PATH}"
OLD_KEY = "whsec_" + "b2xkLW9sZC1vbGQtb2xkLW9sZC1vbGQtb2xkLW9sZCE="
KEY = "whsec_" + "bmV3LW5ldy1uZXctbmV3LW5ldy1uZXctbmV3LW5ldyE="
SECRET = write_secret(WebhookSecret(url=URL, keys=(KEY,)))

EVENTS: list[Event] = [
    an_ad(),
    an_ad(image="https://cache.willhaben.at/1.jpg", coordinates=(48.2, 16.35), details=("54 cm",), paylivery=True),
    an_ad(price=None, price_text="Preis auf Anfrage", published=None, seller_kind=None, seller_name=""),
    a_drop(),
    live(12, newest("One")),
    OperatorAlert(key="dead", found=NOON, text="1 dead letter"),
    Trial(key="t1", found=NOON),
]


def hook(**changes: Any) -> Destination:
    return chat("hook.example.org", **{"channel": "webhook"} | changes)


def bytes_of(number: int) -> bytes:
    return bytes(range(number))


def channel(*answers: Answer, time: FakeTime | None = None) -> tuple[WebhookChannel, FakeNetwork]:
    time = time or FakeTime()
    network = FakeNetwork(*answers)
    client = HttpClient(HttpSettings(max_bytes=64 * 1024), transport=network)
    return WebhookChannel(client, clock=time.clock, sleep=time.sleep), network


def sent(network: FakeNetwork, number: int = -1) -> Any:
    return json.loads(network.requests[number].content)


def club(*events: Event, more: int = 0) -> Message:
    return message(*(news(event, id=f"n{number}") for number, event in enumerate(events)), more=more)
