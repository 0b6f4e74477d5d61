"""The real clock and the real sleep."""

import time

from lago.domain.ids import EpochMs, Milliseconds


def now() -> EpochMs:
    """The current time."""
    return EpochMs(time.time_ns() // 1_000_000)


def pause(length: Milliseconds) -> None:
    """Wait."""
    time.sleep(length / 1000)
