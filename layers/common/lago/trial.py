"""A test message to one destination, on the same path as any other, and what came of it."""

from typing import Protocol

from msgspec import Struct

from lago.courier import Candidate, Tally
from lago.domain.event import Trial
from lago.domain.ids import Clock, DestinationId, EpochMs
from lago.domain.mailbox import Head, Row
from lago.domain.notification import Destination, Notification, notification_id
from lago.domain.outcome import OutcomeKind
from lago.domain.watch import Filters
from lago.ports import Deliveries, Mailboxes

_SAID = {
    OutcomeKind.MESSAGE: "it refuses the message for good",
    OutcomeKind.DESTINATION: "it accepts no messages: the destination is disabled now",
    OutcomeKind.GATE: "it asks to wait",
    OutcomeKind.OUTAGE: "it does not answer as it should",
    OutcomeKind.AMBIGUOUS: "it never answered: the message may have arrived",
    OutcomeKind.RENDER: "the message could not be written: a bug, in the log as an error",
}
"""What the classes of an outcome mean to whoever tries a destination."""


class Sender(Protocol):
    """The way out."""

    def deliver(self, destination: DestinationId, candidates: list[Candidate], *, deadline: EpochMs) -> Tally:
        """Send now, or queue."""
        ...


class Letters(Protocol):
    """The dead letters."""

    def discard(self, destination: Destination, row: Row, reason: str) -> bool:
        """Remove a letter for good."""
        ...


class TrialReport(Struct, frozen=True, kw_only=True):
    """Whether the far side took the message, and if not, why, in words and without secrets."""

    delivered: bool
    outcome: str


def try_destination(
    name: DestinationId,
    *,
    key: str,
    mailboxes: Mailboxes,
    deliveries: Deliveries,
    letters: Letters,
    sender: Sender,
    clock: Clock,
    deadline: EpochMs,
) -> TrialReport:
    """Send a test message; what can't be sent now is taken back, so that a test never lingers.

    `key` makes it unlike any other test. Somebody waits for the answer, so no intent is stored before. Dying in between
    leaves at most a message that is tried as any other, for an hour. Raises StoreError.
    """
    head = mailboxes.head(name)
    if head is None:
        return _not(f"there is no destination {name}")
    if head.destination.disabled:
        return _not(f"the destination is disabled: {head.destination.disabled}")
    row = _row(name, Trial(key=key, found=clock()))
    tally = sender.deliver(name, [Candidate(row, (Filters(),))], deadline=deadline)
    if tally.delivered:
        return TrialReport(delivered=True, outcome="delivered")
    left = mailboxes.row(name, row.id)
    if left is not None:
        head = mailboxes.head(name) or head
        if left.died is not None:
            letters.discard(head.destination, left, "a test message")
            return _not(_why(left, head, clock()))
        if mailboxes.cancel(head.destination, [left]):
            return _not(_why(left, head, clock()))
    # sent by a drain that came in between
    if deliveries.told(name, [row.notification.event]):
        return TrialReport(delivered=True, outcome="delivered")
    return _not("another sender took it over: see whether it comes, or try again")


def _row(name: DestinationId, event: Trial) -> Row:
    notification = Notification(
        id=notification_id(name, event), destination=name, event=event, watches=(), label="", search_url=""
    )
    return Row(notification=notification, created=event.found, next_attempt_at=event.found)


def _why(row: Row, head: Head, now: EpochMs) -> str:
    """What the far side said, if it was asked; else what is in the way."""
    if row.history:
        last = row.history[-1]
        meaning = _SAID[OutcomeKind(last.kind)] if last.kind in _SAID else last.kind
        return f"{meaning} ({last.reason})" if last.reason else meaning
    if head.leased(now):
        return "another message is being sent there just now: try again in a minute"
    if head.gate_until > now:
        failing = f" (failures in a row: {head.failures})" if head.failures else ""
        return f"nothing may be sent there for another {-(-(head.gate_until - now) // 1000)} s{failing}"
    if head.waiting > 1:
        return f"messages wait there before it ({head.waiting - 1}): `lago cycle` sends what is due"
    return "there was no time left to send it: try again"


def _not(why: str) -> TrialReport:
    return TrialReport(delivered=False, outcome=why)
