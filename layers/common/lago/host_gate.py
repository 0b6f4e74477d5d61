"""Politeness: how many requests a host gets at a time, and how far apart they start."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lago.domain.ids import Clock, EpochMs, Milliseconds, Sleep

IN_FLIGHT = 2
"""At most so many requests at a time to one host, over all threads of the process."""
_JITTER = 0.25
"""A start comes up to this share of the spacing later, never earlier: no beat that a host could notice."""


class _Host:
    def __init__(self) -> None:
        self.places = threading.BoundedSemaphore(IN_FLIGHT)
        self.lock = threading.Lock()
        self.next_start = EpochMs(0)


class HostGate:
    """Lets a thread through when its host may be asked again. Thread-safe; one per process.

    `clock` counts milliseconds and should not go back; `random` returns a number in [0, 1).
    """

    def __init__(self, spacing: Milliseconds, *, clock: Clock, sleep: Sleep, random: Callable[[], float]) -> None:
        self._spacing, self._clock, self._sleep, self._random = spacing, clock, sleep, random
        self._lock = threading.Lock()
        self._hosts: dict[str, _Host] = {}

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait for a place and for the spacing, then hold the place while the request runs.

        >>> with gate.turn("www.willhaben.at"):  # doctest: +SKIP
        ...     reply = http.get(url, label="page")
        """
        with self._lock:
            state = self._hosts.setdefault(host, _Host())
        with state.places:
            with state.lock:
                now = self._clock()
                # A clock that was set back must not hold a start longer than the spacing itself.
                longest = int(self._spacing * (1 + _JITTER))
                start = min(max(now, state.next_start), now + IN_FLIGHT * longest)
                state.next_start = EpochMs(start + int(self._spacing * (1 + _JITTER * self._random())))
            if start > now:
                self._sleep(Milliseconds(start - now))
            yield
