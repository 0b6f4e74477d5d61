"""The ntfy channel over real HTTP, through the guarded client, to a server that misbehaves on request."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lago.channels.ntfy.channel import NtfyChannel
from lago.channels.ntfy.target import target_spec
from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.outcome import DELIVERED, OutcomeKind
from lago.http import HttpSettings
from lago.http_backend import guarded_client
from lago.http_guard import NONE_TRUSTED, read_origins
from tests.unit.ntfy.builders import TOKEN, topic
from tests.unit.telegram.builders import a_drop, an_ad, message, news
from tests.unit.webhook.builders import bytes_of
from tests.web_server import Answer, WebServer, serving

SETTINGS = HttpSettings(connect_seconds=1, read_seconds=0.5, total_seconds=1, max_bytes=64 * 1024)
TAKEN = Answer(body=b'{"id": "hwQ2YpKdmg", "event": "message", "topic": "alerts"}')


def _now() -> EpochMs:
    return EpochMs(time.time_ns() // 1_000_000)


def _sleep(duration: Milliseconds) -> None:
    time.sleep(duration / 1_000)


@contextmanager
def server_with_topic(*answers: Answer, is_trusted: bool = True) -> Iterator[tuple[NtfyChannel, WebServer, str]]:
    """A channel, an ntfy server, and the secret of a protected topic there."""
    with serving(*answers) as server:
        trusted = read_origins(server.origin, "TRUSTED_ORIGINS")
        given = f"{server.origin}/alerts".replace("http://", f"http://:{TOKEN}@")
        secret = target_spec(trusted).make(given, bytes_of).secret
        client = guarded_client(SETTINGS, trusted if is_trusted else NONE_TRUSTED)
        yield NtfyChannel(client, clock=_now, sleep=_sleep), server, secret
        client.close()


def test_a_club_is_published_with_the_token() -> None:
    with server_with_topic(TAKEN) as (ntfy, server, secret):
        assert ntfy.send(topic(), secret, message(*[news(an_ad()), news(a_drop())] * 25)) == DELIVERED

        (request,) = server.requests
        shown = json.loads(request.body)
        assert (request.path, request.headers["authorization"]) == ("/", f"Bearer {TOKEN}")
        assert (shown["topic"], shown["priority"]) == ("alerts", 3)
        assert shown["title"].startswith("50 in all: 25 new ads, 25 price drops")


def test_a_server_inside_that_is_not_trusted_is_not_reached() -> None:
    with server_with_topic(TAKEN, is_trusted=False) as (ntfy, server, secret):
        assert ntfy.send(topic(), secret, message()).kind is OutcomeKind.DESTINATION
        assert server.requests == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(), OutcomeKind.AMBIGUOUS),
        (Answer(body=b"<html>"), OutcomeKind.AMBIGUOUS),
        (Answer(then="hang"), OutcomeKind.AMBIGUOUS),
        (Answer(then="drop"), OutcomeKind.AMBIGUOUS),
        (Answer(then="drip"), OutcomeKind.AMBIGUOUS),
        (Answer(then="endless"), OutcomeKind.AMBIGUOUS),
        (Answer(status=429, headers={"retry-after": "30"}, then="endless"), OutcomeKind.GATE),
        (Answer(status=302, headers={"location": "http://169.254.169.254/"}), OutcomeKind.OUTAGE),
        (Answer(status=507), OutcomeKind.OUTAGE),
    ],
)
def test_an_answer_that_goes_wrong_counts_by_what_is_known_of_it(answer: Answer, kind: OutcomeKind) -> None:
    with server_with_topic(answer) as (ntfy, server, secret):
        outcome = ntfy.send(topic(), secret, message())

        assert outcome.kind is kind
        assert TOKEN not in outcome.reason
        assert len(server.requests) == 1
