"""The delivery log in memory: same contract as the DynamoDB store (tests/contracts/deliveries_contract.py)."""

from collections.abc import Iterable
from threading import Lock

from lago.domain.event import Event
from lago.domain.ids import DestinationId, EpochMs
from lago.domain.resolve import Told
from lago.store.deliveries import telling


class FakeDeliveries:
    """`lago.ports.Deliveries`."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._told: dict[tuple[DestinationId, str], Told] = {}

    def told(self, destination: DestinationId, events: Iterable[Event]) -> dict[str, Told]:
        with self._lock:
            names = {event.subject for event in events}
            return {name: self._told[destination, name] for name in names if (destination, name) in self._told}

    def log(self, destination: DestinationId, events: Iterable[Event], now: EpochMs) -> None:
        with self._lock:
            self._told.update({(destination, event.subject): telling(event, now) for event in events})
