"""`lago doctor`: what it finds, what it says to do, and that nothing stops it."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from msgspec.structs import replace

from lago import __version__
from lago.domain.ids import DestinationId, EpochMs
from lago.errors import SourceUnavailableError, StoreUnavailableError
from lago_cli.deployment import Schedule, Subscriber
from lago_cli.doctor import CHECKS, SECONDS
from lago_cli.errors import StackError
from lago_cli.standing import NEEDS_SECRET
from tests.cli.doctor_case import PARAMETER, TOKEN, a_stack, figures, findings, iso, troubles
from tests.cli.fake_deployment import PARAMETERS, FakeDeployment
from tests.cli.fakes import (
    NOW,
    FakeBot,
    FakeDestinations,
    FakeMarketplace,
    FakeSecrets,
    FakeStack,
    FakeWatches,
    a_destination,
    a_watch,
    a_world,
)
from tests.cli.run import lago
from tests.infra.stack import source


def test_a_stack_that_is_well_has_no_trouble_and_every_check_says_so() -> None:
    world = a_world(a_stack(), deployment=FakeDeployment())

    assert troubles(world) == {}
    assert {check for check, _ in findings(world)} == {check.name for check in CHECKS}
    assert lago(world, "doctor").exit_code == 0


def test_each_finding_is_a_line_with_its_mark_and_what_to_do_below() -> None:
    stack = a_stack(stats=figures(dead={"total": 2, "by_channel": {"telegram": 2}}))

    result = lago(a_world(stack), "doctor")

    lines = result.stdout.splitlines()
    assert "✓ deployment: stack lago: UPDATE_COMPLETE" in lines
    at = lines.index("✗ dead letters: 2 notifications could not be delivered (telegram 2)")
    assert lines[at + 1].startswith("    → `lago dead list` says why")
    assert result.exit_code == 1


def test_quiet_prints_only_what_is_not_fine() -> None:
    assert lago(a_world(a_stack()), "doctor", "--quiet").stdout == ""


def test_a_warning_is_no_failure() -> None:
    result = lago(a_world(a_stack(), deployment=FakeDeployment(runs=Schedule(False, "rate(1 minute)"))), "doctor")

    assert "! schedule: the schedule is disabled" in result.stdout
    assert result.exit_code == 0


def test_no_token_is_ever_shown() -> None:
    stack = a_stack(secrets=FakeSecrets({PARAMETER: f"{TOKEN} and more"}))

    for world in (a_world(a_stack()), a_world(stack), a_world(a_stack(), bot=FakeBot(refuses=True))):
        assert "ABC-DEF" not in lago(world, "doctor").output


DEPLOYMENTS: list[tuple[FakeDeployment, tuple[str, str], str]] = [
    (FakeDeployment(status="UPDATE_ROLLBACK_COMPLETE"), ("deployment", "warning"), "the last deployment failed"),
    (FakeDeployment(status="UPDATE_IN_PROGRESS"), ("deployment", "warning"), "under way"),
    (FakeDeployment(status="REVIEW_IN_PROGRESS"), ("deployment", "wrong"), "not carried out"),
    (FakeDeployment(status="ROLLBACK_COMPLETE"), ("deployment", "wrong"), "`sam delete` what is left of it, then"),
    (FakeDeployment(status="UPDATE_ROLLBACK_FAILED"), ("deployment", "wrong"), "continue its rollback there, then"),
    (FakeDeployment(outputs={"Version": "0.0.9"}), ("deployment", "warning"), "version 0.0.9, this command is"),
    (FakeDeployment(outputs={}), ("deployment", "warning"), "version before 0.1"),
    (FakeDeployment(aws_clock=EpochMs(NOW - 120_000)), ("clock", "warning"), "2 min off AWS's"),
    (FakeDeployment(aws_clock=EpochMs(NOW + 360_000)), ("clock", "wrong"), "AWS refuses what is signed"),
    (FakeDeployment(aws_clock=None), ("clock", "warning"), "did not say what time"),
    (FakeDeployment(states={"test-dead-letters": "ALARM"}), ("alarms", "wrong"), "in ALARM: It is bad; look."),
    (
        FakeDeployment(hear=(Subscriber("o@example.org", False),)),
        ("alarms", "wrong"),
        "o@example.org has not confirmed",
    ),
    (FakeDeployment(hear=()), ("alarms", "wrong"), "owner@example.org gets no alarms"),
    (FakeDeployment(at_a_time=10), ("quotas", "warning"), "enough for Lago alone"),
    (FakeDeployment(at_a_time=5), ("quotas", "wrong"), "Service Quotas"),
    (FakeDeployment(restorable=False), ("retention", "wrong"), "no point-in-time recovery: test-queue"),
    (FakeDeployment(days=None), ("retention", "warning"), "kept for ever: /logs/cycle"),
]


@pytest.mark.parametrize(("deployment", "check", "said"), DEPLOYMENTS)
def test_what_is_wrong_with_a_deployment_is_said(deployment: FakeDeployment, check: tuple[str, str], said: str) -> None:
    found = troubles(a_world(a_stack(), deployment=deployment))

    assert list(found) == [check]
    assert said in found[check][0]


@pytest.mark.parametrize(
    ("given", "check", "said"),
    [
        ({"HttpKeepaliveSeconds": "60"}, "warning", "set HttpKeepaliveSeconds above 60"),
        ({"ScheduleRate": "rate(2 hours)"}, "warning", "no connection lives to the next one"),
        ({"ScrapeMaxPages": "11"}, "warning", "ScrapeMaxPages is 11 and ScrapeHardPages 10"),
        ({"RetryBaseSeconds": "961"}, "warning", "set RetryCapSeconds higher"),
        ({"RequestSpacingMs": "100"}, "warning", "set RequestSpacingMs to 250 or more"),
        ({"TelegramApiUrl": "http://example.org"}, "wrong", "TelegramApiUrl begins with http://"),
        ({"TableRetention": "Delete"}, "warning", "the tables go when the stack is deleted"),
        ({"Contact": ""}, "warning", "cannot reach whoever runs this"),
        ({"AlarmEmail": ""}, "warning", "nobody hears of dead letters"),
        ({"OperatorDestination": "nobody"}, "wrong", "'nobody', which is no destination"),
    ],
)
def test_parameters_that_do_not_go_together_are_said(given: dict[str, str], check: str, said: str) -> None:
    found = troubles(a_world(a_stack(), deployment=FakeDeployment(parameters=PARAMETERS | given)))

    assert list(found) == [("parameters", check)]
    assert said in " ".join(found["parameters", check])


def test_a_cron_expression_and_parameters_of_another_version_are_taken_as_they_are() -> None:
    given = {"ScheduleRate": "cron(0 6-22 * * ? *)", "AlarmEmail": "owner@example.org", "Contact": "x"}

    assert troubles(a_world(a_stack(), deployment=FakeDeployment(parameters=given))) == {}


def test_a_local_cloud_is_not_measured_by_what_only_a_real_one_has() -> None:
    local = PARAMETERS | {"AwsEndpointUrl": "http://127.0.0.1:4566", "RequestSpacingMs": "0", "Contact": ""}
    local |= {"TelegramApiUrl": "http://127.0.0.1:8099", "TableRetention": "Delete", "AlarmEmail": ""}

    world = a_world(a_stack(), deployment=FakeDeployment(parameters=local, restorable=False, at_a_time=1))

    assert troubles(world) == {}


@pytest.mark.parametrize(
    ("cycles", "verdict", "said"),
    [
        ([], "wrong", "no cycle has run yet"),
        ([{"started": iso(-3600), "finished": iso(-3590), "interval_seconds": 60.0}], "wrong", "last cycle 1 h ago"),
        ([{"started": iso(-240), "finished": iso(-230), "interval_seconds": 200.0}], "warning", "60 s were asked for"),
    ],
)
def test_cycles_that_do_not_come_or_come_seldom_are_said(cycles: list[dict[str, Any]], verdict: str, said: str) -> None:
    stats = figures(cycles=[{"shard": 0, **each} for each in cycles])

    found = troubles(a_world(a_stack(stats=stats)))

    assert list(found) == [("schedule", verdict)]
    assert said in found["schedule", verdict][0]


def test_a_cycle_that_never_finished_is_said_where_the_next_is_not_due_yet() -> None:
    crashed = {"shard": 1, "started": iso(-1_800), "finished": None, "interval_seconds": None}
    hourly = FakeDeployment(runs=Schedule(True, "rate(1 hour)"))

    found = troubles(a_world(a_stack(stats=figures(cycles=[crashed])), deployment=hourly))

    assert "shard 1: last cycle 30 min ago, and it never finished" in found["schedule", "wrong"][0]


def test_a_token_that_telegram_does_not_know_is_said_and_no_chat_is_asked_for() -> None:
    found = troubles(a_world(a_stack(), bot=FakeBot(refuses=True, unknown={"1"})))

    assert list(found) == [("telegram", "wrong")]
    assert len(found["telegram", "wrong"]) == 1


def test_a_chat_that_is_gone_and_a_webhook_are_said() -> None:
    found = troubles(a_world(a_stack(), bot=FakeBot(unknown={"1"}, updates_go_to="bot.example.org")))

    assert "“me”: Telegram refused getChat: Bad Request: chat not found." in found["telegram", "wrong"][0]
    assert "updates go to bot.example.org" in found["telegram", "warning"][0]


def test_a_marketplace_that_does_not_answer_from_here_is_said() -> None:
    shop = FakeMarketplace(failure=SourceUnavailableError("no answer from www.willhaben.at: ConnectTimeout"))

    found = troubles(a_world(a_stack(), marketplace=shop))

    assert "from here: no answer from www.willhaben.at" in found["sources", "warning"][0]


def test_one_request_goes_to_the_marketplace() -> None:
    shop = FakeMarketplace(status=403)

    found = troubles(a_world(a_stack(), marketplace=shop))

    assert "answers (403 for robots.txt)" in found["sources", "warning"][0]
    assert shop.fetched == []


@pytest.mark.parametrize(("seconds", "verdict"), [(600, "warning"), (7_200, "wrong")])
def test_a_source_that_rests_is_said_and_for_long_is_wrong(seconds: int, verdict: str) -> None:
    health = {"healthy": False, "reason": "www.willhaben.at answered 403", "since": iso(-seconds), "retry_at": iso(60)}

    found = troubles(a_world(a_stack(stats=figures(sources={"willhaben": health}))))

    assert "www.willhaben.at answered 403" in found["sources", verdict][0]


@pytest.mark.parametrize(("seconds", "verdict"), [(301, "warning"), (901, "wrong")])
def test_an_old_backlog_is_said(seconds: int, verdict: str) -> None:
    stats = figures(pending={"total": 3, "by_channel": {"telegram": 3}}, pending_due=2, oldest_due_age_seconds=seconds)

    found = troubles(a_world(a_stack(stats=stats)))

    assert "3 notifications waiting, 2 of them due; the oldest for" in found["backlog", verdict][0]


def test_who_is_not_told_is_said() -> None:
    me = a_destination(credentials=PARAMETER, disabled="the bot was blocked")
    watches = FakeWatches([a_watch("w1", paused="the bot was blocked"), a_watch("w2", destinations=("you",))])

    found = troubles(a_world(a_stack(destinations=FakeDestinations({me.id: me}), watches=watches)))

    said = found["destinations", "wrong"][0]
    assert "“me” is disabled: the bot was blocked → mend it, then `lago setup`; watches that this paused" in said
    assert "tells you, which is not there" in found["destinations", "wrong"][1]
    assert "(w1) is paused: the bot was blocked → `lago watch resume w1`" in found["destinations", "warning"][0]


@pytest.mark.parametrize(
    ("channel", "disabled", "command"),
    [
        ("telegram", "blocked", "lago setup --destination work"),
        ("telegram", NEEDS_SECRET, "lago setup --destination work"),
        ("slack", "the channel is archived", "lago destination enable work"),
        ("slack", NEEDS_SECRET, "lago destination add work --channel slack"),
    ],
)
def test_a_disabled_destination_comes_with_the_command_that_mends_it(channel: str, disabled: str, command: str) -> None:
    work = a_destination(id=DestinationId("work"), channel=channel, disabled=disabled)

    found = troubles(a_world(a_stack(destinations=FakeDestinations({work.id: work}))))

    assert f"“work” is disabled: {disabled} → mend it, then `{command}`" in found["destinations", "wrong"][0]


def test_searches_that_fail_are_called_by_their_watches_names() -> None:
    failing = [{"search": "0.abc", "reason": "www.willhaben.at answered 404 for /iad", "retry_at": None}]

    found = troubles(a_world(a_stack(stats=figures(failing_searches=failing))))

    assert "“rennrad”: www.willhaben.at answered 404 for /iad" in found["searches", "warning"][0]


def test_ses_in_its_sandbox_matters_only_to_who_sends_mail() -> None:
    mail = a_destination(id=DestinationId("mail"), channel="email", address="a@example.org")
    limited = FakeDeployment(sandbox=True)

    assert troubles(a_world(a_stack(), deployment=limited)) == {}
    with_mail = a_stack(destinations=FakeDestinations({mail.id: mail}))
    found = troubles(a_world(with_mail, deployment=limited))
    assert "verified addresses only" in found["quotas", "wrong"][0]


def test_hostile_text_does_not_reach_the_terminal() -> None:
    me = a_destination(credentials=PARAMETER, disabled="gone\x1b[2J\u202e")
    watches = FakeWatches([a_watch("w1", label="a\x1b]0;x\x07", paused="b\x1b[31m")])

    shown = lago(a_world(a_stack(destinations=FakeDestinations({me.id: me}), watches=watches)), "doctor").output

    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def refused(operation: str) -> ClientError:
    return ClientError({"Error": {"Code": "AccessDenied", "Message": f"no right to {operation}"}}, operation)


@pytest.mark.parametrize(
    ("method", "check"), [("alarms", "alarms"), ("schedule", "schedule"), ("concurrency", "quotas"), ("clock", "clock")]
)
def test_a_check_without_the_right_says_so_and_stops_no_other(method: str, check: str) -> None:
    deployment = FakeDeployment(failures={method: refused(method)})

    result = findings(a_world(a_stack(), deployment=deployment))

    assert result[check, "unknown"] == [f"These AWS credentials may not do that: no right to {method}"]
    assert {name for name, verdict in result if verdict == "fine"} == {each.name for each in CHECKS} - {check}
    assert lago(a_world(a_stack(), deployment=deployment), "doctor").exit_code == 0


def test_a_bug_in_a_check_is_told_without_what_looks_like_a_secret() -> None:
    deployment = FakeDeployment(failures={"alarms": ValueError("token=abcdefgh")})

    found = troubles(a_world(a_stack(), deployment=deployment))

    assert found == {
        ("alarms", "unknown"): [
            "could not be checked: ValueError: [removed] → this is a bug in `lago doctor`: please report it"
        ]
    }


def test_without_a_stack_the_reason_is_given_once_and_it_fails() -> None:
    missing = FakeDeployment(
        failures={"describe": StackError("There is no stack named 'x'."), "resources": StackError("-")}
    )

    result = lago(a_world(deployment=missing), "doctor")

    assert result.exit_code == 1
    assert "✗ deployment: There is no stack named 'x'." in result.stdout
    assert result.stdout.count("There is no stack named") == 1
    assert "✓ clock" in result.stdout
    last = result.stdout.splitlines()[-1]
    assert last.startswith("? not checked, for the reason given for deployment: parameters, schedule, alarms")


def test_tables_that_do_not_answer_are_wrong_once_and_the_rest_is_looked_at() -> None:
    class Throttled(FakeStack):
        def read_stats(self) -> object:
            raise StoreUnavailableError("throttled")

    stack = a_stack()
    found = troubles(a_world(Throttled(destinations=stack.destinations, secrets=stack.secrets, watches=stack.watches)))

    assert found["deployment", "wrong"]
    assert sum("throttled" in said for each in found.values() for said in each) == 1
    assert not any(check in {"telegram", "alarms", "secrets"} for check, _ in found)


def test_no_check_is_begun_after_its_time() -> None:
    world = a_world(a_stack())
    clock = world.clock
    slow = replace(world, clock=lambda: EpochMs(NOW + (clock() - NOW) * 20))

    found = findings(slow)

    assert ("searches", "unknown") in found
    assert found["searches", "unknown"] == [f"not looked at: {SECONDS} seconds were over"]


def test_the_template_names_the_version_that_is_deployed() -> None:
    assert source()["Outputs"]["Version"]["Value"] == __version__
