"""The ntfy channel over a scripted network: what is asked, and what each answer means."""

import json
import logging

import httpx
import pytest

from lago.domain.outcome import DELIVERED, OutcomeKind
from lago.http import ForbiddenTargetError
from tests.fake_network import page
from tests.unit.ntfy.builders import OPEN, PROTECTED, TOKEN, TOPIC, URL, channel, refused, taken, topic
from tests.unit.telegram.builders import an_ad, message, news


def test_a_message_is_published_to_the_servers_root() -> None:
    ntfy, network = channel(taken())

    assert ntfy.send(topic(), OPEN, message()) == DELIVERED

    request = network.requests[0]
    assert (request.method, str(request.url)) == ("POST", "https://ntfy.sh/")
    assert json.loads(request.content)["topic"] == TOPIC
    assert "authorization" not in request.headers


def test_a_protected_topic_is_shown_the_token() -> None:
    ntfy, network = channel(taken())

    ntfy.send(topic(), PROTECTED, message())

    assert network.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("content", [b"", b"<html>welcome", b"{}", b'{"id": "", "event": "message"}', b"[" * 10_000])
def test_a_200_that_is_not_ntfys_is_no_delivery(content: bytes) -> None:
    ntfy, _ = channel(page(200, content))

    outcome = ntfy.send(topic(), OPEN, message())

    assert outcome.kind is OutcomeKind.AMBIGUOUS
    assert "is there an ntfy server" in outcome.reason


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refused(400, 40017, "invalid request: request body must be message JSON"), OutcomeKind.MESSAGE),
        (refused(400, 40009, "invalid request: topic invalid"), OutcomeKind.OUTAGE),
        (refused(400, 40010, "invalid request: topic name is disallowed"), OutcomeKind.OUTAGE),
        (page(400, b"<html>Bad Request"), OutcomeKind.OUTAGE),
        (refused(401, 40101, "unauthorized"), OutcomeKind.OUTAGE),
        (refused(403, 40301, "forbidden"), OutcomeKind.OUTAGE),
        (page(404, b"nothing here"), OutcomeKind.OUTAGE),
        (page(405), OutcomeKind.OUTAGE),
        (page(410), OutcomeKind.OUTAGE),
        (refused(413, 41303, "JSON body too large"), OutcomeKind.MESSAGE),
        (page(413, b"<html>nginx"), OutcomeKind.MESSAGE),
        (refused(429, 42901, "limit reached: too many requests"), OutcomeKind.GATE),
        (page(301, Location="https://ntfy.example.org/"), OutcomeKind.OUTAGE),
        (refused(500, 50001, "internal server error"), OutcomeKind.OUTAGE),
        (page(502, b"<html>"), OutcomeKind.OUTAGE),
        (refused(507, 50701, "cannot publish to UnifiedPush topic"), OutcomeKind.OUTAGE),
    ],
)
def test_each_refusal_has_its_class(answer: httpx.Response, kind: OutcomeKind) -> None:
    ntfy, _ = channel(answer)

    outcome = ntfy.send(topic(), OPEN, message())

    assert outcome.kind is kind
    assert outcome.reason.startswith(f"ntfy {answer.status_code}")


@pytest.mark.parametrize(
    ("answer", "hint"),
    [(refused(403), "access token"), (page(302), "redirects are not followed"), (refused(400, 40010), "another topic")],
)
def test_what_the_owner_can_mend_is_hinted_at(answer: httpx.Response, hint: str) -> None:
    ntfy, _ = channel(answer)

    assert hint in ntfy.send(topic(), OPEN, message()).reason


@pytest.mark.parametrize(
    ("answer", "wait"),
    [
        (page(429, Retry_After="17"), 17_000),
        (page(429, Retry_After="0"), 1_000),
        (page(429, b"<html>"), 60_000),
        (refused(429, 42901, "too many requests"), 60_000),
        (refused(429, 42908, "limit reached: daily message quota reached"), 3_600_000),
    ],
)
def test_a_server_that_asks_for_time_gets_it(answer: httpx.Response, wait: int) -> None:
    ntfy, _ = channel(answer)

    outcome = ntfy.send(topic(), OPEN, message())

    assert (outcome.kind, outcome.retry_after) == (OutcomeKind.GATE, wait)


def test_what_ntfy_says_is_told_without_the_secrets_that_it_repeats() -> None:
    ntfy, _ = channel(refused(400, 40017, f"no {TOPIC} for {TOKEN}\n" + "x" * 10_000))

    reason = ntfy.send(topic(), PROTECTED, message()).reason

    assert reason.startswith("ntfy 400: no [removed] for [removed] xxx")
    assert len(reason.encode()) <= 500


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (ForbiddenTargetError("ntfy.sh", "forbidden target: inside"), OutcomeKind.DESTINATION),
        (httpx.ConnectError(URL), OutcomeKind.OUTAGE),
        (httpx.ReadTimeout(URL), OutcomeKind.AMBIGUOUS),
        (httpx.RemoteProtocolError(URL), OutcomeKind.AMBIGUOUS),
    ],
)
def test_a_request_without_an_answer_has_its_class(failure: Exception, kind: OutcomeKind) -> None:
    ntfy, _ = channel(failure)

    outcome = ntfy.send(topic(), OPEN, message())

    assert outcome.kind is kind
    assert TOPIC not in outcome.reason


def test_a_refusal_whose_text_never_ends_is_still_a_refusal() -> None:
    ntfy, _ = channel(page(429, b"x" * 70_000, Retry_After="9"))

    assert ntfy.send(topic(), OPEN, message()).retry_after == 9_000


@pytest.mark.parametrize("secret", ["", URL, "{}"])
def test_a_secret_that_cannot_be_read_is_the_owners_to_mend(secret: str) -> None:
    ntfy, network = channel()

    outcome = ntfy.send(topic(), secret, message())

    assert outcome.kind is OutcomeKind.OUTAGE
    assert TOPIC not in outcome.reason
    assert network.requests == []


def test_what_cannot_be_rendered_costs_its_message_only() -> None:
    ntfy, network = channel()

    assert ntfy.send(topic(), OPEN, message(news(an_ad(title=None)))).kind is OutcomeKind.RENDER
    assert network.requests == []


def test_no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    ntfy, _ = channel(taken(), refused(403, 40301, TOPIC), httpx.ReadTimeout(URL))

    for _ in range(3):
        ntfy.send(topic(), PROTECTED, message())

    logged = "".join(str(vars(record)) for record in caplog.records)
    assert TOPIC not in logged
    assert TOKEN not in logged


def test_a_lease_outlasts_the_longest_send() -> None:
    ntfy, _ = channel()

    assert ntfy.timeout == 13_000
    assert ntfy.spacing("ntfy.sh") == 1_000
