"""The parts of the local stack that need no cloud."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.local_stack import LocalStackError, free_port, require_free
from scripts.local_stack.deploy import local_parameters
from scripts.local_stack.environment import aws, clean, write_env_file
from scripts.local_stack.ports import owner_of
from scripts.local_stack.processes import Child, run, tail
from scripts.local_stack.stack import ROOT


def test_a_free_port_is_fine() -> None:
    require_free(free_port(), "the simulator", "SIMULATOR_PORT")


def test_a_taken_port_names_its_owner_and_the_way_out() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(LocalStackError) as caught:
            require_free(port, "the simulator", "SIMULATOR_PORT")

    assert caught.value.sentence.startswith(
        f"Port {port}, wanted for the simulator, is taken by process {os.getpid()} ("
    )
    assert f"make run SIMULATOR_PORT={port + 1}" in caught.value.sentence


def test_nobody_owns_a_free_port() -> None:
    assert owner_of(free_port()) is None


def test_real_credentials_and_the_token_do_not_leak_into_the_processes() -> None:
    kept = clean({"AWS_PROFILE": "work", "TELEGRAM_BOT_TOKEN": "1:a", "PYTHONPATH": "/x", "HOME": "/home/anna"})

    assert kept == {"HOME": "/home/anna", "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}


def test_a_proxy_is_kept_but_not_for_this_machine() -> None:
    kept = clean({"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "intranet"})

    assert kept["HTTPS_PROXY"] == "http://proxy:3128"
    assert kept["NO_PROXY"] == "intranet,127.0.0.1,localhost"


def test_the_env_file_points_a_shell_at_the_stack_and_drops_its_profile(tmp_path: Path) -> None:
    file = tmp_path / "new" / "env"
    write_env_file(file, aws("http://127.0.0.1:4566") | {"LAGO_STACK": "it's lago"}, Path("/opt/my lago/bin"))

    shell = subprocess.run(
        ["sh", "-c", f". '{file}'; echo $AWS_ENDPOINT_URL; echo $LAGO_STACK; echo ${{AWS_PROFILE-none}}; echo $PATH"],
        env={"AWS_PROFILE": "work", "PATH": "/bin:/usr/bin"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert shell.stdout.splitlines() == [
        "http://127.0.0.1:4566",
        "it's lago",
        "none",
        "/opt/my lago/bin:/bin:/usr/bin",
    ]
    assert file.stat().st_mode & 0o077 == 0


def test_the_parameters_of_the_configuration_local_are_kept_beside_ours() -> None:
    assert local_parameters(ROOT / "samconfig.toml")["TableRetention"] == "Delete"


def python(code: str, log: Path) -> Child:
    return Child("a child", [sys.executable, "-c", code], env=dict(os.environ), log=log, cwd=log.parent)


def test_a_child_is_stopped_by_its_id_and_may_finish_its_work(tmp_path: Path) -> None:
    code = """if 1:
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: (print("saved", flush=True), sys.exit(0)))
        print("ready", flush=True)
        time.sleep(60)
    """
    child = python(code, tmp_path / "log")
    child.wait_until(lambda: tail(tmp_path / "log") == ["ready"], 20)

    assert child.stop(patience=20)
    assert tail(tmp_path / "log") == ["ready", "saved"]
    assert (tmp_path / "log").stat().st_mode & 0o077 == 0
    assert child.exit_code == 0


def test_a_child_that_will_not_end_is_ended_with_its_own_children(tmp_path: Path) -> None:
    code = """if 1:
        import signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print(grandchild.pid, flush=True)
        time.sleep(60)
    """
    child = python(code, tmp_path / "log")
    child.wait_until(lambda: bool(tail(tmp_path / "log")), 20)

    assert not child.stop(patience=0.2)
    assert child.exit_code == -signal.SIGKILL
    wait_until_gone(int(tail(tmp_path / "log")[0]))


def wait_until_gone(pid: int) -> None:
    """A killed process of somebody else's takes a moment to go; dead and not yet collected is gone too."""
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        ).stdout
        if not state.strip() or state.startswith("Z"):
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} still runs")


def test_a_child_that_ends_while_starting_is_told_with_its_log(tmp_path: Path) -> None:
    child = python("raise SystemExit('no room')", tmp_path / "log")

    with pytest.raises(LocalStackError, match="a child ended while starting") as caught:
        child.wait_until(lambda: False, 20)

    assert tail(Path(caught.value.log)) == ["no room"]


def test_a_command_that_fails_or_is_missing_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match=r"sam build failed \(exit code 3\)"):
        run("sam build", [sys.executable, "-c", "exit(3)"], env={}, log=tmp_path / "log", cwd=tmp_path)
    with pytest.raises(LocalStackError, match=r"sam build cannot be started: .*make clean"):
        run("sam build", [str(tmp_path / "none")], env={}, log=tmp_path / "log", cwd=tmp_path)
