"""`sam delete`: what goes, what stays, and that the documented commands remove the rest."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.local_stack.environment import clean
from scripts.local_stack.stack import ROOT, LocalStack
from tests.e2e.conftest import TOKEN, free_port

TABLES = ("SearchesTable", "WatchesTable", "QueueTable", "DeliveriesTable")
SAM = ROOT / ".venv" / "sam" / "bin" / "sam"


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[LocalStack]:
    """A stack in a cloud of its own: to be deleted."""
    stack = LocalStack(home=tmp_path, port=free_port(), name="lago-gone", build=ROOT / ".local" / "e2e" / "build")
    try:
        stack.start()
        stack.build()
        yield stack
    finally:
        stack.kill()


def sam_delete(stack: LocalStack) -> None:
    """As a person types it, but for the questions."""
    done = subprocess.run(
        [SAM, "delete", "--no-prompts", "--stack-name", stack.name, "--region", "eu-central-1"],
        cwd=stack.home,
        env=clean() | stack.environment | {"SAM_CLI_TELEMETRY": "0"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def tables(stack: LocalStack) -> set[str]:
    return set(stack.client("dynamodb").list_tables()["TableNames"])


def left_by_other_services(stack: LocalStack) -> dict[str, list[str]]:
    """Functions, alarms, log groups, state machines and schedules of the cloud, by what they are."""
    client = stack.client
    return {
        "functions": [each["FunctionName"] for each in client("lambda").list_functions()["Functions"]],
        "alarms": [each["AlarmName"] for each in client("cloudwatch").describe_alarms()["MetricAlarms"]],
        "log groups": [each["logGroupName"] for each in client("logs").describe_log_groups()["logGroups"]],
        "cycles": [each["name"] for each in client("stepfunctions").list_state_machines()["stateMachines"]],
        "schedules": [each["Name"] for each in client("scheduler").list_schedules()["Schedules"]],
    }


def secrets(stack: LocalStack) -> list[str]:
    found = stack.client("ssm").get_parameters_by_path(Path=f"/lago/{stack.name}", Recursive=True)["Parameters"]
    return [each["Name"] for each in found]


def test_the_tables_and_the_secret_stay_and_everything_else_goes(stack: LocalStack) -> None:
    stack.deploy({"TableRetention": "Retain", "ScheduleState": "DISABLED"})
    kept = {stack.outputs[name] for name in TABLES}
    stack.client("dynamodb").put_item(
        TableName=stack.outputs["WatchesTable"], Item={"search": {"S": "0.a"}, "id": {"S": "w1"}}
    )
    stack.client("ssm").put_parameter(
        Name=stack.outputs["TelegramTokenParameter"], Value=TOKEN, Type="SecureString", Overwrite=True
    )
    watches = stack.outputs["WatchesTable"]
    assert all(left_by_other_services(stack).values())

    sam_delete(stack)

    assert tables(stack) == kept
    assert stack.client("dynamodb").scan(TableName=watches)["Count"] == 1
    assert secrets(stack) == [f"/lago/{stack.name}/telegram-bot-token"]
    assert not [each for left in left_by_other_services(stack).values() for each in left]

    for table in kept:
        stack.client("dynamodb").delete_table(TableName=table)
    stack.client("ssm").delete_parameters(Names=secrets(stack))
    assert (tables(stack), secrets(stack)) == (set(), [])


def test_without_retention_the_tables_go_too(stack: LocalStack) -> None:
    stack.deploy({"TableRetention": "Delete", "ScheduleState": "DISABLED"})
    assert len(tables(stack)) == len(TABLES)

    sam_delete(stack)

    assert tables(stack) == set()
