"""Runs the simulator as a process of its own, on a free port, and ends it by its own process id."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from simulator.client import Simulator

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 15.0


class StartError(Exception):
    """The simulator did not start; the message is what it said."""


class Process:
    """A running simulator: `url`, `pid`, and a `client` that steers it."""

    def __init__(self, popen: "subprocess.Popen[bytes]", url: str) -> None:
        self._popen = popen
        self.url, self.pid, self.client = url, popen.pid, Simulator(url)

    def stop(self, seconds: float = 5.0) -> int:
        """Ask it to end, then make it; its exit code."""
        self._popen.terminate()
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            return self._popen.wait()

    @property
    def running(self) -> bool:
        """Whether it has not ended by itself."""
        return self._popen.poll() is None

    def wait(self, seconds: float) -> int:
        """Its exit code once it ended by itself. Raises subprocess.TimeoutExpired."""
        return self._popen.wait(seconds)

    def kill(self) -> None:
        """End it without warning, as a power cut does."""
        self._popen.kill()
        self._popen.wait()


def launch(
    *,
    seed: int = 1,
    port: int = 0,
    host: str = "127.0.0.1",
    ads: int | None = None,
    state: Path | None = None,
    live: float = 0.0,
    tokens: Sequence[str] = (),
    chats: Sequence[int] = (),
    max_seconds: float | None = None,
    log: Path | None = None,
) -> Process:
    """Start it and wait until it answers; it also ends with this process. Raises StartError with its own words.

    What it prints goes to `log`, if given. Its files can be read by this user alone.
    """
    with tempfile.TemporaryDirectory(prefix="simulator-") as folder:
        address, said = Path(folder, "address"), Path(folder, "said")
        options = [f"--seed={seed}", f"--port={port}", f"--host={host}", f"--live={live}"]
        options += [f"--address-file={address}", f"--parent-pid={os.getpid()}"]
        options += [f"--ads={ads}"] if ads is not None else []
        options += [f"--state={state.resolve()}"] if state else []
        options += [f"--max-seconds={max_seconds}"] if max_seconds is not None else []
        options += [f"--token={token}" for token in tokens] + [f"--chat={chat}" for chat in chats]
        with (log or said).open("ab") as output:
            popen = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-m", "simulator", *options],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                umask=0o077,
            )
        ends = time.monotonic() + START_SECONDS
        while not address.exists():
            if popen.poll() is not None:
                raise StartError((log or said).read_text(errors="replace").strip()[-2000:] or "it ended at once")
            if time.monotonic() > ends:
                popen.kill()
                popen.wait()
                raise StartError(f"it did not answer within {START_SECONDS:g} s")
            time.sleep(0.02)
        return Process(popen, address.read_text(encoding="utf-8"))


@contextmanager
def start(
    *,
    seed: int = 1,
    port: int = 0,
    ads: int | None = None,
    state: Path | None = None,
    live: float = 0.0,
    tokens: Sequence[str] = (),
    chats: Sequence[int] = (),
    max_seconds: float | None = None,
) -> Iterator[Process]:
    """A simulator for the length of a `with` block."""
    process = launch(
        seed=seed, port=port, ads=ads, state=state, live=live, tokens=tokens, chats=chats, max_seconds=max_seconds
    )
    try:
        yield process
    finally:
        process.stop()
