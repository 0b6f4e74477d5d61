"""The webhook channel over real HTTP, through the guarded client, to a server that misbehaves on request."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lago.channels.webhook.channel import WebhookChannel
from lago.channels.webhook.secret import newest_key, rotated
from lago.channels.webhook.target import target_spec
from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.outcome import DELIVERED, OutcomeKind
from lago.http import HttpSettings
from lago.http_backend import guarded_client
from lago.http_guard import Trusted, read_origins
from tests.unit.telegram.builders import message
from tests.unit.webhook.builders import EVENTS, bytes_of, club, hook
from tests.unit.webhook.test_signature import documented
from tests.web_server import Answer, WebServer, serving

SETTINGS = HttpSettings(connect_seconds=1, read_seconds=0.5, total_seconds=1, max_bytes=64 * 1024)


def _now() -> EpochMs:
    return EpochMs(time.time_ns() // 1_000_000)


def _sleep(duration: Milliseconds) -> None:
    time.sleep(duration / 1_000)


@contextmanager
def channel(trusted: Trusted = frozenset()) -> Iterator[WebhookChannel]:
    client = guarded_client(SETTINGS, trusted)
    yield WebhookChannel(client, clock=_now, sleep=_sleep)
    client.close()


@contextmanager
def endpoint(*answers: Answer) -> Iterator[tuple[WebhookChannel, WebServer, str]]:
    """A channel, a server that it may reach, and the secret of a webhook there."""
    with serving(*answers) as server:
        trusted = read_origins(server.origin, "TRUSTED_ORIGINS")
        secret = target_spec(trusted).make(f"{server.origin}/hooks/lago?x=1", bytes_of).secret
        with channel(trusted) as webhook:
            yield webhook, server, secret


def test_a_club_arrives_whole_and_its_signature_holds() -> None:
    with endpoint(Answer(status=204)) as (webhook, server, secret):
        assert webhook.send(hook(), secret, club(*EVENTS, *EVENTS)) == DELIVERED

        (request,) = server.requests
        assert request.path == "/hooks/lago?x=1"
        assert documented()(request.headers, request.body, newest_key(secret))
        assert len(json.loads(request.body)["data"]["notifications"]) == 2 * len(EVENTS)


def test_a_receiver_that_has_not_taken_over_the_new_key_loses_nothing() -> None:
    with endpoint() as (webhook, server, secret):
        webhook.send(hook(), rotated(secret, lambda number: b"n" * number), message())

        (request,) = server.requests
        assert documented()(request.headers, request.body, newest_key(secret))


def test_a_message_that_is_sent_again_has_the_same_id() -> None:
    with endpoint(Answer(then="drop"), Answer()) as (webhook, server, secret):
        assert webhook.send(hook(), secret, message()).kind is OutcomeKind.AMBIGUOUS
        assert webhook.send(hook(), secret, message()) == DELIVERED

        assert len({request.headers["webhook-id"] for request in server.requests}) == 1


def test_a_redirect_inside_is_not_followed() -> None:
    with serving() as inside:
        redirect = Answer(status=307, headers={"location": f"{inside.origin}/latest/meta-data/"})
        with endpoint(redirect) as (webhook, _, secret):
            outcome = webhook.send(hook(), secret, message())

        assert outcome.kind is OutcomeKind.OUTAGE
        assert inside.requests == []


def test_a_webhook_that_is_not_trusted_any_more_is_lost_and_not_reached() -> None:
    with endpoint() as (_, server, secret), channel() as strict:
        outcome = strict.send(hook(), secret, message())

        assert outcome.kind is OutcomeKind.DESTINATION
        assert "forbidden target" in outcome.reason
        assert server.requests == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(then="hang"), OutcomeKind.AMBIGUOUS),
        (Answer(then="drop"), OutcomeKind.AMBIGUOUS),
        (Answer(then="drip"), OutcomeKind.AMBIGUOUS),
        (Answer(then="endless"), OutcomeKind.DELIVERED),
        (Answer(then="truncate"), OutcomeKind.DELIVERED),
        (Answer(status=410, then="endless"), OutcomeKind.DESTINATION),
        (Answer(status=400, then="truncate"), OutcomeKind.MESSAGE),
        (Answer(status=200, headers={"content-encoding": "br"}, body=b"x"), OutcomeKind.DELIVERED),
        (Answer(status=500, headers={"content-encoding": "gzip"}, body=b"not gzip"), OutcomeKind.OUTAGE),
    ],
)
def test_an_answer_that_goes_wrong_counts_by_what_is_known_of_it(answer: Answer, kind: OutcomeKind) -> None:
    with endpoint(answer) as (webhook, server, secret):
        assert webhook.send(hook(), secret, message()).kind is kind
        assert len(server.requests) == 1


def test_nobody_listening_is_an_outage() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        origin = f"http://127.0.0.1:{taken.getsockname()[1]}"
    trusted = read_origins(origin, "TRUSTED_ORIGINS")
    secret = target_spec(trusted).make(f"{origin}/hook", bytes_of).secret

    with channel(trusted) as webhook:
        assert webhook.send(hook(), secret, message()).kind is OutcomeKind.OUTAGE
