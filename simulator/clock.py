"""The simulator's clock: the real one, moved or stopped on request."""

import time
from dataclasses import dataclass


@dataclass
class Clock:
    """Calling it gives now in UTC epoch ms: `stopped` if set, else real time plus `ahead` ms."""

    ahead: int = 0
    stopped: int | None = None

    def __call__(self) -> int:
        """Now."""
        return time.time_ns() // 1_000_000 + self.ahead if self.stopped is None else self.stopped

    def advance(self, milliseconds: int) -> None:
        """Move on (or back) by so much."""
        if self.stopped is None:
            self.ahead += milliseconds
        else:
            self.stopped += milliseconds

    def to_json(self) -> dict[str, object]:
        """For the state file and the control API."""
        return {"ahead": self.ahead, "stopped": self.stopped}
