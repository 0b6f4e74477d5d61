"""`lago logs`: whose records are shown, in which order, and that none of them moves the terminal."""

import json
from collections.abc import Callable

import pytest
from botocore.exceptions import EndpointConnectionError
from msgspec.structs import replace
from typer.testing import Result

from lago.domain.ids import EpochMs, Milliseconds
from lago_cli.deployment import LogLine
from lago_cli.log_records import read
from lago_cli.ports import World
from tests.cli.fake_deployment import FakeDeployment
from tests.cli.fakes import NOW, a_world
from tests.cli.run import lago

TRACE = 'Traceback (most recent call last):\n  File "/opt/x.py", line 1\nZeroDivisionError: division by zero'


def a_line(text: object, function: str = "drain", seconds: float = -60, **changes: str) -> LogLine:
    said = text if isinstance(text, str) else json.dumps(text)
    at = EpochMs(int(NOW + seconds * 1000))
    return LogLine(at=at, group=f"/logs/{function}", stream="s", text=said, **changes)


def said(message: str, level: str = "INFO", **fields: object) -> dict[str, object]:
    """As the functions' logger writes it."""
    return {"level": level, "location": "handler:1", "message": message, "timestamp": "-", "service": "lago", **fields}


def shown(*lines: LogLine, options: tuple[str, ...] = ()) -> list[str]:
    result = lago(a_world(deployment=FakeDeployment(lines=list(lines))), "logs", *options)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def test_records_of_all_functions_are_in_the_order_of_their_times() -> None:
    lines = shown(
        a_line(said("drained", report={"delivered": 2, "dead": 0}), seconds=-10),
        a_line(said("a page is not understood", "WARNING", search="0.abc"), "scrape", -30),
        a_line(said("begins"), "cycle", -40),
    )

    assert [line[21:] for line in lines] == [
        "cycle    INFO     begins",
        "scrape   WARNING  a page is not understood  search=0.abc",
        "drain    INFO     drained  report=(delivered=2)",
    ]
    assert lines[0].startswith("2027-01-15 07:59:20")


def test_metrics_and_what_the_platform_says_of_each_invocation_are_shown_on_request() -> None:
    lines = [
        a_line({"_aws": {}, "service": "lago", "NewAds": [3.0]}, "scrape"),
        a_line({"type": "platform.report", "record": {"status": "success", "metrics": {"durationMs": 12}}}, "scrape"),
        a_line("START RequestId: 1 Version: $LATEST", "scrape"),
    ]

    assert shown(*lines) == []
    assert [line[21:] for line in shown(*lines, options=("--verbose",))] == [
        "scrape   INFO     metrics  NewAds=[3.0]",
        "scrape   INFO     report  durationMs=12",
        "scrape   INFO     START RequestId: 1 Version: $LATEST",
    ]


FAILURES = [
    (said("a sender stopped in the middle", "ERROR", rows=["a"]), "a sender stopped in the middle  rows=[a]"),
    (said("unexpected", "CRITICAL", exception=TRACE), "unexpected (ZeroDivisionError: division by zero)"),
    (
        {"errorMessage": "No module named 'x'", "errorType": "Runtime.ImportModuleError", "stackTrace": ["f"]},
        "No module named 'x' (Runtime.ImportModuleError)",
    ),
    (
        {"type": "platform.report", "record": {"status": "timeout", "metrics": {"durationMs": 55000}}},
        "report: timeout  durationMs=55000",
    ),
    (
        {"type": "platform.runtimeDone", "record": {"status": "error", "errorType": "Runtime.ExitError"}},
        "runtimeDone: error Runtime.ExitError",
    ),
    (
        {
            "id": "9",
            "type": "ExecutionFailed",
            "details": {"error": "CycleFailed", "cause": '{"drain": {"Error": "SettingError"}}'},
            "execution_arn": "arn:aws:states:eu-central-1:123456789012:express:Cycle-1:c1:uuid",
        },
        'ExecutionFailed  cycle=c1  error=CycleFailed  cause={"drain": {"Error": "SettingError"}}',
    ),
    ("2026-11-29T20:00:00Z 1 Task timed out after 55.00 seconds", "Task timed out after 55.00 seconds"),
    (TRACE, "Traceback (most recent call last): File"),
]


@pytest.mark.parametrize(("text", "words"), FAILURES)
def test_every_kind_of_failure_is_an_error(text: object, words: str) -> None:
    (line,) = shown(a_line(text), a_line(said("fine")), a_line(said("odd", "WARNING")), options=("--errors",))

    assert "  ERROR  " in line or "  CRITICAL" in line
    assert words in line


def test_grep_looks_into_the_whole_record_in_any_case() -> None:
    lines = (a_line(said("sent", destination="Me")), a_line(said("sent", destination="you")))

    (line,) = shown(*lines, options=("--grep", 'mE"'))

    assert "destination=Me" in line


@pytest.mark.parametrize("function", ["drain", "DRAIN"])
def test_one_function_alone(function: str) -> None:
    (line,) = shown(a_line(said("a")), a_line(said("b"), "scrape"), options=("--function", function))

    assert line.endswith("a")


def test_a_function_that_is_not_there_is_told_with_those_that_are() -> None:
    result = lago(a_world(), "logs", "--function", "nope")

    assert result.exit_code == 2
    assert "--function: got 'nope', expected cycle, drain, scrape, or all" in result.stderr


def test_older_records_are_left_out() -> None:
    old, new = a_line(said("old"), seconds=-4_000), a_line(said("new"), seconds=-3_000)

    assert len(shown(old, new)) == 1
    assert len(shown(old, new, options=("--since", "2h"))) == 2


def test_nothing_at_all_is_said_beside_the_answer() -> None:
    result = lago(a_world(), "logs", "--errors")

    assert result.stdout == ""
    assert "Nothing of that kind was written since 1h." in result.stderr


HOSTILE = "x\x1b]0;owned\x07\u202e\x9b2J\nforged line"


def test_hostile_text_moves_no_terminal_and_forges_no_line() -> None:
    lines = (a_line(said(HOSTILE, **{HOSTILE: {HOSTILE: [HOSTILE]}})), a_line(HOSTILE), a_line({"level": HOSTILE}))

    for options in ((), ("--json",)):
        written = shown(*lines, options=options)

        assert len(written) == 3
        assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set("".join(written))


def test_a_record_as_json_is_whole_and_on_one_line() -> None:
    record = said("unexpected", "ERROR", exception=TRACE)

    (line,) = shown(a_line(record), options=("--json",))

    assert json.loads(line) == {
        "at": "2027-01-15T07:59:00.000+00:00",
        "function": "drain",
        "level": "ERROR",
        "record": record,
    }


@pytest.mark.parametrize(
    "text",
    ["", "null", "[1]", '"x"', "{", "{}", "1" * 5_000, "[" * 100_000, '{"level": null, "message": {"a": 1}}', "\ud800"],
)
def test_whatever_was_written_is_a_record(text: str) -> None:
    assert read(a_line(text), "drain").raw == text.strip()


def followed(deployment: FakeDeployment, *polls: Callable[[], None]) -> Result:
    """Follow while `polls` happen, one before each look; then Ctrl-C."""
    waiting = list(polls)
    slept: list[int] = []

    def sleep(duration: Milliseconds) -> None:
        slept.append(duration)
        if not waiting:
            raise KeyboardInterrupt
        waiting.pop(0)()

    world: World = replace(a_world(deployment=deployment), sleep=sleep)
    result = lago(world, "logs", "--follow")
    assert set(slept) == {2_000}
    return result


def test_following_tells_each_record_once_and_late_ones_too() -> None:
    deployment = FakeDeployment(lines=[a_line(said("first"), seconds=-5)])
    late = a_line(said("late"), "scrape", seconds=-20)
    again = a_line(said("second"), seconds=0.5)

    result = followed(
        deployment,
        lambda: deployment.lines.append(again),
        lambda: deployment.lines.append(late),
        lambda: deployment.lines.append(a_line(said("second"), seconds=0.5, id="another")),
    )

    assert [line.rsplit(maxsplit=1)[-1] for line in result.stdout.splitlines()] == ["first", "second", "late", "second"]
    assert result.exit_code == 0


def test_following_goes_on_through_a_failure_that_passes_and_says_it_once() -> None:
    deployment = FakeDeployment()
    failure = EndpointConnectionError(endpoint_url="https://logs")

    def recovered() -> None:
        deployment.failures.clear()
        deployment.lines.append(a_line(said("back"), seconds=0))

    result = followed(
        deployment, lambda: deployment.failures.update(log_lines=failure), lambda: None, lambda: None, recovered
    )

    assert result.stderr.count("Trying again every 2 s") == 1
    assert result.stdout.endswith("back\n")
