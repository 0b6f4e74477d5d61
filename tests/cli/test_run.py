"""What `make run` understands, and how it shows what happens."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from lago.stats import CycleStats, DisabledDestination, FailingSearch, QueueCounts, SourceStats, Stats
from lago_cli.standing import NEEDS_SECRET
from scripts.local_stack import LocalStackError
from scripts.run import far_sides, only_one, require_running
from scripts.run_attention import Attention, where_messages_go
from scripts.run_cycles import Cycles, LoggedReports, cycle_line
from scripts.run_hooks import SimulatedHooks
from scripts.run_hooks import shown as shown_post
from scripts.run_messages import DeliveryLog, SimulatedChat
from scripts.run_messages import shown as shown_message
from scripts.run_settings import EXAMPLE, read_settings
from scripts.run_watch import understand
from simulator.client import HookPost, SentMessage
from simulator.process import Process
from tests.cli.fakes import a_watch
from tests.infra.stack import source


def test_everything_is_simulated_by_default() -> None:
    settings = read_settings({}, [])

    assert (settings.cloud_port, settings.simulator_port, settings.home) == (4566, 8099, Path(".local"))
    assert (settings.marketplace, settings.telegram, settings.watch) == (None, None, EXAMPLE)
    assert settings.needs_simulator


def test_a_watch_alone_is_a_watch_on_the_real_marketplace_told_in_the_terminal() -> None:
    settings = read_settings({"WATCH": "rennrad"}, [])

    assert (settings.marketplace, settings.telegram) == ("https://www.willhaben.at", None)
    assert settings.needs_simulator


def test_a_token_without_an_address_is_for_the_real_telegram() -> None:
    settings = read_settings({"WATCH": "rennrad", "TELEGRAM_BOT_TOKEN": "1:SECRET"}, [])

    assert settings.telegram == "https://api.telegram.org"
    assert not settings.needs_simulator
    assert "SECRET" not in repr(settings)


def test_any_server_can_stand_in_for_both() -> None:
    environ = {
        "WILLHABEN_BASE_URL": "http://127.0.0.1:9000/",
        "TELEGRAM_API_URL": "http://127.0.0.1:9001",
        "TELEGRAM_BOT_TOKEN": "1:a",
        "TELEGRAM_CHAT_ID": "77",
    }

    settings = read_settings(environ, [])

    assert (settings.marketplace, settings.telegram) == ("http://127.0.0.1:9000", "http://127.0.0.1:9001")
    assert (settings.chat, settings.watch) == ("77", "rennrad")


@pytest.mark.parametrize(
    ("typed", "marketplace"),
    [
        ({}, None),
        ({"WATCH": "rennrad"}, "https://www.willhaben.at"),
        ({"WILLHABEN_BASE_URL": "https://www.willhaben.at"}, "https://www.willhaben.at"),
    ],
)
def test_a_shell_that_is_pointed_at_an_earlier_run_takes_its_simulator_for_no_marketplace(
    typed: dict[str, str], marketplace: str | None
) -> None:
    sourced = {
        "WILLHABEN_BASE_URL": "http://127.0.0.1:8099",
        "CONTACT": "",
        "LAGO_API_URL": "http://127.0.0.1:4566/_aws/execute-api/7abddeaf/v1",
    }

    assert read_settings(sourced | typed, []).marketplace == marketplace


def test_the_contact_for_the_marketplace_is_taken_as_it_is() -> None:
    assert read_settings({"CONTACT": " you@example.org "}, []).contact == "you@example.org"
    assert read_settings({}, []).contact == ""


def test_every_parameter_of_the_template_is_taken() -> None:
    given = dict.fromkeys(source()["Parameters"], "1")

    assert read_settings({"PARAMETERS": " ".join(f"{name}=1" for name in given)}, []).parameters == given


def test_template_parameters_are_passed_on() -> None:
    settings = read_settings({"PARAMETERS": "RetryBaseSeconds=5  ScheduleRate=rate(2_minutes)"}, [])

    assert settings.parameters == {"RetryBaseSeconds": "5", "ScheduleRate": "rate(2_minutes)"}


def test_it_may_stop_by_itself() -> None:
    assert read_settings({}, []).seconds is None
    assert read_settings({}, ["--seconds", "90"]).seconds == 90
    assert read_settings({}, ["--once"]).seconds == 0


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"CLOUD_PORT": "http"}, "CLOUD_PORT: got 'http', expected a port"),
        ({"SIMULATOR_PORT": "70000"}, "SIMULATOR_PORT: got '70000', expected a port"),
        ({"CLOUD_PORT": "8099"}, "CLOUD_PORT and SIMULATOR_PORT are both 8099: choose another for one of them"),
        ({"CONTACT": "me (at home)"}, "CONTACT: got 'me (at home)', expected a mail or web address"),
        ({"WILLHABEN_BASE_URL": "www.willhaben.at"}, "WILLHABEN_BASE_URL: got 'www.willhaben.at'"),
        ({"TELEGRAM_API_URL": "https://api.telegram.org/bot"}, "TELEGRAM_API_URL: got"),
        (
            {"PARAMETERS": "RetryBaseSecond=5"},
            "PARAMETERS: RetryBaseSecond is no parameter of the template: did you mean ",
        ),
        ({"PARAMETERS": "Type=5"}, "PARAMETERS: Type is no parameter of the template: "),
        ({"PARAMETERS": "fast please"}, "PARAMETERS: got 'fast please', expected NAME=VALUE"),
    ],
)
def test_a_wrong_setting_is_named(environ: dict[str, str], sentence: str) -> None:
    with pytest.raises(LocalStackError) as caught:
        read_settings(environ, [])

    assert caught.value.sentence.startswith(sentence)


def test_an_address_that_is_no_search_is_refused_before_anything_is_started() -> None:
    with pytest.raises(LocalStackError, match="an address on www"):
        understand("https://example.com/x", "https://www.willhaben.at")


def test_a_second_run_in_the_same_folder_names_the_first(tmp_path: Path) -> None:
    with only_one(tmp_path), pytest.raises(LocalStackError, match=rf"process {os.getpid()}"), only_one(tmp_path):
        pass

    with only_one(tmp_path):
        assert (tmp_path / "run.lock").read_text() == str(os.getpid())


def stats(*, finished: str | None, pending: int = 0, dead: int = 0, reason: str | None = None) -> Stats:
    source = SourceStats(healthy=reason is None, reason=reason, failures=0, since=None, retry_at=None)
    cycle = CycleStats(shard=0, started="2026-11-29T12:00:00+00:00", finished=finished, interval_seconds=60.0)
    return Stats(
        at="2026-11-29T12:00:01+00:00",
        pending=QueueCounts(total=pending, by_channel={}),
        pending_due=0,
        pending_later=pending,
        dead=QueueCounts(total=dead, by_channel={}),
        oldest_due_age_seconds=0,
        delivered_24h=0,
        searches=1,
        watches=1,
        sources={"willhaben": source},
        failing_searches=[],
        disabled_destinations=[],
        cycles=[cycle],
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_simulator_that_is_gone_ends_the_run_by_its_name(tmp_path: Path, number: signal.Signals) -> None:
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(sleeping) as popen:
        simulator = Process(popen, "http://127.0.0.1:1")
        require_running(simulator, tmp_path)

        popen.send_signal(number)
        popen.wait()

        with pytest.raises(LocalStackError, match="The simulator ended by itself"):
            require_running(simulator, tmp_path)


def test_without_a_simulator_none_is_missed(tmp_path: Path) -> None:
    require_running(None, tmp_path)


def test_each_finished_cycle_is_told_once_with_what_it_found() -> None:
    cycles = Cycles(stats(finished="11:59"))
    report = {"shard": 0, "new_ads": 2, "price_drops": 1, "errors": {"store": 1, "source": 0}}

    before = cycles.new(stats(finished="11:59"), lambda: [report], dict)
    running = cycles.new(stats(finished=None), lambda: [report], dict)
    (line,) = cycles.new(stats(finished="12:00", pending=3, dead=1), lambda: [report], dict)
    after = cycles.new(stats(finished="12:00"), lambda: [report], dict)

    assert (before, running, after) == ([], [], [])
    assert line.endswith("cycle: 2 new ads, 1 price drop, 1 store error(s); 3 waiting to be sent; 1 dead")


def test_a_cycle_that_found_nothing_says_so() -> None:
    calm = stats(finished="12:00")

    assert cycle_line(calm.cycles[0], {}, calm, {}).endswith("cycle: nothing new")


@pytest.mark.parametrize("report", [{}, {"read": 0, "errors": {"source": 1}}])
def test_an_outage_is_never_nothing_new(report: dict[str, object]) -> None:
    resting = stats(finished="12:00", reason="www.willhaben.at answered 503")

    line = cycle_line(resting.cycles[0], report, resting, {})

    assert line.endswith("cycle: nothing could be read; willhaben rests: www.willhaben.at answered 503")


def test_a_failing_search_is_called_by_its_watchs_name() -> None:
    reason = "www.willhaben.at answered 404 for /iad"
    failing = FailingSearch(search="0.abc", reason=reason, retry_at="2026-11-29T12:05:00+00:00")
    one, two = stats(finished="12:00"), replace(stats(finished="12:00"), searches=2)
    names = {"0.abc": "“Our bike”"}

    alone = cycle_line(one.cycles[0], {}, replace(one, failing_searches=[failing]), names)
    among_others = cycle_line(two.cycles[0], {}, replace(two, failing_searches=[failing]), names)

    assert alone.endswith(f"cycle: nothing could be read; “Our bike”: {reason}")
    assert among_others.endswith(f"cycle: nothing new; “Our bike”: {reason}")


BLOCKED = [DisabledDestination(destination="me", reason="bot was blocked")]
DISABLED = "disabled: “me” (bot was blocked): nothing is told there until you run `lago destination enable me`"
PAUSED = "paused: “rennrad” (bot was blocked): go on with `lago watch resume ab`"


def test_a_destination_that_is_disabled_and_what_it_pauses_are_told_once() -> None:
    calm, silent = stats(finished="12:00"), replace(stats(finished="12:00"), disabled_destinations=BLOCKED)
    running, paused = a_watch("ab"), a_watch("ab", paused="bot was blocked")
    elsewhere = a_watch("cd", paused="on holiday", destinations=("you",))
    attention = Attention(calm, [])

    assert attention.new(calm, []) == []
    assert attention.new(silent, [running, elsewhere]) == [DISABLED]
    assert attention.new(silent, [paused, elsewhere]) == [PAUSED]
    assert attention.new(silent, [paused, elsewhere]) == []
    assert attention.new(calm, []) == []
    assert attention.new(silent, [paused]) == [DISABLED, PAUSED]


def test_a_destination_without_its_secret_is_added_again() -> None:
    imported = [DisabledDestination(destination="team", reason=NEEDS_SECRET)]

    (line,) = Attention(stats(finished="12:00"), []).new(
        replace(stats(finished="12:00"), disabled_destinations=imported), []
    )

    assert line.endswith("until you run `lago destination add team --channel …`")


def test_the_start_says_where_messages_go_and_what_is_silent() -> None:
    calm, silent = stats(finished="12:00"), replace(stats(finished="12:00"), disabled_destinations=BLOCKED)
    paused = a_watch("ab", paused="bot was blocked")

    assert where_messages_go("this terminal", calm, [a_watch("ab")]) == ["Messages go to this terminal."]
    assert where_messages_go("this terminal", silent, [paused]) == [
        "Messages go to this terminal, but:",
        f"  {DISABLED}",
        f"  {PAUSED}",
    ]


class FakeLogs:
    """CloudWatch Logs, as much of it as is asked."""

    class exceptions:  # noqa: N801 - boto3's name
        class ResourceNotFoundException(Exception):  # noqa: N818 - boto3's name
            pass

    def __init__(self, *lines: str) -> None:
        self.events = [{"timestamp": 10 + number, "message": line} for number, line in enumerate(lines)]
        self.group = "scrape"

    def get_paginator(self, name: str) -> "FakeLogs":
        assert name == "filter_log_events"
        return self

    def paginate(self, logGroupName: str, startTime: int) -> list[dict[str, object]]:  # noqa: N803 - boto3's names
        if logGroupName != self.group:
            raise self.exceptions.ResourceNotFoundException
        return [{"events": [event for event in self.events if int(str(event["timestamp"])) >= startTime]}]


def test_reports_are_read_from_the_log_once_among_other_lines() -> None:
    logs = FakeLogs("START", json.dumps({"report": {"new_ads": 1}}), "[1]", json.dumps({"message": "request"}))
    reports = LoggedReports(logs, "scrape", 0)

    assert reports.new() == [{"new_ads": 1}]
    logs.events.append({"timestamp": 13, "message": json.dumps({"report": {"new_ads": 2}})})
    assert reports.new() == [{"new_ads": 2}]
    assert reports.new() == []


def test_a_log_that_is_not_there_yet_is_empty() -> None:
    assert LoggedReports(FakeLogs(), "other", 0).new() == []


def a_message(number: int, text: str = "New ad") -> SentMessage:
    return SentMessage(
        id=number,
        chat=1,
        time=0,
        method="sendPhoto",
        text=text,
        raw=text,
        parse_mode="HTML",
        entities=(),
        photo="https://cache.example/1.jpg",
        buttons=((("Open the ad", "https://www.willhaben.at/iad/1"),),),
        silent=False,
    )


class FakeSimulator:
    def __init__(self, *messages: SentMessage) -> None:
        self.sent = list(messages)

    def messages(self) -> list[SentMessage]:
        return self.sent


def test_messages_of_an_earlier_run_are_not_news() -> None:
    simulator = FakeSimulator(a_message(1))
    chat = SimulatedChat(simulator)  # type: ignore[arg-type]
    simulator.sent.append(a_message(2))

    assert len(chat.new()) == 1
    assert chat.new() == []


def test_a_message_is_shown_as_the_person_sees_it_and_harmless() -> None:
    screen = io.StringIO()

    shown_message(a_message(1, "New ad\n[red]Rad\x1b[2J")).show(Console(file=screen, width=100))

    text = screen.getvalue()
    assert "[picture https://cache.example/1.jpg]" in text
    assert "[red]Rad[2J" in text
    assert "[Open the ad] https://www.willhaben.at/iad/1" in text
    assert "\x1b" not in text


def a_post(number: int, service: str, path: str, **said: object) -> HookPost:
    raw = json.dumps(said)
    return HookPost(id=number, service=service, path=path, query="", time=0, headers={}, raw=raw, json=said or None)


class FakeHooks:
    def __init__(self, *posts: HookPost) -> None:
        self.taken = list(posts)

    def posts(self, *, after: int = 0) -> list[HookPost]:
        return [post for post in self.taken if post.id > after]


def test_what_reaches_another_channel_is_shown_once() -> None:
    simulator = FakeHooks(a_post(7, "slack", "/services/T0", text="before"))
    hooks = SimulatedHooks(simulator)  # type: ignore[arg-type]
    simulator.taken.append(a_post(8, "slack", "/services/T0", text="now"))

    assert [each.lines for each in hooks.new()] == [("now",)]
    assert hooks.new() == []


@pytest.mark.parametrize(
    ("post", "line"),
    [
        (a_post(1, "slack", "/services/T0/B0/x", text="New ad\nRad"), "Slack /services/T0/B0/x: New ad Rad"),
        (
            a_post(1, "discord", "/api/webhooks/1/x", embeds=[{"author": {"name": "New ad"}, "title": "Rad"}]),
            "Discord /api/webhooks/1/x: New ad · Rad",
        ),
        (a_post(1, "discord", "/api/webhooks/1/x", content="5 new ads"), "Discord /api/webhooks/1/x: 5 new ads"),
        (a_post(1, "ntfy", "/", topic="bikes", title="New ad", message="Rad"), "ntfy bikes: New ad · Rad"),
        (a_post(1, "webhook", "/mine", type="lago.new_ad.v1"), "webhook /mine: lago.new_ad.v1"),
        (a_post(1, "webhook", "/\x1b[2J"), "webhook /[2J: {}"),
    ],
)
def test_a_post_is_one_harmless_line(post: HookPost, line: str) -> None:
    screen = io.StringIO()

    shown_post(post).show(Console(file=screen, width=100))

    assert screen.getvalue().partition(" ")[2] == f"{line}\n"


def test_other_channels_lead_to_the_simulator_where_the_chat_is_there_and_into_the_world_where_it_is_not() -> None:
    simulated, real = far_sides("http://127.0.0.1:8099"), far_sides(None)

    assert simulated["SlackApiUrl"] == "http://127.0.0.1:8099/_hooks/slack"
    assert simulated["TrustedOrigins"] == "http://127.0.0.1:8099"
    defaults = source()["Parameters"]
    assert real == {name: defaults[name]["Default"] for name in simulated}


class FakeDynamo:
    def __init__(self) -> None:
        self.items = [item("willhaben/1", 10)]

    def get_paginator(self, _name: str) -> "FakeDynamo":
        return self

    def paginate(self, **_: object) -> list[dict[str, object]]:
        return [{"Items": self.items}]


def item(ad: str, told_at: int) -> dict[str, dict[str, str]]:
    return {"ad": {"S": ad}, "kind": {"S": "price_drop"}, "told_at": {"N": str(told_at)}, "price": {"N": "59000"}}


def test_with_a_real_telegram_the_delivery_log_tells() -> None:
    dynamo = FakeDynamo()
    log = DeliveryLog(dynamo, "deliveries")
    dynamo.items += [item("willhaben/2", 20), item("willhaben/1", 30)]

    assert [each.lines for each in log.new()] == [
        ("price drop: willhaben/2 at € 590",),
        ("price drop: willhaben/1 at € 590",),
    ]
    assert log.new() == []
