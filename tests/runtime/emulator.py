"""A built function under Lambda's runtime interface emulator, as its own process."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.runtime.built import ROOT, emulator, interface_client, layer

SECONDS = 60


class Function:
    """A function that waits for events."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
        self._process, self._port, self._log = process, port, log

    def invoke(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The probe's answer to the event; fails with the log when the function failed."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/2015-03-31/functions/function/invocations", json.dumps(event).encode()
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            answer: dict[str, Any] = json.loads(response.read())
        assert "errorMessage" not in answer, f"{answer['errorMessage']}\n{self.log}"
        return answer

    @contextmanager
    def frozen(self, pid: int) -> Iterator[None]:
        """The process stands still meanwhile, as between two invocations."""
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    @property
    def log(self) -> str:
        """What it wrote so far."""
        return self._log.read_text(errors="replace")

    def lines(self, message: str) -> list[dict[str, Any]]:
        """Its structured log lines with that message."""
        found = [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]
        return [line for line in found if line.get("message") == message]

    def stop(self) -> None:
        """End emulator and function."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def running(name: str, environment: Mapping[str, str], folder: Path) -> Iterator[Function]:
    """Run `functions/<name>` with these variables; `folder` gets its code and its log."""
    task = folder / "task"
    shutil.copytree(ROOT / "functions" / name, task, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(Path(__file__).parent / "probe.py", task)
    port, runtime_port = free_port(), free_port()
    log = folder / "log"
    # -S: no site-packages; what the function imports comes from its code, the layer or the standard library
    python = [sys.executable if sys.prefix == sys.base_prefix else sys._base_executable, "-S"]  # type: ignore[attr-defined]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                emulator(),
                *("--runtime-interface-emulator-address", f"127.0.0.1:{port}"),
                *("--runtime-api-address", f"127.0.0.1:{runtime_port}"),
                *(*python, "-m", "awslambdaric", "probe.handler"),
            ],
            cwd=task,
            env={
                "PATH": "/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "PYTHONPATH": f"{task}:{layer() / 'python'}:{interface_client()}",
                "LAMBDA_TASK_ROOT": str(task),
                "AWS_LAMBDA_FUNCTION_NAME": f"lago-{name}",
                "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256",
                "AWS_LAMBDA_FUNCTION_TIMEOUT": str(SECONDS),
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    function = Function(process, port, log)
    try:
        wait_until_listening(process, port)
        yield function
    finally:
        function.stop()


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_listening(process: "subprocess.Popen[bytes]", port: int) -> None:
    """Fails when the process ends before, or takes too long."""
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        assert process.poll() is None, f"{process.args!r} ended at once"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError(f"{process.args!r} does not listen")
