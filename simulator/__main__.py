"""`python -m simulator`: serve until a signal, a time limit or the end of the parent process."""

import argparse
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from simulator.clock import Clock
from simulator.server import serve, stop
from simulator.telegram import DEFAULT_CHAT, DEFAULT_TOKEN
from simulator.world import ADS, StateFileError, World


def arguments(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="simulator", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to bind (default: loopback only)")
    parser.add_argument("--port", type=_port, default=8099, help="port to bind, 0 for a free one")
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same market")
    parser.add_argument("--ads", type=int, default=ADS, help="ads at the start")
    parser.add_argument("--state", type=Path, help="keep market and Telegram log in this file")
    parser.add_argument("--live", type=_seconds, default=0.0, metavar="SECONDS", help="something happens every SECONDS")
    parser.add_argument("--clock", type=int, metavar="MS", help="stop the clock at this epoch millisecond")
    parser.add_argument("--token", action="append", help=f"bot token that is accepted (default {DEFAULT_TOKEN})")
    parser.add_argument("--chat", action="append", type=int, help=f"chat that exists (default {DEFAULT_CHAT})")
    parser.add_argument("--address-file", type=Path, help="write the base URL here once it answers")
    parser.add_argument("--max-seconds", type=_seconds, help="stop after so long")
    parser.add_argument("--parent-pid", type=int, help="stop when this process is gone")
    return parser.parse_args(argv)


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port from 0 to 65535")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 0")
    return seconds


def main(argv: list[str] | None = None) -> int:
    """0 after a clean stop, 2 when it could not start."""
    given = arguments(sys.argv[1:] if argv is None else argv)
    try:
        world = World(
            seed=given.seed,
            ads=given.ads,
            tokens=tuple(given.token or (DEFAULT_TOKEN,)),
            chats=tuple(given.chat or (DEFAULT_CHAT,)),
            clock=Clock(stopped=given.clock),
            state=given.state,
            live_seconds=given.live,
        )
        world.save()
        server = serve(world, given.host, given.port)
    except StateFileError as error:
        print(f"simulator: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{given.host}:{given.port}"
        print(f"simulator: cannot listen on {where}: {error.strerror}; choose another --port", file=sys.stderr)
        return 2

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        world.stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    print(f"simulator: {server.url}", flush=True)
    if given.address_file:
        _write(given.address_file, server.url)
    ends = None if given.max_seconds is None else time.monotonic() + given.max_seconds
    child = given.parent_pid == os.getppid()
    while not world.stopping.wait(0.2):
        late = ends is not None and time.monotonic() >= ends
        if late or (given.parent_pid and _orphaned(given.parent_pid, child=child)):
            break
    stop(server)
    return 0


def _orphaned(pid: int, *, child: bool) -> bool:
    """Whether the process that we belong to is gone; a parent that died hands us to another one."""
    if child:
        return os.getppid() != pid
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _write(path: Path, text: str) -> None:
    written = path.with_name(path.name + ".new")
    written.write_text(text, encoding="utf-8")
    written.replace(path)


if __name__ == "__main__":
    sys.exit(main())
