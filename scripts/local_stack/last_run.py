"""What the last run in a folder left behind: a cloud that still runs, or a state that was not saved.

A note with the cloud's process id and port lies in the folder from its start until it has saved its state.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from scripts.local_stack.errors import LocalStackError

_STOP_SECONDS = 60
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Note:
    """The cloud that was started."""

    pid: int
    port: int


class LastRun:
    """The note in `home`, and what it tells about `program`, the cloud that is started there."""

    def __init__(self, home: Path, program: Path) -> None:
        """Both absolute: by them a running process is known to be ours."""
        self._home, self._program = home, program
        self._file = home / "cloud.json"

    def begin(self, pid: int, port: int) -> None:
        """Leave the note."""
        self._file.write_text(json.dumps(asdict(Note(pid, port))))

    def end(self) -> None:
        """Take the note away: the state is saved."""
        self._file.unlink(missing_ok=True)

    def running(self) -> Note | None:
        """The cloud of the note, if it is still that cloud which runs under its process id."""
        note = self._note()
        if note is None:
            return None
        command, folder = _command(note.pid), _folder(note.pid)
        return note if str(self._program) in command and folder == str(self._home) else None

    def settle(self, state: Path, sleep: Callable[[float], None] = time.sleep) -> str:
        """Stop a cloud that was left behind, and say what became of the state; "" when all was in order.

        Nobody else may start or stop a cloud here meanwhile. Raises LocalStackError when it does not stop.
        """
        note = self.running()
        if note is not None:
            self._stop(note, sleep)
            self.end()
            return (
                f"The run before had left its embedded cloud behind (process {note.pid}, port {note.port}): "
                "it is stopped now and its state is kept."
            )
        if not self._file.exists():
            return ""
        at = saved_at(state)
        if at is None:
            return "The last run was not stopped cleanly and had saved nothing: this one begins anew."
        return (
            f"The last run was not stopped cleanly: the state of {_when(at)} is used, "
            "and what happened after it may be told again."
        )

    def _note(self) -> Note | None:
        try:
            return Note(**json.loads(self._file.read_text()))
        except (OSError, ValueError, TypeError):  # not there, or cut short when the power failed
            return None

    def _stop(self, note: Note, sleep: Callable[[float], None]) -> None:
        with suppress(ProcessLookupError):
            os.kill(note.pid, signal.SIGTERM)
        ends = time.monotonic() + _STOP_SECONDS
        while self.running() is not None:
            if time.monotonic() > ends:
                raise LocalStackError(
                    f"The run before had left its embedded cloud behind (process {note.pid}), and it does not stop: "
                    f"end it yourself (kill -9 {note.pid}) and run again"
                )
            sleep(_LOOK_SECONDS)


def saved_at(state: Path) -> datetime | None:
    """When the state was last saved, on this machine's clock."""
    times = [file.stat().st_mtime for file in (state / "services").glob("*.json")]
    return datetime.fromtimestamp(max(times)).astimezone() if times else None


def _when(at: datetime) -> str:
    is_today = at.date() == datetime.now(at.tzinfo).date()
    return at.strftime("%H:%M" if is_today else "%H:%M on %d.%m.")


def _command(pid: int) -> str:
    """The command line of a process; "" when there is none."""
    file = Path(f"/proc/{pid}/cmdline")
    if Path("/proc/self").exists():
        try:
            return file.read_text(errors="replace").replace("\0", " ")
        except OSError:
            return ""
    return _said("ps", "-ww", "-o", "command=", "-p", str(pid))


def _folder(pid: int) -> str:
    """The working folder of a process; "" when there is none, or when the system does not tell."""
    if Path("/proc/self").exists():
        try:
            return str(Path(f"/proc/{pid}/cwd").readlink())
        except OSError:
            return ""
    lines = _said("lsof", "-a", "-p", str(pid), "-d", "cwd", "-Fn").splitlines()
    return next((line[1:] for line in lines if line.startswith("n")), "")


def _said(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return ""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
