"""The Telegram channel against a server that speaks the Bot API over real HTTP, and misbehaves on request."""

import time
from collections.abc import Iterator

import pytest

from lago.channels.telegram import TelegramChannel
from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.outcome import Outcome, OutcomeKind
from lago.http import HttpClient, HttpSettings
from simulator.client import SentMessage, Simulator
from simulator.process import Process, start
from simulator.telegram import DEFAULT_TOKEN
from tests.unit.telegram.builders import a_drop, an_ad, chat, live, message, newest, news

PICTURED = message(news(an_ad(image="https://cache.willhaben.at/mmo/1.jpg")))
PERSON, GROUP = "4711", "-42"


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    with start(ads=1, chats=[4711, -42], max_seconds=120) as running:
        yield running


@pytest.fixture
def telegram(process: Process) -> Simulator:
    process.client.reset()
    process.client.chat(4711)
    process.client.chat(-42, kind="group")
    return process.client


@pytest.fixture
def channel(process: Process) -> Iterator[TelegramChannel]:
    client = HttpClient(HttpSettings(connect_seconds=1, read_seconds=1, total_seconds=2))
    yield TelegramChannel(client, api_url=process.url, clock=_now, sleep=_sleep)
    client.close()


def _now() -> EpochMs:
    return EpochMs(time.time_ns() // 1_000_000)


def _sleep(duration: Milliseconds) -> None:
    time.sleep(duration / 1_000)


def the_message(telegram: Simulator, address: str = PERSON) -> SentMessage:
    (sent,) = telegram.messages(address)
    return sent


def test_a_photo_arrives_with_caption_and_button(channel: TelegramChannel, telegram: Simulator) -> None:
    assert channel.send(chat(PERSON), DEFAULT_TOKEN, PICTURED) == Outcome(kind=OutcomeKind.DELIVERED)

    sent = the_message(telegram)
    assert sent.photo == "https://cache.willhaben.at/mmo/1.jpg"
    assert sent.text.startswith("🆕 New ad · Rennrad Wien\nKTM Strada 1000\n€ 283\n")
    assert sent.buttons == ((("Open the ad", an_ad().url),),)


def test_hostile_markup_arrives_as_text(channel: TelegramChannel, telegram: Simulator) -> None:
    hostile = an_ad(title='<b>"1" & </a> \U0001f6b2\u202e', place="</script>")

    assert channel.send(chat(PERSON), DEFAULT_TOKEN, message(news(hostile))).kind is OutcomeKind.DELIVERED

    sent = the_message(telegram)
    assert '<b>"1" & </a> 🚲\n' in sent.text
    assert [one["type"] for one in sent.entities] == ["bold", "text_link", "bold", "bold"]


def test_a_club_and_a_new_watch_arrive(channel: TelegramChannel, telegram: Simulator) -> None:
    club = message(*[news(), news(a_drop())] * 30, more=4)
    alive = message(news(live(12, newest("One"))))

    assert channel.send(chat(PERSON), DEFAULT_TOKEN, club).kind is OutcomeKind.DELIVERED
    assert channel.send(chat(PERSON), DEFAULT_TOKEN, alive).kind is OutcomeKind.DELIVERED

    first, second = telegram.messages(PERSON)
    assert first.text.startswith("🔔 30 new ads, 30 price drops, 4 more · Rennrad Wien")
    assert second.text.startswith("👀 Your watch Rennrad Wien is live\n12 ads match now.")


def test_a_refused_photo_arrives_as_text(channel: TelegramChannel, telegram: Simulator) -> None:
    telegram.fault("refuse_photo", "telegram")

    assert channel.send(chat(PERSON), DEFAULT_TOKEN, PICTURED).kind is OutcomeKind.DELIVERED

    sent = the_message(telegram)
    assert sent.method == "sendMessage"
    assert sent.parse_mode == "HTML"


def test_refused_markup_arrives_as_plain_text(channel: TelegramChannel, telegram: Simulator) -> None:
    telegram.fault("status", "telegram", status=400)

    assert channel.send(chat(PERSON), DEFAULT_TOKEN, message()).kind is OutcomeKind.DELIVERED

    sent = the_message(telegram)
    assert not sent.parse_mode
    assert f"KTM Strada 1000 {an_ad().url}" in sent.text


def test_a_message_refused_in_every_form_is_given_up(channel: TelegramChannel, telegram: Simulator) -> None:
    telegram.fault("status", "telegram", status=400, times=3)

    assert channel.send(chat(PERSON), DEFAULT_TOKEN, PICTURED).kind is OutcomeKind.MESSAGE
    assert telegram.messages() == []


def test_a_flood_waits_as_long_as_told(channel: TelegramChannel, telegram: Simulator) -> None:
    telegram.fault("status", "telegram", status=429, retry_after=17)

    outcome = channel.send(chat(PERSON), DEFAULT_TOKEN, PICTURED)

    assert outcome.kind is OutcomeKind.GATE
    assert outcome.retry_after == 17_000


def test_a_person_who_blocked_the_bot_is_a_lost_destination(channel: TelegramChannel, telegram: Simulator) -> None:
    telegram.chat(4711, blocked=True)

    outcome = channel.send(chat(PERSON), DEFAULT_TOKEN, PICTURED)

    assert outcome == Outcome(
        kind=OutcomeKind.DESTINATION, reason="Telegram 403: Forbidden: bot was blocked by the user"
    )


def test_an_unknown_chat_is_a_lost_destination(channel: TelegramChannel, telegram: Simulator) -> None:
    assert channel.send(chat("999"), DEFAULT_TOKEN, PICTURED).kind is OutcomeKind.DESTINATION


def test_a_migrated_group_gets_the_message_under_its_new_id(channel: TelegramChannel, telegram: Simulator) -> None:
    telegram.chat(-42, migrate_to=-100777)

    outcome = channel.send(chat(GROUP), DEFAULT_TOKEN, PICTURED)

    assert outcome == Outcome(kind=OutcomeKind.DELIVERED, address="-100777")
    assert the_message(telegram, "-100777").photo


@pytest.mark.parametrize("token", ["4711:another-token-0123456789abcdef", "4711:x_x"])
def test_a_wrong_token_is_an_outage_that_names_the_way_out(
    channel: TelegramChannel, telegram: Simulator, token: str
) -> None:
    outcome = channel.send(chat(PERSON), token, PICTURED)

    assert outcome.kind is OutcomeKind.OUTAGE
    assert "`lago setup`" in outcome.reason
    assert token not in outcome.reason


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_server_error_is_an_outage(channel: TelegramChannel, telegram: Simulator, status: int) -> None:
    telegram.fault("status", "telegram", status=status)

    assert channel.send(chat(PERSON), DEFAULT_TOKEN, PICTURED).kind is OutcomeKind.OUTAGE


@pytest.mark.parametrize("kind", ["drop_after", "garbage", "truncated", "hang"])
def test_a_lost_answer_is_ambiguous(channel: TelegramChannel, telegram: Simulator, kind: str) -> None:
    telegram.fault(kind, "telegram", seconds=3)

    assert channel.send(chat(PERSON), DEFAULT_TOKEN, PICTURED).kind is OutcomeKind.AMBIGUOUS


def test_nobody_listening_is_an_outage(telegram: Simulator) -> None:
    client = HttpClient(HttpSettings(connect_seconds=1))
    nowhere = TelegramChannel(client, api_url="http://127.0.0.1:9", clock=_now, sleep=_sleep)

    assert nowhere.send(chat(PERSON), DEFAULT_TOKEN, PICTURED).kind is OutcomeKind.OUTAGE
    client.close()


def test_one_connection_serves_many_messages(channel: TelegramChannel, telegram: Simulator) -> None:
    telegram.reset_stats()

    for _ in range(4):
        assert channel.send(chat(PERSON), DEFAULT_TOKEN, message()).kind is OutcomeKind.DELIVERED

    assert [request["reused"] for request in telegram.stats().requests] == [False, True, True, True]


def test_a_connection_closed_while_idle_costs_nothing(channel: TelegramChannel, telegram: Simulator) -> None:
    assert channel.send(chat(PERSON), DEFAULT_TOKEN, message()).kind is OutcomeKind.DELIVERED
    telegram.close_connections()

    assert channel.send(chat(PERSON), DEFAULT_TOKEN, message()).kind is OutcomeKind.DELIVERED
    assert len(telegram.messages(PERSON)) == 2
