"""Whether a source may be read in this cycle: shared by its threads and, through the table, by all cycles."""

from collections.abc import Callable
from enum import Enum, auto
from threading import Lock

from lago.domain.backoff import Backoff, wait
from lago.domain.compact import cut
from lago.domain.ids import Clock, EpochMs, Milliseconds, SourceName
from lago.domain.search import Health
from lago.errors import SourceBlockedError, SourceError
from lago.ports import Sources

LONGEST_RETRY_AFTER = Milliseconds(24 * 3_600_000)
"""What a source asks for is honoured up to a day: no answer of the far side may silence a watch for good."""


REASON_BYTES = 300
"""What of a reason is kept."""


class State(Enum):
    """How a source does in this cycle."""

    OPEN = auto()
    RESTING = auto()
    """It failed, in this cycle or before, and its time to be tried again has not come."""
    PROBING = auto()
    """It failed before and is tried again: by one search alone, until it answers."""


class SourceHealth:
    """The states of the sources during one cycle. Thread-safe; every method may raise StoreUnavailableError."""

    def __init__(self, store: Sources, policy: Backoff, clock: Clock, random: Callable[[], float]) -> None:
        """`random` spreads the waits, so that not all searches of all stacks come back at once."""
        self._store, self._policy, self._clock, self._random = store, policy, clock, random
        self._lock = Lock()
        self._states: dict[SourceName, State] = {}
        self._before: dict[SourceName, Health | None] = {}
        self._now: dict[SourceName, Health | None] = {}

    def state(self, source: SourceName) -> State:
        """Read from the table once a cycle."""
        with self._lock:
            if source not in self._states:
                health = self._store.health(source)
                self._before[source] = self._now[source] = health
                self._states[source] = _state(health, self._clock())
            return self._states[source]

    def recovers(self, source: SourceName) -> bool:
        """Whether it had failed before this cycle: what happened meanwhile deserves a full read."""
        self.state(source)
        return self._before[source] is not None

    def answered(self, source: SourceName) -> None:
        """The source answered, whatever it said about one search: its failures are over.

        An answer that was still on its way when the source failed changes nothing.
        """
        with self._lock:
            if self._states[source] is State.PROBING:
                self._states[source] = State.OPEN
                self._store.set_health(source, None)

    def failed(self, source: SourceName, error: SourceError) -> None:
        """Rest it, longer than the time before, also when it had just recovered in this cycle.

        Of several failures at a time the first counts.
        """
        with self._lock:
            if self._states[source] is State.RESTING:
                return
            self._states[source] = State.RESTING
            worse = self._now[source] = self._worse(self._before[source], error)
            self._store.set_health(source, worse)

    def asked(self) -> tuple[SourceName, ...]:
        """The sources whose state this cycle knows."""
        with self._lock:
            return tuple(sorted(self._states))

    def resting(self) -> dict[SourceName, str]:
        """The sources that are not being read now, and why."""
        with self._lock:
            return {
                name: health.reason
                for name, health in sorted(self._now.items())
                if health is not None and self._states[name] is State.RESTING
            }

    def _worse(self, before: Health | None, error: SourceError) -> Health:
        now = self._clock()
        failures = 1 if before is None else before.failures + 1
        asked = min(error.retry_after_ms or 0, LONGEST_RETRY_AFTER)
        pause = max(wait(self._policy, failures, self._random), asked)
        return Health(
            kind="blocked" if isinstance(error, SourceBlockedError) else "unavailable",
            reason=cut(error.reason, REASON_BYTES),
            failures=failures,
            since=now if before is None else before.since,
            retry_at=EpochMs(now + pause),
        )


def search_health(
    before: Health | None, reason: str, *, policy: Backoff, now: EpochMs, random: Callable[[], float]
) -> Health:
    """One more failure of a search alone."""
    failures = 1 if before is None else before.failures + 1
    return Health(
        kind="search",
        reason=cut(reason, REASON_BYTES),
        failures=failures,
        since=now if before is None else before.since,
        retry_at=EpochMs(now + wait(policy, failures, random)),
    )


def is_due(health: Health | None, now: EpochMs) -> bool:
    """Whether it may be read: healthy, or its time to be tried again has come."""
    return health is None or health.retry_at <= now


def _state(health: Health | None, now: EpochMs) -> State:
    if health is None:
        return State.OPEN
    return State.PROBING if is_due(health, now) else State.RESTING
