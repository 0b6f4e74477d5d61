"""The Slack channel against a server that checks blocks as Slack does, over real HTTP, and misbehaves on request."""

import time
from collections.abc import Iterator

import pytest

from lago.channels.slack.channel import SlackChannel
from lago.domain.ids import EpochMs
from lago.domain.outcome import DELIVERED, OutcomeKind
from lago.http import HttpClient, HttpSettings
from simulator.client import Simulator
from simulator.process import Process, start
from tests.unit.slack.builders import URL, place
from tests.unit.telegram.builders import a_drop, an_ad, message, news

PICTURED = message(news(an_ad(image="https://cache.willhaben.at/mmo/1.jpg", title="<!channel> & *so*")))


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    with start(ads=1, max_seconds=120) as running:
        yield running


@pytest.fixture
def slack(process: Process) -> Simulator:
    process.client.reset()
    return process.client


@pytest.fixture
def channel(process: Process) -> Iterator[SlackChannel]:
    client = HttpClient(HttpSettings(connect_seconds=1, read_seconds=1, total_seconds=2))
    yield SlackChannel(client, api_url=process.client.hook_url("slack"), clock=now)
    client.close()


def now() -> EpochMs:
    return EpochMs(time.time_ns() // 1_000_000)


def test_a_message_arrives_as_blocks(channel: SlackChannel, slack: Simulator) -> None:
    assert channel.send(place(), URL, PICTURED) == DELIVERED

    (post,) = slack.posts("slack")
    assert post.path == "/services/T0AAA/B0BBB/abcdefgh12345678"
    assert [block["type"] for block in post.json["blocks"]] == ["section", "context", "actions"]
    assert "&lt;!channel&gt; &amp; ∗so∗" in post.json["blocks"][0]["text"]["text"]


def test_a_club_arrives_within_the_limits(channel: SlackChannel, slack: Simulator) -> None:
    club = message(*[news(), news(a_drop(url="https://www.willhaben.at/" + "x" * 1_900))] * 25, more=4)

    assert channel.send(place(), URL, club) == DELIVERED

    (post,) = slack.posts("slack")
    assert post.json["blocks"][0]["text"]["text"].startswith("🔔 54 in all: 25 new ads, 25 price drops, 4 more")


def test_refused_blocks_arrive_as_plain_text(channel: SlackChannel, slack: Simulator) -> None:
    slack.fault("status", "slack", status=400, times=2)

    assert channel.send(place(), URL, PICTURED) == DELIVERED

    (post,) = slack.posts("slack")
    assert '"blocks"' not in post.raw


def test_a_message_refused_in_every_form_is_given_up(channel: SlackChannel, slack: Simulator) -> None:
    slack.fault("status", "slack", status=400, times=3)

    assert channel.send(place(), URL, PICTURED).kind is OutcomeKind.MESSAGE


def test_a_flood_waits_as_long_as_told(channel: SlackChannel, slack: Simulator) -> None:
    slack.fault("status", "slack", status=429, retry_after=17)

    outcome = channel.send(place(), URL, PICTURED)

    assert (outcome.kind, outcome.retry_after) == (OutcomeKind.GATE, 17_000)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (403, OutcomeKind.DESTINATION),
        (404, OutcomeKind.DESTINATION),
        (410, OutcomeKind.DESTINATION),
        (500, OutcomeKind.OUTAGE),
        (502, OutcomeKind.OUTAGE),
    ],
)
def test_a_refusal_has_its_class(channel: SlackChannel, slack: Simulator, status: int, kind: OutcomeKind) -> None:
    slack.fault("status", "slack", status=status)

    assert channel.send(place(), URL, PICTURED).kind is kind


@pytest.mark.parametrize("fault", ["drop_after", "garbage", "truncated", "hang"])
def test_a_lost_answer_is_ambiguous(channel: SlackChannel, slack: Simulator, fault: str) -> None:
    slack.fault(fault, "slack", seconds=3)

    assert channel.send(place(), URL, PICTURED).kind is OutcomeKind.AMBIGUOUS


def test_nobody_listening_is_an_outage() -> None:
    client = HttpClient(HttpSettings(connect_seconds=1))
    nowhere = SlackChannel(client, api_url="http://127.0.0.1:9", clock=now)

    assert nowhere.send(place(), URL, PICTURED).kind is OutcomeKind.OUTAGE
    client.close()
