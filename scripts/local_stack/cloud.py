"""The embedded cloud: ministack, one process, on the loopback interface only, its state kept in a folder."""

import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from scripts.local_stack.environment import REGION, clean
from scripts.local_stack.errors import LocalStackError
from scripts.local_stack.ports import LOOPBACK
from scripts.local_stack.processes import Child
from scripts.local_stack.state import empty_scratch, forget_stream_positions

_START_SECONDS = 60
_STOP_SECONDS = 60
"""Its state is written while it stops; cutting that short would lose everything since it started."""


class Cloud:
    """A running ministack."""

    def __init__(
        self,
        *,
        program: Path,
        port: int,
        state: Path,
        log: Path,
        root: Path,
        started: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Start it and wait until it answers; no other may run with this `state`. Raises LocalStackError.

        `started` hears its process id before anything else happens.
        """
        self.url = f"http://{LOOPBACK}:{port}"
        scratch = state / "tmp"
        empty_scratch(scratch)
        # the state of the parameter store holds the bot token as it is
        state.chmod(0o700)
        forget_stream_positions(state / "services")
        env = clean() | {
            "BIND_HOST": LOOPBACK,
            "GATEWAY_PORT": str(port),
            "PERSIST_STATE": "1",
            "STATE_DIR": str(state / "services"),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(state / "s3"),
            "TMPDIR": str(scratch),
            "MINISTACK_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "LAMBDA_EXECUTOR": "local",
            # listeners on fixed ports that nobody here needs: two clouds would fight over them
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
        }
        self._child = Child("the embedded cloud", [str(program)], env=env, log=log, cwd=root)
        try:
            started(self._child.pid)
            self._child.wait_until(lambda: answers(f"{self.url}/_ministack/ready"), _START_SECONDS)
        except BaseException:
            self._child.kill()
            raise

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended by itself."""
        return self._child.exit_code is None

    def stop(self) -> bool:
        """Stop it and wait until its state is written; says whether it is, which is not so when it had crashed before.

        Raises LocalStackError when that takes too long.
        """
        if not self._child.stop(_STOP_SECONDS):
            raise LocalStackError(
                "The embedded cloud did not stop in time: its latest state may be lost", str(self._child.log)
            )
        return self._child.exit_code == 0

    def kill(self) -> None:
        """End it at once, state or not."""
        self._child.kill()


def answers(url: str) -> bool:
    """Whether a GET is answered with 200."""
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=2) as answer:
            return int(answer.status) == 200
    except (urllib.error.URLError, OSError):
        return False
