"""How a message travels to Discord, and how each failure ends."""

import logging
from typing import Any

import httpx
import pytest

from lago.channels.discord.channel import DiscordChannel
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from tests.unit.discord.test_webhook_url import URL
from tests.unit.slack.builders import FakeHook, place
from tests.unit.telegram.builders import FakeTime, an_ad, message

TOKEN = "token-of-a-webhook_0123456789"


def stored() -> httpx.Response:
    return httpx.Response(200, json={"id": "1", "content": ""})


def refusal(status: int, code: int, text: str = "no", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"message": text, "code": code}, headers=headers)


def flood(**body: Any) -> httpx.Response:
    return httpx.Response(429, json={"message": "You are being rate limited.", "global": False} | body)


def channel(hook: FakeHook, time: FakeTime | None = None, **changes: Any) -> DiscordChannel:
    return DiscordChannel(hook.client, clock=(time or FakeTime()).clock, **changes)


def send(hook: FakeHook, what: Any = None, secret: str = URL) -> Outcome:
    return channel(hook).send(place("discord"), secret, what or message())


class TestDelivery:
    def test_posts_embeds_and_waits_for_what_became_of_them(self) -> None:
        hook = FakeHook(stored())

        assert send(hook) == DELIVERED

        assert hook.urls == [f"https://discord.com/api/v10/webhooks/123456789012345678/{TOKEN}?wait=true"]
        assert hook.headers[0]["user-agent"].startswith("DiscordBot (")
        assert hook.payloads[0]["allowed_mentions"] == {"parse": []}

    def test_goes_into_the_thread_of_the_url(self) -> None:
        hook = FakeHook(stored())

        send(hook, secret=f" {URL}?wait=false&thread_id=987654321098765432\n")

        assert hook.urls[0].endswith(f"{TOKEN}?wait=true&thread_id=987654321098765432")

    @pytest.mark.parametrize("host", ["discordapp.com", "canary.discord.com", "ptb.discord.com"])
    def test_goes_to_one_host_whatever_its_name(self, host: str) -> None:
        hook = FakeHook(stored())

        send(hook, secret=URL.replace("discord.com", host))

        assert hook.urls[0].startswith("https://discord.com/")

    def test_goes_to_the_stand_in_where_one_is_set(self) -> None:
        hook = FakeHook(stored())

        channel(hook, api_url="http://127.0.0.1:8099/_hooks/discord/").send(place(), URL, message())

        assert hook.urls[0].startswith("http://127.0.0.1:8099/_hooks/discord/api/v10/webhooks/")

    @pytest.mark.parametrize("secret", ["", "no url", URL.replace("discord.com", "169.254.169.254"), f"{URL}/github"])
    def test_goes_nowhere_but_to_discord(self, secret: str) -> None:
        hook = FakeHook()

        outcome = send(hook, secret=secret)

        assert outcome.kind is OutcomeKind.DESTINATION
        assert "add the destination anew" in outcome.reason
        assert hook.urls == []


class TestAnswer:
    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            (httpx.Response(204), OutcomeKind.DELIVERED),
            (refusal(404, 10015, "Unknown Webhook"), OutcomeKind.DESTINATION),
            (refusal(401, 50027, "Invalid Webhook Token"), OutcomeKind.DESTINATION),
            (refusal(401, 0, "401: Unauthorized"), OutcomeKind.DESTINATION),
            (refusal(403, 50013, "Missing Permissions"), OutcomeKind.DESTINATION),
            (refusal(404, 10003, "Unknown Channel"), OutcomeKind.DESTINATION),
            (refusal(400, 220001, "forum channels must have a thread"), OutcomeKind.DESTINATION),
            (refusal(400, 50083, "Thread is archived"), OutcomeKind.DESTINATION),
            (refusal(403, 40333, "internal network error"), OutcomeKind.OUTAGE),
            (refusal(500, 0, "500: Internal Server Error"), OutcomeKind.OUTAGE),
            (httpx.Response(502, text="<html>Bad Gateway</html>"), OutcomeKind.OUTAGE),
            (httpx.Response(403, text="<html>Cloudflare</html>"), OutcomeKind.OUTAGE),
            (httpx.Response(404, text="<html>no such page</html>"), OutcomeKind.OUTAGE),
            (httpx.Response(404, json={"error": "proxy"}), OutcomeKind.OUTAGE),
            (httpx.Response(302, headers={"location": "https://portal.example"}), OutcomeKind.OUTAGE),
            (httpx.Response(200, text="<html>Welcome</html>"), OutcomeKind.AMBIGUOUS),
            (httpx.Response(200, json=[]), OutcomeKind.AMBIGUOUS),
            (httpx.ConnectError("refused"), OutcomeKind.OUTAGE),
            (httpx.ReadTimeout("late"), OutcomeKind.AMBIGUOUS),
        ],
    )
    def test_has_its_class(self, answer: Any, kind: OutcomeKind) -> None:
        hook = FakeHook(answer)

        assert send(hook).kind is kind
        assert len(hook.urls) == 1

    def test_of_a_lost_webhook_names_the_way_out(self) -> None:
        outcome = send(FakeHook(refusal(404, 10015, "Unknown Webhook")))

        assert outcome.reason == (
            "Discord 404: Unknown Webhook (10015) (make a new webhook and add the destination anew)"
        )

    @pytest.mark.parametrize(
        ("answer", "wait"),
        [
            (flood(retry_after=2.25), 2_250),
            (flood(retry_after=0.3), 1_000),
            (flood(retry_after=1e300), 86_400_000),
            (flood(), 30_000),
            (httpx.Response(429, text="<html>Cloudflare</html>", headers={"retry-after": "600"}), 600_000),
            (httpx.Response(429, content=b'{"retry_after": NaN}'), 30_000),
        ],
    )
    def test_that_asks_to_wait_is_a_gate(self, answer: httpx.Response, wait: int) -> None:
        outcome = send(FakeHook(answer))

        assert (outcome.kind, outcome.retry_after) == (OutcomeKind.GATE, wait)


class TestRefusedForm:
    def test_of_embeds_is_followed_by_plain_text(self) -> None:
        hook = FakeHook(refusal(400, 50035, "Invalid Form Body"), stored())

        assert send(hook) == DELIVERED

        assert "embeds" not in hook.payloads[1]
        assert f"KTM Strada 1000 <{an_ad().url}>" in hook.payloads[1]["content"]
        assert hook.payloads[1]["allowed_mentions"] == {"parse": []}

    def test_is_the_messages_fault_only_when_the_plain_text_is_refused_too(self) -> None:
        hook = FakeHook(refusal(400, 50035, "Invalid Form Body"), refusal(400, 240000, "harmful link"))

        assert send(hook) == Outcome(kind=OutcomeKind.MESSAGE, reason="Discord 400: harmful link (240000)")


def test_a_message_each_two_seconds() -> None:
    assert channel(FakeHook()).spacing("discord.com") == 2_000


@pytest.mark.parametrize(
    "answer",
    [
        stored(),
        refusal(404, 10015, f"Unknown Webhook {TOKEN}"),
        refusal(500, 0, URL),
        httpx.Response(302, headers={"location": URL}),
        httpx.ConnectError(URL),
        httpx.ReadTimeout(TOKEN),
    ],
)
def test_the_token_shows_nowhere(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    outcome = send(FakeHook(answer))

    assert TOKEN not in repr(outcome)
    assert TOKEN not in caplog.text
    assert all(TOKEN not in repr(vars(record)) for record in caplog.records)
