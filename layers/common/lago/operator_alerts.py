"""Tells whoever runs Lago, through a destination of their own, what is wrong, and when it is over."""

import logging
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from lago.domain.event import OperatorAlert
from lago.domain.ids import Clock, DestinationId, EpochMs
from lago.domain.mailbox import Row
from lago.domain.notification import Notification, notification_id
from lago.domain.operator import Sign, Told, decide, settled
from lago.ports import Mailboxes

log = logging.getLogger(__name__)

_NOBODY = DestinationId("")


class Memory(Protocol):
    """What the operator was told."""

    def told(self) -> Told:
        """So far."""
        ...

    def put(self, told: Told) -> bool:
        """Store what follows from the version before; says whether that was still the last one."""
        ...


class Reported(NamedTuple):
    """`queued` messages are on their way; `again` is when something kept back may be told, None for nothing."""

    queued: int
    again: EpochMs | None


class OperatorAlerts:
    """Decides what is told, and puts it into the operator's mailbox."""

    def __init__(
        self, destination: DestinationId = _NOBODY, *, mailboxes: Mailboxes, memory: Memory, clock: Clock
    ) -> None:
        """`destination` is told; an empty one tells nobody."""
        self.destination = destination
        self._mailboxes, self._memory, self._clock = mailboxes, memory, clock

    def report(self, scope: Iterable[str], signs: Iterable[Sign], *, running: str = "") -> Reported:
        """Tell what is to be told of `signs` (see `decide`). Raises StoreError: whoever looks next reports again.

        Decided first, then queued: of two that decide at once one does, and what one that dies leaves undone is done
        by the next.
        """
        if not self.destination:
            return Reported(0, None)
        now, before = self._clock(), self._memory.told()
        told, again = decide(before, scope, signs, now, running=running)
        if told != before:
            told = replace(told, version=before.version + 1)
            if not self._memory.put(told):
                return Reported(0, now)
        if told.due:
            self._queue(told.due)
            self._memory.put(replace(settled(told), version=told.version + 1))
        return Reported(len(told.due), again)

    def _queue(self, alerts: tuple[OperatorAlert, ...]) -> None:
        head = self._mailboxes.head(self.destination)
        if head is None:
            log.error("there is no destination for alerts to the operator", extra={"destination": self.destination})
            return
        rows = tuple(_row(self.destination, alert) for alert in alerts)
        self._mailboxes.enqueue(head.destination, rows, now=self._clock())


def _row(destination: DestinationId, alert: OperatorAlert) -> Row:
    notification = Notification(
        id=notification_id(destination, alert),
        destination=destination,
        event=alert,
        watches=(),
        label="",
        search_url="",
    )
    return Row(notification=notification, created=alert.found, next_attempt_at=alert.found)
