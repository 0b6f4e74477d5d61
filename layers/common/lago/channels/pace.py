"""A limit on how often something happens in this process."""

from threading import Lock

from lago.domain.ids import Clock, EpochMs, Milliseconds, Sleep

_LONGEST_WAIT = Milliseconds(1_000)
"""A longer queue of threads than this means that the clock was set back: start afresh."""


class Pace:
    """Lets one caller through every `interval` ms, shared by all threads; waits with the given `sleep`."""

    def __init__(self, interval: Milliseconds, *, clock: Clock, sleep: Sleep) -> None:
        self._interval, self._clock, self._sleep = interval, clock, sleep
        self._next = EpochMs(0)
        self._lock = Lock()

    def wait(self) -> None:
        """Return when it is this caller's turn."""
        with self._lock:
            now = self._clock()
            turn = self._next if 0 < self._next - now <= _LONGEST_WAIT else now
            self._next = EpochMs(turn + self._interval)
        if turn > now:
            self._sleep(Milliseconds(turn - now))
