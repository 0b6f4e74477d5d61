"""What lies around the template: samconfig, events, pinned requirements, the search for a Python."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from lago.domain.ids import SearchId
from lago.domain.query import shard_of
from scripts.local_invoke import EXPECTED
from tests.infra.stack import FUNCTIONS, ROOT, Stack, source

CONFIG: dict[str, Any] = {
    name: value for name, value in tomllib.loads((ROOT / "samconfig.toml").read_text()).items() if name != "version"
}
PINNED = [*sorted((ROOT / "requirements").glob("*.txt")), ROOT / "layers" / "common" / "requirements.txt"]


def overrides(environment: str, command: str) -> dict[str, str]:
    listed: list[str] = CONFIG[environment][command]["parameters"]["parameter_overrides"]
    return dict(each.split("=", 1) for each in listed)


def test_every_environment_is_complete_since_none_inherits() -> None:
    assert set(CONFIG) == {"default", "local", "prod"}
    for environment in CONFIG.values():
        for command, expected in CONFIG["default"].items():
            assert set(environment[command]["parameters"]) == set(expected["parameters"])


@pytest.mark.parametrize("environment", ["default", "local", "prod"])
def test_environments_set_only_parameters_that_the_template_has(environment: str) -> None:
    for command in ("build", "deploy"):
        Stack(**overrides(environment, command))


def test_only_the_local_environment_is_of_this_machine_and_forgets() -> None:
    assert {name: overrides(name, "deploy")["Architecture"] for name in CONFIG} == {
        "default": "arm64",
        "local": "x86_64",
        "prod": "arm64",
    }
    assert {name: overrides(name, "deploy")["TableRetention"] for name in CONFIG} == {
        "default": "Retain",
        "local": "Delete",
        "prod": "Retain",
    }


def test_environments_are_different_stacks_and_a_deploy_without_changes_is_no_failure() -> None:
    assert len({environment["global"]["parameters"]["stack_name"] for environment in CONFIG.values()}) == 3
    for environment in CONFIG.values():
        deploy = environment["deploy"]["parameters"]
        assert deploy["fail_on_empty_changeset"] is False
        assert "CAPABILITY_IAM" in deploy["capabilities"]


def test_every_function_has_an_event_and_every_event_is_invoked() -> None:
    events = {file.stem for file in (ROOT / "events").glob("*.json")} - {"env"}

    assert events == set(EXPECTED)
    assert {event.partition("-")[0] for event in events} == set(FUNCTIONS)
    for event in events:
        assert isinstance(json.loads((ROOT / "events" / f"{event}.json").read_text()), dict)


def test_the_stream_event_passes_the_streams_filter_and_names_a_search() -> None:
    (record,) = json.loads((ROOT / "events" / "notify.json").read_text())["Records"]

    assert record["eventName"] in {"INSERT", "MODIFY"}
    assert record["dynamodb"]["NewImage"]["outbox_id"]["S"]
    keys = record["dynamodb"]["Keys"]
    assert shard_of(SearchId(keys["id"]["S"])) == int(keys["shard"]["S"])


def test_local_invocations_are_told_only_variables_that_the_template_declares() -> None:
    told = json.loads((ROOT / "events" / "env.json").read_text())
    declared = {
        name: set(resource["Properties"]["Environment"]["Variables"])
        | set(source()["Globals"]["Function"]["Environment"]["Variables"])
        for name, resource in source()["Resources"].items()
        if resource["Type"] == "AWS::Serverless::Function"
    }

    assert set(told) == set(declared)
    for function, variables in told.items():
        assert set(variables) <= declared[function]


@pytest.mark.parametrize("file", PINNED, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_requirements_are_pinned_and_name_no_index(file: Path) -> None:
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]

    assert lines
    for line in lines:
        assert re.fullmatch(r"[a-z0-9._-]+==[A-Za-z0-9.!+]+( ; .+)?", line), line


def test_tests_run_with_the_libraries_that_lambda_gets() -> None:
    layer = set((ROOT / "layers" / "common" / "requirements.txt").read_text().splitlines()[2:])
    dev = {line.partition(" ; ")[0] for line in (ROOT / "requirements" / "dev.txt").read_text().splitlines()}

    assert layer <= dev


def find_python(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / "find-python"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_python_that_was_named_is_used(tmp_path: Path) -> None:
    found = find_python(PATH=os.environ["PATH"], HOME=str(tmp_path), PYTHON=sys.executable)

    assert found.returncode == 0
    assert Path(found.stdout.strip()).exists()


def test_a_name_on_the_path_that_does_not_run_is_passed_over(tmp_path: Path) -> None:
    shim = tmp_path / "python3.13"
    shim.write_text("#!/bin/sh\necho 'python3.13: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    real = tmp_path / "pyenv" / "versions" / "3.13.0" / "bin" / "python3.13"
    real.parent.mkdir(parents=True)
    real.symlink_to(sys.executable)

    found = find_python(PATH=f"{tmp_path}:/usr/bin:/bin", HOME=str(tmp_path), PYENV_ROOT=str(tmp_path / "pyenv"))

    assert found.returncode == 0
    assert found.stdout.strip() != str(shim)


def test_a_wrong_python_is_one_clear_sentence() -> None:
    found = find_python(PATH="/usr/bin:/bin", HOME="/nowhere", PYTHON="/bin/false")

    assert found.returncode == 1
    assert found.stderr == (
        "PYTHON=/bin/false is no working Python 3.13 (with its venv module): name another one, or leave PYTHON unset.\n"
    )
