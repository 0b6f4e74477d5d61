"""How a message travels to Slack, and how each failure ends."""

import logging
from typing import Any

import httpx
import pytest

from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from tests.unit.slack.builders import URL, FakeHook, channel, ok, place
from tests.unit.telegram.builders import FakeTime, an_ad, message, news

PICTURED = message(news(an_ad(image="https://cache.willhaben.at/mmo/1.jpg")))


def said(status: int, text: str, **headers: str) -> httpx.Response:
    return httpx.Response(status, text=text, headers={name.replace("_", "-"): value for name, value in headers.items()})


def send(hook: FakeHook, what: Any = None, secret: str = URL) -> Outcome:
    return channel(hook).send(place(), secret, what or message())


class TestDelivery:
    def test_posts_blocks_to_the_webhook(self) -> None:
        hook = FakeHook(ok())

        assert send(hook) == DELIVERED

        assert hook.urls == [URL]
        assert hook.headers[0]["content-type"] == "application/json; charset=utf-8"
        assert hook.payloads[0]["blocks"]

    def test_survives_a_url_pasted_with_a_line_end_or_a_slash(self) -> None:
        assert send(FakeHook(ok()), secret=f" {URL}/\n") == DELIVERED

    def test_goes_to_government_slack_at_its_own_host(self) -> None:
        hook = FakeHook(ok())

        send(hook, secret=URL.replace("slack.com", "slack-gov.com"))

        assert hook.urls == [URL.replace("slack.com", "slack-gov.com")]

    def test_goes_to_the_stand_in_where_one_is_set(self) -> None:
        hook = FakeHook(ok(), ok())
        stand_in = channel(hook, api_url="http://127.0.0.1:8099/_hooks/slack/")

        stand_in.send(place(), URL, message())
        stand_in.send(place(), "http://127.0.0.1:8099/_hooks/slack/services/T1/B1/x", message())

        assert hook.urls == [
            "http://127.0.0.1:8099/_hooks/slack/services/T0AAA/B0BBB/abcdefgh12345678",
            "http://127.0.0.1:8099/_hooks/slack/services/T1/B1/x",
        ]

    @pytest.mark.parametrize(
        "secret",
        [
            "",
            "no url",
            URL.replace("https", "http"),
            URL.replace("hooks.slack.com", "169.254.169.254"),
            URL.replace("https://", "https://hooks.slack.com@evil.example/"),
            f"{URL}/../../../other",
            f"{URL}?x=y",
        ],
    )
    def test_goes_nowhere_but_to_slack(self, secret: str) -> None:
        hook = FakeHook()

        outcome = send(hook, secret=secret)

        assert outcome.kind is OutcomeKind.DESTINATION
        assert "add the destination anew" in outcome.reason
        assert hook.urls == []


class TestAnswer:
    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            (said(403, "action_prohibited"), OutcomeKind.DESTINATION),
            (said(403, "invalid_token"), OutcomeKind.DESTINATION),
            (said(404, "channel_not_found"), OutcomeKind.DESTINATION),
            (said(404, "no_service"), OutcomeKind.DESTINATION),
            (said(404, "no_team"), OutcomeKind.DESTINATION),
            (said(410, "channel_is_archived"), OutcomeKind.DESTINATION),
            (said(400, "user_not_found"), OutcomeKind.DESTINATION),
            (said(500, "rollup_error"), OutcomeKind.OUTAGE),
            (said(500, "no_service"), OutcomeKind.OUTAGE),
            (said(502, "<html>Bad Gateway</html>"), OutcomeKind.OUTAGE),
            (said(503, ""), OutcomeKind.OUTAGE),
            (said(403, "<html>Blocked by a proxy</html>"), OutcomeKind.OUTAGE),
            (said(403, "access denied"), OutcomeKind.OUTAGE),
            (said(404, "Not Found"), OutcomeKind.OUTAGE),
            (said(302, "", location="https://portal.example/"), OutcomeKind.OUTAGE),
            (said(408, "request_timeout"), OutcomeKind.OUTAGE),
            (said(200, "<html>Welcome</html>"), OutcomeKind.AMBIGUOUS),
            (said(204, ""), OutcomeKind.AMBIGUOUS),
            (httpx.ConnectError("refused"), OutcomeKind.OUTAGE),
            (httpx.ConnectTimeout("late"), OutcomeKind.OUTAGE),
            (httpx.ReadTimeout("late"), OutcomeKind.AMBIGUOUS),
            (httpx.RemoteProtocolError("gone"), OutcomeKind.AMBIGUOUS),
        ],
    )
    def test_has_its_class(self, answer: Any, kind: OutcomeKind) -> None:
        hook = FakeHook(answer)

        assert send(hook).kind is kind
        assert len(hook.urls) == 1

    def test_of_a_lost_webhook_names_the_way_out(self) -> None:
        outcome = send(FakeHook(said(404, "no_service")))

        assert outcome.reason == "Slack 404: no_service (make a new webhook and add the destination anew)"

    @pytest.mark.parametrize(
        ("headers", "wait"),
        [({"retry_after": "17"}, 17_000), ({"retry_after": "0"}, 1_000), ({}, 30_000), ({"retry_after": "x"}, 30_000)],
    )
    def test_that_asks_to_wait_is_a_gate(self, headers: dict[str, str], wait: int) -> None:
        outcome = send(FakeHook(said(429, "rate_limited", **headers)))

        assert (outcome.kind, outcome.retry_after) == (OutcomeKind.GATE, wait)


class TestRefusedForm:
    def test_with_a_picture_is_followed_by_one_without(self) -> None:
        hook = FakeHook(said(400, "invalid_blocks: downloading image failed"), ok())

        assert send(hook, PICTURED) == DELIVERED

        assert "accessory" in hook.payloads[0]["blocks"][0]
        assert "accessory" not in hook.payloads[1]["blocks"][0]

    def test_of_blocks_is_followed_by_plain_text(self) -> None:
        hook = FakeHook(said(400, "invalid_blocks"), ok())

        assert send(hook) == DELIVERED

        assert "blocks" not in hook.payloads[1]
        assert f"KTM Strada 1000 {an_ad().url}" in hook.payloads[1]["text"]

    def test_is_the_messages_fault_only_when_the_plain_text_is_refused_too(self) -> None:
        hook = FakeHook(said(400, "invalid_blocks"), said(400, "invalid_payload"))

        assert send(hook) == Outcome(kind=OutcomeKind.MESSAGE, reason="Slack 400: invalid_payload")

    def test_whose_answer_took_too_long_waits_for_another_time(self) -> None:
        time, hook = FakeTime(), FakeHook(said(400, "invalid_blocks"))
        patient = channel(hook, time)
        hook.before_answer = lambda: time.pass_by(patient.timeout)

        outcome = patient.send(place(), URL, message())

        assert outcome.kind is OutcomeKind.OUTAGE
        assert outcome.reason.startswith("no time left to go on after: Slack 400")


def test_the_whole_send_fits_its_time_out() -> None:
    time, hook = FakeTime(), FakeHook(*[said(400, "invalid_blocks") for _ in range(3)])
    slow = channel(hook, time)
    hook.before_answer = lambda: time.pass_by(20_000)
    started = time.now

    slow.send(place(), URL, PICTURED)

    assert time.now - started <= slow.timeout


def test_one_message_a_second() -> None:
    assert channel(FakeHook()).spacing("hooks.slack.com") == 1_000


def test_what_we_cannot_render_is_our_own_fault(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> str:
        raise ZeroDivisionError("seller text")

    monkeypatch.setattr("lago.channels.slack.blocks.words", broken)

    assert send(FakeHook()) == Outcome(kind=OutcomeKind.RENDER, reason="ZeroDivisionError")
    assert "message could not be rendered" in caplog.text


@pytest.mark.parametrize(
    "answer",
    [
        ok(),
        said(404, f"no_service {URL}"),
        said(403, "invalid_token abcdefgh12345678"),
        said(500, f"rollup_error {URL}"),
        said(302, "", location=URL),
        httpx.ConnectError(URL),
        httpx.ReadTimeout(URL),
    ],
)
def test_the_key_shows_nowhere(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    outcome = send(FakeHook(answer))

    assert "abcdefgh12345678" not in repr(outcome)
    assert "abcdefgh12345678" not in caplog.text
    assert all("abcdefgh12345678" not in repr(vars(record)) for record in caplog.records)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(429, OutcomeKind.GATE), (503, OutcomeKind.OUTAGE), (200, OutcomeKind.AMBIGUOUS)],
)
def test_a_status_counts_although_its_content_cannot_be_read(status: int, kind: OutcomeKind) -> None:
    unreadable = httpx.Response(status, content=iter([b"x"]), headers={"content-encoding": "br", "retry-after": "7"})

    outcome = send(FakeHook(unreadable))

    assert outcome.kind is kind
    assert outcome.retry_after == (7_000 if status == 429 else None)
