"""Whether a TCP port of this machine is free, and who has it if not."""

import shutil
import socket
import subprocess
from pathlib import Path

from scripts.local_stack.errors import LocalStackError

LOOPBACK = "127.0.0.1"
_LISTENING = "0A"
"""The state LISTEN in /proc/net/tcp (Linux, Documentation/networking/proc_net_tcp.rst)."""


def require_free(port: int, purpose: str, setting: str) -> None:
    """Raises LocalStackError that names who has the port and the setting that chooses another."""
    if is_free(port):
        return
    owner = owner_of(port)
    by = f"process {owner[0]} ({owner[1]})" if owner else "another program"
    stop = f"stop it (kill {owner[0]})" if owner else "stop that"
    raise LocalStackError(
        f"Port {port}, wanted for {purpose}, is taken by {by}: {stop}, or choose another: make run {setting}={port + 1}"
    )


def is_free(port: int) -> bool:
    """Whether this process could listen on the port of the loopback interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Any port that is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def owner_of(port: int) -> tuple[int, str] | None:
    """The id and the name of the process that listens on the port, where the system tells."""
    if Path("/proc/net/tcp").exists():
        return _owner_by_proc(port)
    return _owner_by_lsof(port)


def _owner_by_proc(port: int) -> tuple[int, str] | None:
    sockets = _listening_sockets(port)
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if any(str(handle.readlink()) in sockets for handle in (process / "fd").iterdir()):
                return int(process.name), (process / "comm").read_text().strip()
        except OSError:  # somebody else's process, or one that has just ended
            continue
    return None


def _listening_sockets(port: int) -> set[str]:
    """The sockets that listen on the port, named as in /proc/PID/fd."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        lines = Path(table).read_text().splitlines()[1:] if Path(table).exists() else []
        for fields in (line.split() for line in lines):
            if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(f"socket:[{fields[9]}]")
    return found


def _owner_by_lsof(port: int) -> tuple[int, str] | None:
    lsof = shutil.which("lsof")
    if lsof is None:
        return None
    command = [lsof, "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fpc"]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    fields = {line[0]: line[1:] for line in lines if line}
    return (int(fields["p"]), fields.get("c", "?")) if fields.get("p", "").isdigit() else None
