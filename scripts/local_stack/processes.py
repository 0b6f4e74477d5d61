"""Processes that we start, each in a process group of its own and stopped by its id.

A group of its own keeps a Ctrl-C at the terminal from reaching them: only we are told, and stop them in order.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from scripts.local_stack.errors import LocalStackError

_LOOK_SECONDS = 0.1


class Child:
    """A running process whose output goes to a log file."""

    def __init__(self, name: str, command: Sequence[str], *, env: Mapping[str, str], log: Path, cwd: Path) -> None:
        """Start it. Raises LocalStackError when there is no such program."""
        self.name, self.log = name, log
        try:
            with private_file(log) as output:
                self._process = subprocess.Popen(
                    command,
                    env=dict(env),
                    cwd=cwd,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            raise LocalStackError(
                f"{name} cannot be started: {error}; `make clean` and `make run` install anew"
            ) from error

    @property
    def pid(self) -> int:
        """The process id, which is its group's too."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> None:
        """Wait for `ready`. Raises LocalStackError when the process ends before, or when time is up."""
        deadline = time.monotonic() + seconds
        while not ready():
            if self.exit_code is not None:
                raise LocalStackError(f"{self.name} ended while starting (exit code {self.exit_code})", str(self.log))
            if time.monotonic() > deadline:
                raise LocalStackError(f"{self.name} was not ready after {seconds:g} s", str(self.log))
            time.sleep(_LOOK_SECONDS)

    def wait(self) -> int:
        """Its exit code, when it has ended."""
        return self._process.wait()

    def stop(self, patience: float, number: int = signal.SIGTERM) -> bool:
        """Ask it to end, wait, then end what is left of its group. Says whether it ended by itself."""
        clean = True
        if self.exit_code is None:
            self._process.send_signal(number)
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                clean = False
        self.kill()
        return clean

    def kill(self) -> None:
        """End the whole group at once."""
        with suppress(ProcessLookupError, PermissionError):  # macOS says EPERM for a group of zombies
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()


def run(name: str, command: Sequence[str], *, env: Mapping[str, str], log: Path, cwd: Path) -> None:
    """Run to the end. Raises LocalStackError when it fails; stopped with us when we are stopped."""
    child = Child(name, command, env=env, log=log, cwd=cwd)
    try:
        code = child.wait()
    except BaseException:
        child.stop(patience=5, number=signal.SIGINT)
        raise
    if code != 0:
        raise LocalStackError(f"{name} failed (exit code {code})", str(log))


def private_file(path: Path) -> BinaryIO:
    """An empty file for writing that nobody else can read: logs may hold what a person watches."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
    path.chmod(0o600)  # it may have been there
    return file


def tail(log: Path, lines: int = 15) -> list[str]:
    """The last lines of a log file."""
    try:
        return log.read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        return []
