"""The webhook channel over a scripted network: what is asked, and what each answer means."""

import logging

import httpx
import pytest

from lago.channels.webhook.secret import WebhookSecret, rotated, write_secret
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.http import ForbiddenTargetError
from tests.fake_network import page
from tests.unit.telegram.builders import NOON, FakeTime, an_ad, message, news
from tests.unit.webhook.builders import KEY, OLD_KEY, PATH, SECRET, URL, bytes_of, channel, hook, sent
from tests.unit.webhook.test_signature import documented


def test_a_message_is_posted_signed_and_delivered() -> None:
    webhook, network = channel(page(204))

    assert webhook.send(hook(), SECRET, message(news(id="n7"))) == DELIVERED

    request = network.requests[0]
    assert (request.method, str(request.url)) == ("POST", URL)
    assert request.headers["content-type"] == "application/cloudevents+json"
    assert request.headers["webhook-id"] == sent(network)["id"] == "n7"
    assert documented()(dict(request.headers), request.content, KEY, NOON / 1000)


def test_all_keys_sign_while_they_rotate() -> None:
    webhook, network = channel(page())

    webhook.send(hook(), rotated(SECRET, bytes_of), message())

    assert network.requests[0].headers["webhook-signature"].count("v1,") == 2
    assert documented()(dict(network.requests[0].headers), network.requests[0].content, KEY, NOON / 1000)


def test_a_retry_has_the_same_id_and_body_and_a_time_of_its_own() -> None:
    time = FakeTime()
    webhook, network = channel(page(500), page(200), time=time)

    webhook.send(hook(), SECRET, message())
    time.pass_by(60_000)
    webhook.send(hook(), SECRET, message())

    first, second = network.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.content == second.content
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 60


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_delivered_whatever_it_says(status: int) -> None:
    webhook, _ = channel(page(status, b"<html>" * 100))

    assert webhook.send(hook(), SECRET, message()) == DELIVERED


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, OutcomeKind.OUTAGE),
        (302, OutcomeKind.OUTAGE),
        (308, OutcomeKind.OUTAGE),
        (400, OutcomeKind.MESSAGE),
        (401, OutcomeKind.OUTAGE),
        (402, OutcomeKind.OUTAGE),
        (403, OutcomeKind.OUTAGE),
        (404, OutcomeKind.OUTAGE),
        (405, OutcomeKind.OUTAGE),
        (406, OutcomeKind.MESSAGE),
        (408, OutcomeKind.OUTAGE),
        (410, OutcomeKind.DESTINATION),
        (413, OutcomeKind.MESSAGE),
        (415, OutcomeKind.MESSAGE),
        (418, OutcomeKind.OUTAGE),
        (422, OutcomeKind.MESSAGE),
        (425, OutcomeKind.OUTAGE),
        (429, OutcomeKind.GATE),
        (431, OutcomeKind.MESSAGE),
        (499, OutcomeKind.OUTAGE),
        (500, OutcomeKind.OUTAGE),
        (502, OutcomeKind.OUTAGE),
        (503, OutcomeKind.OUTAGE),
        (599, OutcomeKind.OUTAGE),
    ],
)
def test_each_refusal_has_its_class(status: int, kind: OutcomeKind) -> None:
    webhook, _ = channel(page(status, b"x"))

    outcome = webhook.send(hook(), SECRET, message())

    assert outcome.kind is kind
    assert outcome.reason.startswith(f"Webhook {status}")


@pytest.mark.parametrize(("status", "hint"), [(302, "redirects are not followed"), (404, "is the URL still right?")])
def test_what_the_owner_can_mend_is_hinted_at(status: int, hint: str) -> None:
    webhook, _ = channel(page(status))

    assert hint in webhook.send(hook(), SECRET, message()).reason


@pytest.mark.parametrize(
    ("status", "header", "wait"),
    [
        (429, "17", 17_000),
        (429, "0", 1_000),
        (429, "nonsense", 60_000),
        (429, "99999999999", 86_400_000),
        (429, "Sat, 29 Nov 2025 10:32:00 GMT", 120_000),
        (503, "5", 5_000),
    ],
)
def test_a_webhook_that_asks_for_time_gets_it(status: int, header: str, wait: int) -> None:
    webhook, _ = channel(page(status, Retry_After=header))

    outcome = webhook.send(hook(), SECRET, message())

    assert (outcome.kind, outcome.retry_after) == (OutcomeKind.GATE, wait)


def test_a_429_that_names_no_time_waits_a_minute() -> None:
    webhook, _ = channel(page(429))

    assert webhook.send(hook(), SECRET, message()).retry_after == 60_000


@pytest.mark.parametrize("kind", ["text/plain; charset=utf-8", "application/json", "application/problem+json"])
def test_what_a_webhook_says_is_told_without_the_secrets_that_it_repeats(kind: str) -> None:
    said = f"cannot POST {PATH} with {KEY}".encode() + b"\x00\xff" + b"x" * 10_000
    webhook, _ = channel(page(400, said, content_type=kind))

    reason = webhook.send(hook(), SECRET, message()).reason

    assert reason.startswith("Webhook 400: cannot POST /[removed] with [removed]")
    assert len(reason.encode()) < 500


def test_a_web_page_is_not_told() -> None:
    webhook, _ = channel(page(400, b"<html>", content_type="text/html"))

    assert webhook.send(hook(), SECRET, message()).reason == "Webhook 400"


def test_a_forbidden_target_loses_the_destination() -> None:
    webhook, _ = channel(ForbiddenTargetError("hook.example.org", "forbidden target: inside"))

    outcome = webhook.send(hook(), SECRET, message())

    assert outcome == Outcome(kind=OutcomeKind.DESTINATION, reason="Webhook: forbidden target: inside")


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (httpx.ConnectError(URL), OutcomeKind.OUTAGE),
        (httpx.ConnectTimeout(URL), OutcomeKind.OUTAGE),
        (httpx.ReadTimeout(URL), OutcomeKind.AMBIGUOUS),
        (httpx.RemoteProtocolError(URL), OutcomeKind.AMBIGUOUS),
    ],
)
def test_a_request_that_left_is_unknown_and_one_that_did_not_is_an_outage(
    failure: Exception, kind: OutcomeKind
) -> None:
    webhook, _ = channel(failure)

    outcome = webhook.send(hook(), SECRET, message())

    assert outcome.kind is kind
    assert PATH not in outcome.reason


def test_a_delivery_whose_answer_is_too_long_to_read_is_a_delivery() -> None:
    webhook, _ = channel(page(200, b"x" * 70_000))

    assert webhook.send(hook(), SECRET, message()) == DELIVERED


@pytest.mark.parametrize("secret", ["", "{}", URL, write_secret(WebhookSecret(url=URL, keys=(KEY,)))[:-9]])
def test_a_secret_that_cannot_be_read_is_the_owners_to_mend(secret: str) -> None:
    webhook, network = channel()

    outcome = webhook.send(hook(), secret, message())

    assert outcome.kind is OutcomeKind.OUTAGE
    assert PATH not in outcome.reason
    assert network.requests == []


def test_what_cannot_be_rendered_costs_its_message_only() -> None:
    webhook, network = channel()

    outcome = webhook.send(hook(), SECRET, message(news(an_ad(title=None))))

    assert outcome.kind is OutcomeKind.RENDER
    assert network.requests == []


def test_no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    webhook, _ = channel(page(), page(500, PATH.encode(), content_type="text/plain"), httpx.ReadTimeout(URL))

    for _ in range(3):
        webhook.send(hook(), rotated(SECRET, bytes_of), message())

    logged = "".join(str(vars(record)) for record in caplog.records)
    assert PATH not in logged
    assert KEY not in logged
    assert OLD_KEY not in logged


def test_a_lease_outlasts_the_longest_send() -> None:
    webhook, _ = channel()

    assert webhook.timeout == 13_000
    assert webhook.spacing("hook.example.org") == 200
