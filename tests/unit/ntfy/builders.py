"""A topic to publish to, over a network that is a list of answers."""

import json
from typing import Any

import httpx

from lago.channels.ntfy.channel import NtfyChannel
from lago.domain.notification import Destination
from lago.http import HttpClient, HttpSettings
from tests.fake_network import Answer, FakeNetwork
from tests.unit.telegram.builders import FakeTime, chat

TOPIC = "lago-T0PSECRET"
TOKEN = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"
URL = f"https://ntfy.sh/{TOPIC}"
OPEN = json.dumps({"url": URL, "token": ""})
PROTECTED = json.dumps({"url": URL, "token": TOKEN})


def topic(**changes: Any) -> Destination:
    return chat("ntfy.sh", **{"channel": "ntfy"} | changes)


def taken() -> httpx.Response:
    return httpx.Response(200, json={"id": "hwQ2YpKdmg", "time": 1, "event": "message", "topic": TOPIC})


def refused(status: int, code: int = 0, error: str = "") -> httpx.Response:
    return httpx.Response(status, json={"code": code, "http": status, "error": error, "link": "https://ntfy.sh/docs"})


def channel(*answers: Answer) -> tuple[NtfyChannel, FakeNetwork]:
    time = FakeTime()
    network = FakeNetwork(*answers)
    client = HttpClient(HttpSettings(max_bytes=64 * 1024), transport=network)
    return NtfyChannel(client, clock=time.clock, sleep=time.sleep), network
