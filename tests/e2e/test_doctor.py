"""The owner's commands, against a stack that is really deployed: doctor, logs, dashboard, cost."""

import json
import os
import subprocess
import sys
from typing import Any

import httpx
import pytest

from scripts.local_stack.environment import clean
from scripts.local_stack.stack import ROOT
from tests.e2e.conftest import TOKEN, Lago, until
from tests.e2e.test_dead_letters import a_dead_letter, ask
from tests.e2e.test_watch import a_watch


@pytest.fixture(autouse=True)
def calm(lago: Lago):
    yield
    lago.simulator.clear_faults()


def run(lago: Lago, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as a person runs it, in a process of its own."""
    environment = {name: value for name, value in clean(os.environ).items() if not name.endswith("_TABLE")}
    return subprocess.run(
        [sys.executable, "-m", "lago_cli.main", *arguments],
        env=environment | lago.stack.environment,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def doctor(lago: Lago) -> tuple[int, dict[str, dict[str, str]]]:
    """The exit code, and what each check said by its verdicts."""
    done = run(lago, "doctor", "--json")
    found: dict[str, dict[str, str]] = {}
    for each in json.loads(done.stdout):
        found.setdefault(each["check"], {})[each["verdict"]] = each["said"]
    return done.returncode, found


def telegram(lago: Lago, method: str, **parameters: str) -> None:
    httpx.post(f"{lago.process.url}/bot{TOKEN}/{method}", json=parameters, timeout=10).raise_for_status()


@pytest.mark.usefixtures("operator")
def test_every_check_can_be_made_of_a_deployed_stack(lago: Lago):
    a_watch(lago)

    _, found = doctor(lago)

    assert not [check for check, verdicts in found.items() if "unknown" in verdicts]
    assert set(found["deployment"]) == set(found["clock"]) == set(found["parameters"]) == {"fine"}
    assert "the schedule is disabled" in found["schedule"]["warning"]
    assert "fine" in found["secrets"]
    assert "fine" in found["telegram"]
    assert "the functions read willhaben" in found["sources"]["fine"]


def test_a_dead_letter_is_what_the_doctor_fails_for_until_it_is_discarded(lago: Lago):
    letter = a_dead_letter(lago, a_watch(lago))

    code, found = doctor(lago)
    assert (code, set(found["dead letters"])) == (1, {"wrong"})

    _, left = ask(lago, "GET", "")
    ask(lago, "POST", "/discard", {"ids": [each["id"] for each in left["letters"]], "reason": "seen"})
    assert letter["id"] in {each["id"] for each in left["letters"]}
    until(lambda: lago.stats()["dead"]["total"] == 0)
    assert set(doctor(lago)[1]["dead letters"]) == {"fine"}


def test_a_webhook_a_missing_secret_and_a_marketplace_that_is_away_are_found(lago: Lago):
    a_watch(lago)
    name = lago.stack.outputs["TelegramTokenParameter"]
    secrets = lago.stack.client("ssm")
    telegram(lago, "setWebhook", url="https://bot.example.org/hook")
    lago.simulator.fault("status", target="market", status=503, times=None)
    try:
        _, found = doctor(lago)
        assert "bot.example.org" in found["telegram"]["warning"]
        assert "503 for robots.txt" in found["sources"]["warning"]

        secrets.delete_parameter(Name=name)
        code, found = doctor(lago)
        assert (code, found["secrets"]["wrong"]) == (1, f"{name} is not there")
    finally:
        secrets.put_parameter(Name=name, Value=TOKEN, Type="SecureString", Overwrite=True)
        telegram(lago, "deleteWebhook")


def test_a_stack_that_is_not_there_is_one_clear_finding(lago: Lago):
    done = run(lago, "doctor", "--stack", "nowhere")

    assert done.returncode == 1
    assert "✗ deployment: There is no stack named 'nowhere'" in done.stdout
    assert "Traceback" not in done.stderr


def records(lago: Lago, *arguments: str) -> list[dict[str, Any]]:
    done = run(lago, "logs", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_logs_show_what_the_functions_wrote(lago: Lago):
    watching = a_watch(lago)
    watching.publish("Neu")
    lago.cycle()
    lago.told(watching.chat, count=2)

    everything = records(lago, "--since", "1h", "--verbose")

    assert {"drain", "scrape", "notify"} <= {each["function"] for each in everything}
    assert [each["at"] for each in everything] == sorted(each["at"] for each in everything)
    assert {each["function"] for each in records(lago, "--function", "notify")} == {"notify"}
    assert not [each for each in everything if TOKEN in json.dumps(each)]


def test_sam_logs_finds_a_function_by_its_name_in_the_template(lago: Lago):
    lago.drain()

    done = subprocess.run(
        [ROOT / ".venv" / "sam" / "bin" / "sam", "logs", "--stack-name", lago.stack.name, "--name", "DrainFunction"],
        env=clean(os.environ) | lago.stack.environment | {"SAM_CLI_TELEMETRY": "0"},
        cwd=lago.stack.home,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "PendingNotifications" in done.stdout


def test_cost_and_dashboard_read_what_the_cloud_counts(lago: Lago):
    lago.cycle()

    estimate = json.loads(run(lago, "cost", "--json").stdout)
    used = {each["what"]: each["used"] for each in estimate["lines"]}
    assert used["Lambda requests"] > 0
    assert used["CloudWatch alarms"] > 0
    assert estimate["month"] >= estimate["so_far"] > 0

    assert run(lago, "dashboard").stdout.startswith("https://eu-central-1.console.aws.amazon.com/cloudwatch/")
