"""What a run that ended badly left behind, with a real process in the place of the cloud."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from scripts.local_stack.last_run import LastRun

CLOUD = f"""#!{sys.executable}
import pathlib, signal, sys, time
def save(*_):
    pathlib.Path("saved").touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
pathlib.Path("ready").touch()
time.sleep(60)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    program = tmp_path / "ministack"
    program.write_text(CLOUD)
    program.chmod(0o755)
    (tmp_path / "home" / "state" / "services").mkdir(parents=True)
    return tmp_path / "home"


@contextmanager
def a_cloud(home: Path, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen([home.parent / "ministack"], cwd=folder)
    try:
        ends = time.monotonic() + 20
        while not (folder / "ready").exists():
            assert time.monotonic() < ends
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.wait()


def last_run(home: Path) -> LastRun:
    return LastRun(home, home.parent / "ministack")


def saved(home: Path, ago: timedelta) -> datetime:
    file = home / "state" / "services" / "dynamodb.json"
    file.touch()
    at = datetime.now().astimezone() - ago
    os.utime(file, (at.timestamp(), at.timestamp()))
    return at


def test_a_first_run_has_nothing_to_tell(home: Path) -> None:
    assert last_run(home).settle(home / "state") == ""


def test_after_a_clean_stop_there_is_nothing_to_tell(home: Path) -> None:
    last_run(home).begin(os.getpid(), 4566)
    last_run(home).end()

    assert last_run(home).settle(home / "state") == ""


def test_a_cloud_left_behind_is_stopped_so_that_it_saves_its_state(home: Path) -> None:
    with a_cloud(home, home) as cloud:
        last_run(home).begin(cloud.pid, 4566)

        said = last_run(home).settle(home / "state", sleep=lambda _: cloud.poll() and None)

        assert cloud.wait(20) == 0
    assert (home / "saved").exists()
    assert said.startswith(f"The run before had left its embedded cloud behind (process {cloud.pid}, port 4566): it is")
    assert last_run(home).settle(home / "state") == ""


def test_a_process_that_is_not_ours_is_never_stopped(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with a_cloud(home, other) as same_program_elsewhere:
        for pid in (same_program_elsewhere.pid, os.getpid()):
            last_run(home).begin(pid, 4566)

            assert last_run(home).running() is None
            assert "begins anew" in last_run(home).settle(home / "state")
        assert same_program_elsewhere.poll() is None


@pytest.mark.parametrize("note", ['{"pid": 1', "[]", "", '{"pid": 1, "port": 2, "more": 3}'])
def test_a_note_cut_short_still_tells_that_the_end_was_not_clean(home: Path, note: str) -> None:
    (home / "cloud.json").write_text(note)
    at = saved(home, timedelta())

    said = last_run(home).settle(home / "state")

    assert said == (
        f"The last run was not stopped cleanly: the state of {at:%H:%M} is used, "
        "and what happened after it may be told again."
    )


def test_a_state_of_another_day_is_told_with_its_date(home: Path) -> None:
    with a_cloud(home, home) as cloud:
        last_run(home).begin(cloud.pid, 4566)
        os.kill(cloud.pid, signal.SIGKILL)
    at = saved(home, timedelta(days=2))

    said = last_run(home).settle(home / "state")

    assert re.search(rf"the state of {at:%H:%M on %d.%m.} is used", said)
