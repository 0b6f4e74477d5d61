"""The Discord channel against a server that checks embeds as Discord does, over HTTP, and misbehaves on request."""

import time
from collections.abc import Iterator

import pytest

from lago.channels.discord.channel import DiscordChannel
from lago.domain.ids import EpochMs
from lago.domain.outcome import DELIVERED, OutcomeKind
from lago.http import HttpClient, HttpSettings
from simulator.client import Simulator
from simulator.process import Process, start
from tests.unit.discord.test_webhook_url import URL
from tests.unit.slack.builders import place
from tests.unit.telegram.builders import a_drop, an_ad, message, news

PICTURED = message(news(an_ad(image="https://cache.willhaben.at/mmo/1.jpg", title="<!channel> & *so*")))


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    with start(ads=1, max_seconds=120) as running:
        yield running


@pytest.fixture
def discord(process: Process) -> Simulator:
    process.client.reset()
    return process.client


@pytest.fixture
def channel(process: Process) -> Iterator[DiscordChannel]:
    client = HttpClient(HttpSettings(connect_seconds=1, read_seconds=1, total_seconds=2))
    yield DiscordChannel(client, api_url=process.client.hook_url("discord"), clock=now)
    client.close()


def now() -> EpochMs:
    return EpochMs(time.time_ns() // 1_000_000)


def test_a_message_arrives_as_an_embed(channel: DiscordChannel, discord: Simulator) -> None:
    assert channel.send(place("discord"), URL, PICTURED) == DELIVERED

    (post,) = discord.posts("discord")
    assert post.path == "/api/v10/webhooks/123456789012345678/token-of-a-webhook_0123456789"
    assert post.query == "wait=true"
    assert post.json["embeds"][0]["title"] == "\\<!channel\\> & \\*so\\*"


def test_a_club_arrives_within_the_limits(channel: DiscordChannel, discord: Simulator) -> None:
    club = message(*[news(), news(a_drop(url="https://www.willhaben.at/" + "x" * 1_900))] * 25, more=4)

    assert channel.send(place("discord"), URL, club) == DELIVERED

    (post,) = discord.posts("discord")
    assert post.json["content"].startswith("🔔 54 in all: 25 new ads, 25 price drops, 4 more")
    assert "more](" in post.json["embeds"][-1]["description"]


def test_refused_embeds_arrive_as_plain_text(channel: DiscordChannel, discord: Simulator) -> None:
    discord.fault("status", "discord", status=400)

    assert channel.send(place("discord"), URL, PICTURED) == DELIVERED

    (post,) = discord.posts("discord")
    assert '"embeds"' not in post.raw


def test_a_message_refused_in_every_form_is_given_up(channel: DiscordChannel, discord: Simulator) -> None:
    discord.fault("status", "discord", status=400, times=2)

    assert channel.send(place("discord"), URL, PICTURED).kind is OutcomeKind.MESSAGE


def test_a_flood_waits_as_long_as_told(channel: DiscordChannel, discord: Simulator) -> None:
    discord.fault("status", "discord", status=429, retry_after=17)

    outcome = channel.send(place("discord"), URL, PICTURED)

    assert (outcome.kind, outcome.retry_after) == (OutcomeKind.GATE, 17_250)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, OutcomeKind.DESTINATION),
        (403, OutcomeKind.DESTINATION),
        (404, OutcomeKind.DESTINATION),
        (500, OutcomeKind.OUTAGE),
        (502, OutcomeKind.OUTAGE),
    ],
)
def test_a_refusal_has_its_class(channel: DiscordChannel, discord: Simulator, status: int, kind: OutcomeKind) -> None:
    discord.fault("status", "discord", status=status)

    assert channel.send(place("discord"), URL, PICTURED).kind is kind


@pytest.mark.parametrize("fault", ["drop_after", "garbage", "truncated", "hang"])
def test_a_lost_answer_is_ambiguous(channel: DiscordChannel, discord: Simulator, fault: str) -> None:
    discord.fault(fault, "discord", seconds=3)

    assert channel.send(place("discord"), URL, PICTURED).kind is OutcomeKind.AMBIGUOUS


def test_nobody_listening_is_an_outage() -> None:
    client = HttpClient(HttpSettings(connect_seconds=1))
    nowhere = DiscordChannel(client, api_url="http://127.0.0.1:9", clock=now)

    assert nowhere.send(place("discord"), URL, PICTURED).kind is OutcomeKind.OUTAGE
    client.close()
