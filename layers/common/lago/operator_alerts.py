"""Tells the operator, through a destination of their own, that notifications died, and that none is dead any more."""

import logging
from typing import Protocol

from lago.domain.dead_letter import Letters, Wanted
from lago.domain.event import OperatorAlert
from lago.domain.ids import Clock, DestinationId, EpochMs
from lago.domain.mailbox import Row
from lago.domain.notification import Notification, notification_id
from lago.domain.operator import HOUR, Told, alerted, may_alert, recovered, settled
from lago.errors import StoreError
from lago.ports import Mailboxes

log = logging.getLogger(__name__)

NEWEST = 20
"""Letters looked at for whose they are."""
_SAID = 80
_NOBODY = DestinationId("")


class LetterList(Protocol):
    """The dead letters."""

    def part(self, wanted: Wanted, *, limit: int) -> Letters:
        """The newest letters that fit."""
        ...


class Memory(Protocol):
    """What the operator was told."""

    def told(self) -> Told:
        """So far."""
        ...

    def put(self, told: Told) -> bool:
        """Store what follows from the version before; says whether that was still the last one."""
        ...


class OperatorAlerts:
    """Looks at the dead letters after a drain."""

    def __init__(
        self,
        destination: DestinationId = _NOBODY,
        *,
        mailboxes: Mailboxes,
        letters: LetterList,
        memory: Memory,
        clock: Clock,
    ) -> None:
        """`destination` is told; an empty one tells nobody."""
        self._destination, self._mailboxes, self._letters = destination, mailboxes, letters
        self._memory, self._clock = memory, clock
        self._count: int | None = None
        self._again = EpochMs(0)

    def look(self, dead: int) -> bool:
        """Tell what is to be told while there are `dead` letters; says whether a message was queued.

        Reads nothing while their number stays the same, but once an hour: an idle drain costs what it did. Never
        raises for a store that is away: the next drain looks again.
        """
        now = self._clock()
        if not self._destination or (dead == self._count and now < self._again):
            return False
        try:
            return self._look(dead, now)
        except StoreError as error:
            log.warning("could not tell the operator", extra={"reason": str(error)})
            self._count = None
            return False

    def _look(self, dead: int, now: EpochMs) -> bool:
        told = self._memory.told()
        told = self._queue(told)  # by one that stopped in between
        self._count, self._again = dead, EpochMs(now + HOUR)
        if not dead:
            return self._tell(recovered(told, now)) if told.open else False
        if not may_alert(told, now):
            self._again = EpochMs((told.alerted or now) + HOUR)
            return False
        # what died since the last alert; all that is dead when it was said since that none is
        since = EpochMs(told.alerted + 1) if told.open and told.alerted is not None else None
        newest = self._letters.part(Wanted(since=since), limit=NEWEST).rows
        others = [row for row in newest if row.notification.destination != self._destination]
        if not newest and not told.open:
            self._count = None  # counted, but not in the index yet: the next drain looks again
        if not others:
            return False  # a destination that fails is not told about its own letters
        return self._tell(alerted(told, _text(dead, others[0]), now))

    def _tell(self, told: Told) -> bool:
        """Decide first, then queue: of two drains that decide at once one does."""
        if not self._memory.put(told):
            self._count = None
            return False
        self._queue(told)
        return True

    def _queue(self, told: Told) -> Told:
        if told.owed is None:
            return told
        head = self._mailboxes.head(self._destination)
        if head is None:
            log.error("there is no destination for alerts to the operator", extra={"destination": self._destination})
        else:
            row = _row(self._destination, told.owed)
            self._mailboxes.enqueue(head.destination, (row,), now=self._clock())
        after = settled(told)
        self._memory.put(after)
        return after


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


def _text(dead: int, newest: Row) -> str:
    note = newest.notification
    said = newest.history[-1].reason[:_SAID] if newest.history else ""
    letters = "1 dead letter" if dead == 1 else f"{dead} dead letters"
    why = f"{newest.dead_reason}: {said}" if said else str(newest.dead_reason)
    return f"{letters}; the newest: {note.kind} to {note.destination} ({why}). `lago dead list` shows them."
