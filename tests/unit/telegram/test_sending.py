"""How a message travels, and how each failure ends."""

import logging
from typing import Any

import httpx
import pytest

from lago.channels.telegram import TelegramChannel
from lago.domain.outcome import Outcome, OutcomeKind
from tests.unit.telegram.builders import (
    TOKEN,
    FakeTelegram,
    FakeTime,
    an_ad,
    channel,
    chat,
    message,
    news,
    ok,
    refusal,
)

PICTURED = message(news(an_ad(image="https://cache.willhaben.at/mmo/1.jpg")))
BAD_PHOTO = "Bad Request: wrong file identifier/HTTP URL specified"
BAD_MARKUP = "Bad Request: can't parse entities: Unmatched end tag at byte offset 7"
UPGRADED = "Bad Request: group chat was upgraded to a supergroup chat"


def send(telegram: FakeTelegram, what: Any = PICTURED, **changes: Any) -> Outcome:
    return channel(telegram).send(chat(**changes), TOKEN, what)


class TestDelivery:
    def test_with_a_picture_is_a_photo_with_a_caption(self) -> None:
        telegram = FakeTelegram(ok())

        assert send(telegram).kind is OutcomeKind.DELIVERED

        assert telegram.urls == [f"https://api.telegram.org/bot{TOKEN}/sendPhoto"]
        assert telegram.last["chat_id"] == "4711"
        assert telegram.last["photo"] == "https://cache.willhaben.at/mmo/1.jpg"
        assert telegram.last["parse_mode"] == "HTML"
        assert "KTM Strada 1000" in telegram.last["caption"]
        assert telegram.last["reply_markup"] == {"inline_keyboard": [[{"text": "Open the ad", "url": an_ad().url}]]}

    def test_without_a_picture_is_a_text_without_preview(self) -> None:
        telegram = FakeTelegram(ok())

        assert send(telegram, message()).kind is OutcomeKind.DELIVERED

        assert telegram.methods == ["sendMessage"]
        assert telegram.last["parse_mode"] == "HTML"
        assert telegram.last["link_preview_options"] == {"is_disabled": True}

    def test_of_a_club_is_one_text(self) -> None:
        telegram = FakeTelegram(ok())

        send(telegram, message(*PICTURED.notifications, news(), more=5))

        assert telegram.methods == ["sendMessage"]
        assert "… and 5 more" in telegram.last["text"]

    def test_without_a_link_has_no_button(self) -> None:
        telegram = FakeTelegram(ok())

        send(telegram, message(news(an_ad(url="javascript:alert(1)"))))

        assert "reply_markup" not in telegram.last

    def test_shows_times_of_the_persons_own_zone(self) -> None:
        telegram = FakeTelegram(ok())

        send(telegram, message(), time_zone="America/New_York")

        assert "29 Nov 2025, 05:30" in telegram.last["text"]

    def test_survives_a_token_pasted_with_a_line_end(self) -> None:
        telegram = FakeTelegram(ok())

        assert channel(telegram).send(chat(), f" {TOKEN}\n", message()).kind is OutcomeKind.DELIVERED


class TestRefusedForm:
    @pytest.mark.parametrize(
        "description",
        [
            BAD_PHOTO,
            "Bad Request: failed to get HTTP URL content",
            "Bad Request: PHOTO_INVALID_DIMENSIONS",
            "Bad Request: wrong type of the web page content",
            "Bad Request: not enough rights to send photos to the chat",
        ],
    )
    def test_of_a_photo_is_followed_by_the_text(self, description: str) -> None:
        telegram = FakeTelegram(refusal(400, description), ok())

        assert send(telegram).kind is OutcomeKind.DELIVERED

        assert telegram.methods == ["sendPhoto", "sendMessage"]
        assert telegram.last["parse_mode"] == "HTML"

    @pytest.mark.parametrize(
        ("what", "methods"), [(PICTURED, ["sendPhoto", "sendMessage"]), (message(), ["sendMessage"] * 2)]
    )
    def test_of_markup_is_followed_by_plain_text(self, what: Any, methods: list[str]) -> None:
        telegram = FakeTelegram(refusal(400, BAD_MARKUP), ok())

        assert send(telegram, what).kind is OutcomeKind.DELIVERED

        assert telegram.methods == methods
        assert "parse_mode" not in telegram.last
        assert "reply_markup" not in telegram.last
        assert f"KTM Strada 1000 {an_ad().url}" in telegram.last["text"]

    def test_is_the_messages_fault_only_when_the_plain_text_is_refused_too(self) -> None:
        telegram = FakeTelegram(refusal(400, BAD_PHOTO), refusal(400, BAD_MARKUP), refusal(400, "Bad Request: no"))

        outcome = send(telegram)

        assert outcome == Outcome(kind=OutcomeKind.MESSAGE, reason="Telegram 400: Bad Request: no")
        assert telegram.methods == ["sendPhoto", "sendMessage", "sendMessage"]

    def test_ends_as_its_last_request_ends(self) -> None:
        telegram = FakeTelegram(refusal(400, BAD_PHOTO), refusal(429, "Too Many Requests", retry_after=4))

        outcome = send(telegram)

        assert outcome.kind is OutcomeKind.GATE
        assert outcome.retry_after == 4_000

    def test_whose_answer_took_too_long_waits_for_another_time(self) -> None:
        time, telegram = FakeTime(), FakeTelegram(refusal(400, BAD_PHOTO))
        patient = channel(telegram, time)
        telegram.before_answer = lambda: time.pass_by(patient.timeout)

        outcome = patient.send(chat(), TOKEN, PICTURED)

        assert outcome.kind is OutcomeKind.OUTAGE
        assert outcome.reason.startswith("no time left to go on after: Telegram 400")


class TestMovedChat:
    def test_gets_the_message_at_once_and_its_new_address_is_handed_on(self) -> None:
        telegram = FakeTelegram(refusal(400, UPGRADED, migrate_to_chat_id=-100123), ok())

        outcome = send(telegram, address="-42")

        assert outcome == Outcome(kind=OutcomeKind.DELIVERED, address="-100123")
        assert [request["chat_id"] for _, request in telegram.requests] == ["-42", "-100123"]
        assert telegram.methods == ["sendPhoto", "sendPhoto"]

    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            (refusal(500, "Internal Server Error"), OutcomeKind.OUTAGE),
            (refusal(403, "Forbidden: bot was kicked from the supergroup chat"), OutcomeKind.DESTINATION),
            (httpx.ReadTimeout("late"), OutcomeKind.AMBIGUOUS),
        ],
    )
    def test_keeps_its_new_address_whatever_comes_of_the_send(self, answer: Any, kind: OutcomeKind) -> None:
        telegram = FakeTelegram(refusal(400, UPGRADED, migrate_to_chat_id=-100123), answer)

        outcome = send(telegram, address="-42")

        assert outcome.kind is kind
        assert outcome.address == "-100123"

    def test_still_gets_the_simpler_form(self) -> None:
        telegram = FakeTelegram(refusal(400, UPGRADED, migrate_to_chat_id=-100123), refusal(400, BAD_PHOTO), ok())

        assert send(telegram, address="-42").kind is OutcomeKind.DELIVERED
        assert telegram.last["chat_id"] == "-100123"

    def test_is_followed_once_only(self) -> None:
        telegram = FakeTelegram(*[refusal(400, UPGRADED, migrate_to_chat_id=-100123)] * 2)

        outcome = send(telegram, address="-42")

        assert outcome.kind is OutcomeKind.DESTINATION
        assert len(telegram.requests) == 2


class TestNetwork:
    @pytest.mark.parametrize(
        "error", [httpx.ConnectError("refused"), httpx.ConnectTimeout("late"), httpx.PoolTimeout("full")]
    )
    def test_without_a_connection_is_an_outage(self, error: Exception) -> None:
        assert send(FakeTelegram(error)).kind is OutcomeKind.OUTAGE

    @pytest.mark.parametrize(
        "error",
        [httpx.ReadTimeout("late"), httpx.ReadError("reset"), httpx.RemoteProtocolError("gone"), httpx.WriteError("x")],
    )
    def test_that_loses_the_answer_is_ambiguous(self, error: Exception) -> None:
        telegram = FakeTelegram(error)

        assert send(telegram).kind is OutcomeKind.AMBIGUOUS
        assert len(telegram.requests) == 1

    def test_with_a_broken_api_url_is_an_outage(self) -> None:
        broken = channel(FakeTelegram(), api_url="https://a.example:port")

        assert broken.send(chat(), TOKEN, message()).kind is OutcomeKind.OUTAGE


class TestSettings:
    @pytest.mark.parametrize("secret", ["", "  ", "no token", "123:abc/../x", "123456789:", "\ud800"])
    def test_without_a_usable_token_lose_nothing_and_name_the_way_out(self, secret: str) -> None:
        telegram = FakeTelegram()

        outcome = channel(telegram).send(chat(), secret, message())

        assert outcome.kind is OutcomeKind.OUTAGE
        assert "`lago setup`" in outcome.reason
        assert telegram.requests == []

    @pytest.mark.parametrize("address", ["", "abc", "12 3", "@x", "4711\n", "\ud800", "٣٤٥٦"])
    def test_with_an_impossible_chat_disable_it(self, address: str) -> None:
        telegram = FakeTelegram()

        assert send(telegram, address=address).kind is OutcomeKind.DESTINATION
        assert telegram.requests == []

    def test_may_name_the_api_with_a_slash_at_the_end(self) -> None:
        telegram = FakeTelegram(ok())

        channel(telegram, api_url="http://127.0.0.1:8081/").send(chat(), TOKEN, message())

        assert telegram.urls == [f"http://127.0.0.1:8081/bot{TOKEN}/sendMessage"]


def test_what_we_cannot_render_is_our_own_fault(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> str:
        raise ZeroDivisionError("seller text")

    monkeypatch.setattr("lago.channels.telegram_html.text", broken)

    assert send(FakeTelegram()) == Outcome(kind=OutcomeKind.RENDER, reason="ZeroDivisionError")
    assert "message could not be rendered" in caplog.text


@pytest.mark.parametrize(
    "answer",
    [
        ok(),
        refusal(401, "Unauthorized"),
        refusal(400, f"Bad Request: {TOKEN}"),
        httpx.Response(302, headers={"location": f"https://portal.example/bot{TOKEN}/sendMessage"}),
        httpx.ConnectError(f"https://api.telegram.org/bot{TOKEN}/sendMessage"),
        httpx.ReadTimeout(TOKEN),
    ],
)
def test_the_token_shows_nowhere(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    outcome = (
        send(FakeTelegram(answer), message())
        if not _is_bad_request(answer)
        else send(FakeTelegram(*[answer] * 2), message())
    )

    assert TOKEN not in repr(outcome)
    assert TOKEN not in caplog.text
    assert all(TOKEN not in repr(vars(record)) for record in caplog.records)


def _is_bad_request(answer: Any) -> bool:
    return isinstance(answer, httpx.Response) and answer.status_code == 400


class TestPacing:
    def test_leaves_a_person_a_second_and_a_group_three(self) -> None:
        telegram = channel(FakeTelegram())

        assert telegram.spacing("4711") == 1_000
        assert telegram.spacing("-1001234") == 3_000
        assert telegram.spacing("@bargains") == 3_000

    def test_sends_at_most_thirty_a_second_in_all(self) -> None:
        time, telegram = FakeTime(), FakeTelegram(*[ok() for _ in range(61)])
        busy = channel(telegram, time)
        started = time.now

        for _ in range(61):
            busy.send(chat(), TOKEN, message())

        assert time.now - started >= 2_000

    def test_does_not_wait_when_there_is_nothing_to_wait_for(self) -> None:
        time, telegram = FakeTime(), FakeTelegram(ok(), ok())
        idle = channel(telegram, time)

        idle.send(chat(), TOKEN, message())
        time.pass_by(60_000)
        idle.send(chat(), TOKEN, message())

        assert time.slept == []

    def test_starts_afresh_when_the_clock_is_set_back(self) -> None:
        time, telegram = FakeTime(), FakeTelegram(ok(), ok())
        jumped = channel(telegram, time)

        jumped.send(chat(), TOKEN, message())
        time.pass_by(-3_600_000)
        jumped.send(chat(), TOKEN, message())

        assert time.slept == []


def test_the_whole_send_fits_its_time_out() -> None:
    time, telegram = FakeTime(), FakeTelegram(*[refusal(400, BAD_PHOTO) for _ in range(3)])
    slow: TelegramChannel = channel(telegram, time)
    telegram.before_answer = lambda: time.pass_by(20_000)
    started = time.now

    slow.send(chat(), TOKEN, PICTURED)

    assert time.now - started <= slow.timeout
