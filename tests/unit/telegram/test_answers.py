"""What Telegram's answers mean."""

import json
from typing import Any

import pytest

from lago.channels.telegram_answer import Verdict, judge
from lago.domain.outcome import OutcomeKind
from lago.http import Reply
from tests.unit.telegram.builders import NOON, TOKEN


def verdict(status: int, body: Any = b"", headers: dict[str, str] | None = None) -> Verdict:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return judge(
        Reply(status=status, headers=headers or {}, content=content, ms=1, reused=False), now=NOON, token=TOKEN
    )


def refused(code: int, description: str, **parameters: Any) -> Verdict:
    body = {"ok": False, "error_code": code, "description": description, "parameters": parameters}
    return verdict(code, body)


def test_ok_is_delivered() -> None:
    assert verdict(200, {"ok": True, "result": {"message_id": 1}}).outcome.kind is OutcomeKind.DELIVERED


class TestClasses:
    @pytest.mark.parametrize(
        "description",
        [
            "Forbidden: bot was blocked by the user",
            "Forbidden: bot was kicked from the group chat",
            "Forbidden: user is deactivated",
            "Forbidden: something new",
        ],
    )
    def test_403_is_the_destinations_fault(self, description: str) -> None:
        outcome = refused(403, description).outcome

        assert outcome.kind is OutcomeKind.DESTINATION
        assert outcome.reason == f"Telegram 403: {description}"

    @pytest.mark.parametrize(
        "description",
        [
            "Bad Request: chat not found",
            "Bad Request: user is deactivated",
            "Bad Request: group chat was upgraded to a supergroup chat",
            "Bad Request: PEER_ID_INVALID",
            "Bad Request: not enough rights to send text messages to the chat",
            "Bad Request: need administrator rights in the channel chat",
            "Bad Request: CHAT_WRITE_FORBIDDEN",
        ],
    )
    def test_a_400_about_the_chat_is_too(self, description: str) -> None:
        assert refused(400, description).outcome.kind is OutcomeKind.DESTINATION

    @pytest.mark.parametrize("code", [400, 403])
    def test_a_chat_without_photos_is_not_given_up(self, code: int) -> None:
        assert refused(code, "Bad Request: not enough rights to send photos to the chat").outcome.kind is (
            OutcomeKind.MESSAGE
        )

    @pytest.mark.parametrize("code", [400, 409, 413])
    def test_another_4xx_refuses_this_message(self, code: int) -> None:
        answer = refused(code, "Bad Request: message is too long")

        assert answer.outcome.kind is OutcomeKind.MESSAGE
        assert not answer.markup

    def test_a_markup_error_is_told_apart(self) -> None:
        answer = refused(400, 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 3')

        assert answer.markup

    @pytest.mark.parametrize(("code", "description"), [(401, "Unauthorized"), (404, "Not Found")])
    def test_a_wrong_token_loses_nothing_and_names_the_way_out(self, code: int, description: str) -> None:
        outcome = refused(code, description).outcome

        assert outcome.kind is OutcomeKind.OUTAGE
        assert "TELEGRAM_API_URL" in outcome.reason
        assert "`lago setup`" in outcome.reason

    @pytest.mark.parametrize("code", [500, 502, 503, 504, 408])
    def test_5xx_is_an_outage(self, code: int) -> None:
        assert refused(code, "Internal Server Error").outcome.kind is OutcomeKind.OUTAGE

    def test_the_error_code_counts_where_the_status_says_200(self) -> None:
        body = {"ok": False, "error_code": 403, "description": "Forbidden: bot was blocked by the user"}

        assert verdict(200, body).outcome.kind is OutcomeKind.DESTINATION

    def test_a_failure_without_a_code_is_an_outage(self) -> None:
        assert verdict(200, {"ok": False}).outcome.kind is OutcomeKind.OUTAGE


class TestGate:
    @pytest.mark.parametrize(
        ("asked", "waits"), [(7, 7_000), (1.5, 1_500), ("9", 9_000), (0, 1_000), (-5, 1_000), (10**9, 86_400_000)]
    )
    def test_waits_as_long_as_telegram_asks(self, asked: float | str, waits: int) -> None:
        outcome = refused(429, "Too Many Requests", retry_after=asked).outcome

        assert outcome.kind is OutcomeKind.GATE
        assert outcome.retry_after == waits

    def test_falls_back_to_the_header(self) -> None:
        assert verdict(429, {"ok": False}, {"retry-after": "12"}).outcome.retry_after == 12_000
        assert verdict(429, b"<html>", {"retry-after": "12"}).outcome.retry_after == 12_000

    @pytest.mark.parametrize("body", [{"ok": False}, {"ok": False, "parameters": {"retry_after": "soon"}}, b"\xff"])
    def test_has_a_wait_of_its_own_when_none_is_named(self, body: Any) -> None:
        assert verdict(429, body).outcome.retry_after == 30_000

    def test_only_a_gate_has_a_wait(self) -> None:
        assert refused(400, "Bad Request", retry_after=7).outcome.retry_after is None


class TestMigration:
    @pytest.mark.parametrize("new", [-1001234567890, "-1001234567890"])
    def test_names_the_new_chat(self, new: int | str) -> None:
        answer = refused(400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=new)

        assert answer.moved_to == "-1001234567890"

    @pytest.mark.parametrize("odd", ["@evil", "", "12 34", "²", "9" * 30, None])
    def test_to_something_that_is_no_chat_is_ignored(self, odd: str | None) -> None:
        assert refused(400, "Bad Request: group chat was upgraded", migrate_to_chat_id=odd).moved_to is None


class TestNotTelegram:
    """A proxy, a captive portal, a wrong address: nothing is concluded about message or chat."""

    @pytest.mark.parametrize("status", [301, 302, 400, 401, 403, 404, 407, 500, 502])
    @pytest.mark.parametrize("body", [b"<html>Forbidden</html>", b"", b"[]", b'{"error":1}', b'{"ok":"no"}'])
    def test_is_an_outage(self, status: int, body: bytes) -> None:
        outcome = verdict(status, body, {"location": f"https://portal.example/login?bot={TOKEN}"}).outcome

        assert outcome.kind is OutcomeKind.OUTAGE
        assert "TELEGRAM_API_URL" in outcome.reason
        assert TOKEN not in outcome.reason

    @pytest.mark.parametrize("body", [b"", b'{"ok":tr', b"\xff\xfe", b"[" * 100_000, b'{"ok":1}'])
    def test_with_200_may_have_sent_it(self, body: bytes) -> None:
        assert verdict(200, body).outcome.kind is OutcomeKind.AMBIGUOUS


def test_the_reason_is_short_and_without_secrets() -> None:
    outcome = refused(400, f"Bad Request: https://api.telegram.org/bot{TOKEN}/x?a=b {TOKEN} " + "ä" * 1_000).outcome

    assert TOKEN not in outcome.reason
    assert "a=b" not in outcome.reason
    assert len(outcome.reason.encode()) <= 500
