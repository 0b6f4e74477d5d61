"""What is posted below /_hooks/, taken, refused or met by a fault as at the real services."""

import contextlib
import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.client import ControlError
from tests.simulator.serving import NOON, Got, Running, served, stopped

SLACK = "/_hooks/slack/services/T0AAA/B0BBB/secret"
DISCORD = "/_hooks/discord/api/v10/webhooks/123456789012345678/token-of-a-webhook_0123456789"
NTFY = "/_hooks/ntfy/"
WEBHOOK = "/_hooks/webhook/lago"
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "slack": (SLACK, {"text": "x"}),
    "discord": (DISCORD, {"content": "x"}),
    "ntfy": (NTFY, {"topic": "lago", "message": "x"}),
    "webhook": (WEBHOOK, {"anything": "x"}),
}


@pytest.fixture(scope="module")
def shared() -> Iterator[Running]:
    with served() as running:
        yield running


@pytest.fixture
def running(shared: Running) -> Running:
    shared.client.reset(seed=1, ads=1)
    return shared


def post(running: Running, path: str, body: object) -> Got:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return running.ask("POST", path, content, {"Content-Type": "application/json", "X-Seen": "yes"})


def refused(running: Running, path: str, body: object) -> tuple[int, Any]:
    answer = post(running, path, body)
    assert running.client.posts() == []
    text = answer.body.decode()
    return answer.status, json.loads(text) if text.startswith("{") else text


def section(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def test_what_was_posted_can_be_read_back() -> None:
    with served(clock=stopped()) as running:
        post(running, f"{WEBHOOK}?a=1", {"told": "you"})
        post(running, SLACK, {"text": "hallo"})

        first, second = running.client.posts()
        assert (first.service, first.path, first.query, first.time) == ("webhook", "/lago", "a=1", NOON)
        assert first.json == {"told": "you"}
        assert first.headers["x-seen"] == "yes"
        assert second.path == "/services/T0AAA/B0BBB/secret"
        assert running.client.posts("slack") == [second]
        assert running.client.posts(after=first.id) == [second]
        running.client.clear_posts()
        assert running.client.posts() == []


def test_a_service_that_is_not_there_is_named(running: Running) -> None:
    with pytest.raises(ControlError, match="expected one of slack, discord, ntfy, webhook, got 'fax'"):
        running.client.posts("fax")


def test_a_post_to_begin_after_is_a_number(running: Running) -> None:
    assert running.ask("GET", "/_control/hooks/posts?after=x").status == 400


@pytest.mark.parametrize(
    ("service", "status", "body"),
    [("slack", 200, b"ok"), ("discord", 204, b""), ("webhook", 204, b"")],
)
def test_each_service_says_yes_in_its_own_way(running: Running, service: str, status: int, body: bytes) -> None:
    answer = post(running, *BODIES[service])

    assert (answer.status, answer.body) == (status, body)


def test_discord_tells_what_it_stored_when_asked_to_wait(running: Running) -> None:
    answer = post(running, f"{DISCORD}?wait=true", {"content": "x"})

    assert (answer.status, answer.json["content"]) == (200, "x")


def test_ntfy_takes_json_at_its_root_and_text_at_a_topic(running: Running) -> None:
    assert post(running, NTFY, {"topic": "lago", "message": "x"}).json["event"] == "message"
    assert post(running, "/_hooks/ntfy/lago", b"plain").json["message"] == "plain"


def test_the_whole_origin_is_an_ntfy_server_for_what_is_posted_to_its_root(running: Running) -> None:
    assert post(running, "/", {"topic": "lago", "message": "x"}).status == 200

    assert running.client.posts("ntfy")[0].json == {"topic": "lago", "message": "x"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"no json", "invalid_payload"),
        (b"[1]", "invalid_payload"),
        ({}, "no_text"),
        ({"blocks": [section("x")] * 51}, "invalid_blocks"),
        ({"blocks": [section("x" * 3001)]}, "invalid_blocks: [json-pointer:/blocks/0]"),
        ({"blocks": [section("")]}, "invalid_blocks: [json-pointer:/blocks/0]"),
        (
            {"blocks": [section("x"), {"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}]},
            "invalid_blocks: [json-pointer:/blocks/1]",
        ),
        (
            {"blocks": [section("x", accessory={"type": "image", "image_url": "http://a.at/1.jpg", "alt_text": "x"})]},
            "invalid_blocks: [json-pointer:/blocks/0]",
        ),
        (
            {"blocks": [section("x", accessory={"type": "image", "image_url": "https://a.at/1.jpg"})]},
            "invalid_blocks: [json-pointer:/blocks/0]",
        ),
        ({"blocks": [{"type": "hologram"}]}, "invalid_blocks: [json-pointer:/blocks/0]"),
    ],
)
def test_slack_refuses_what_breaks_its_limits(running: Running, body: object, said: str) -> None:
    assert refused(running, SLACK, body) == (400, said)


def test_slack_knows_no_webhook_of_another_shape(running: Running) -> None:
    assert refused(running, "/_hooks/slack/services/elsewhere", {"text": "x"}) == (404, "no_service")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"no json", 50109),
        ({}, 50006),
        ({"content": "x" * 2001}, 50035),
        ({"embeds": [{"description": "x"}] * 11}, 50035),
        ({"embeds": [{"title": "x" * 257}]}, 50035),
        ({"embeds": [{"description": "x" * 4097}]}, 50035),
        ({"embeds": [{"description": "x" * 3001}] * 2}, 50035),
        ({"embeds": [{"description": "x", "url": "javascript:alert(1)"}]}, 50035),
        ({"embeds": [{"description": "x", "color": 0x1000000}]}, 50035),
        ({"embeds": [{"title": ""}]}, 50035),
        ({"embeds": [{"image": "no object"}]}, 50035),
        ({"embeds": ["x"]}, 50035),
    ],
)
def test_discord_refuses_what_breaks_its_limits(running: Running, body: object, code: int) -> None:
    status, said = refused(running, DISCORD, body)

    assert (status, said["code"]) == (400, code)


def test_discord_knows_no_webhook_of_another_shape(running: Running) -> None:
    status, said = refused(running, "/_hooks/discord/api/webhooks/1/x", {"content": "x"})

    assert (status, said) == (404, {"message": "Unknown Webhook", "code": 10015})


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"topic": "a/b", "message": "x"}, 400, 40009),
        ({"message": "x"}, 400, 40009),
        ({"topic": "lago", "message": 7}, 400, 40024),
        ({"topic": "lago", "message": "ü" * 2049}, 413, 41301),
        ({"topic": "lago", "priority": 9}, 400, 40007),
        ({"topic": "lago", "actions": [{"action": "view", "label": "x", "url": "https://a.at"}] * 4}, 400, 40018),
        ({"topic": "lago", "actions": [{"action": "view", "label": "x"}]}, 400, 40018),
        ({"topic": "lago", "attach": "file:///etc/passwd"}, 400, 40013),
    ],
)
def test_ntfy_refuses_what_breaks_its_limits(running: Running, body: object, status: int, code: int) -> None:
    answered, said = refused(running, NTFY, body)

    assert (answered, said["code"]) == (status, code)


@pytest.mark.parametrize("service", list(BODIES))
def test_a_flood_is_answered_with_how_long_to_wait(running: Running, service: str) -> None:
    running.client.fault("status", service, status=429, retry_after=17)

    answer = post(running, *BODIES[service])

    assert (answer.status, answer.headers["retry-after"]) == (429, "17")
    assert running.client.posts() == []
    assert post(running, *BODIES[service]).status in (200, 204)


def test_discord_words_a_flood_as_a_fraction_of_seconds(running: Running) -> None:
    running.client.fault("status", "discord", status=429, retry_after=3)

    assert post(running, DISCORD, {"content": "x"}).json["retry_after"] == 3.25


@pytest.mark.parametrize(
    ("service", "status", "said"),
    [
        ("slack", 403, "action_prohibited"),
        ("slack", 404, "no_service"),
        ("slack", 410, "channel_is_archived"),
        ("slack", 500, "rollup_error"),
        ("discord", 404, "Unknown Webhook"),
        ("discord", 401, "Invalid Webhook Token"),
        ("ntfy", 403, "forbidden"),
        ("slack", 502, "Bad Gateway"),
    ],
)
def test_a_status_on_request_comes_in_the_words_of_the_service(
    running: Running, service: str, status: int, said: str
) -> None:
    running.client.fault("status", service, status=status)

    answer = post(running, *BODIES[service])

    assert answer.status == status
    assert said in answer.body.decode()


@pytest.mark.parametrize(("kind", "taken"), [("drop", 0), ("drop_after", 1), ("hang", 0)])
def test_an_answer_can_be_lost_before_or_after_the_message_was_taken(running: Running, kind: str, taken: int) -> None:
    running.client.fault(kind, "slack", seconds=0)

    with contextlib.suppress(http.client.HTTPException, ConnectionError):
        post(running, SLACK, {"text": "x"})
        pytest.fail("there was an answer")

    assert len(running.client.posts("slack")) == taken


def test_a_fault_can_be_about_one_webhook_or_one_message(running: Running) -> None:
    running.client.fault("status", "slack", status=500, path="T0AAA", times=None)
    running.client.fault("status", "webhook", status=500, text="poison", times=None)

    assert post(running, SLACK, {"text": "x"}).status == 500
    assert post(running, SLACK.replace("T0AAA", "T0CCC"), {"text": "x"}).status == 200
    assert post(running, WEBHOOK, {"a": "poison"}).status == 500
    assert post(running, WEBHOOK, {"a": "well"}).status == 204


def test_stats_count_posts_without_the_webhooks_key(running: Running) -> None:
    running.client.reset_stats()

    post(running, SLACK, {"text": "x"})

    assert running.client.stats().paths == {"POST /_hooks/slack": 1}
    assert running.client.stats().targets == {"slack": 1}


def test_posts_outlive_a_restart(tmp_path: Path) -> None:
    with served(state=tmp_path / "state.json") as running:
        post(running, SLACK, {"text": "x"})
        before = running.client.posts()

    with served(state=tmp_path / "state.json") as again:
        assert again.client.posts() == before


def test_a_state_from_before_there_were_hooks_is_still_read(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    with served(state=state):
        pass
    old = json.loads(state.read_text())
    del old["hooks"]
    state.write_text(json.dumps(old))

    with served(state=state) as again:
        assert again.client.posts() == []
