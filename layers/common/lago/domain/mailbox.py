"""The protocol of a mailbox: who may send, and what a send's outcome does to rows and mailbox. Pure.

One message is one claim: the claim raises the epoch, sets a lease and names the rows in the air (`in_flight`), which is
their charge. Recording the outcome releases the mailbox. A claimer that dies leaves `in_flight` behind an expired
lease: whoever comes next finds it and charges those rows a lost dispatch.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from lago.domain.backoff import Backoff, wait
from lago.domain.ids import EpochMs, Milliseconds, NotificationId
from lago.domain.notification import Destination, Notification
from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.redact import reason

HOUR_MS = 3_600_000
HOURS_KEPT = 24
HISTORY = 10
"""How many attempts a row remembers: a row's size must not grow with the number of its attempts."""
SHORT = 120
"""Bytes that are kept of what the far side said before the last time: ten whole reasons would be 5 KB."""
SUSPECTS = 100
"""How many ids a mailbox remembers as lost in the air: as many as an outbox can bring again."""

_ANSWERED = (OutcomeKind.DELIVERED, OutcomeKind.MESSAGE, OutcomeKind.GATE, OutcomeKind.DESTINATION)
"""The far side is there and answers for itself: whatever it says, an outage is over."""

DeadReason = Literal["message", "outage", "ambiguous", "render", "crash", "expired"]


class Attempt(Struct, frozen=True, array_like=True):
    """One line of a row's history: when, the class of the outcome, and what the far side said."""

    at: EpochMs
    kind: str
    reason: str


class Row(Struct, frozen=True, kw_only=True):
    """A notification that waits, or died. `attempts` counts recorded failures, `lost` dispatches without an outcome."""

    notification: Notification
    created: EpochMs
    """Since when it is of use: when it was found, or brought back from the dead."""
    next_attempt_at: EpochMs
    attempts: int = 0
    lost: int = 0
    alone: bool = False
    """Not to be clubbed: its last dispatch crashed, or its club was refused."""
    generation: int = 0
    """How often it was brought back from the dead."""
    history: tuple[Attempt, ...] = ()
    died: EpochMs | None = None
    dead_reason: DeadReason | None = None

    @property
    def id(self) -> NotificationId:
        """The notification's id: the same news twice is one row."""
        return self.notification.id

    @property
    def spent(self) -> int:
        """Attempts charged in all."""
        return self.attempts + self.lost

    @property
    def aging_since(self) -> EpochMs:
        """From when on it grows too old to be told: what waits for a digest does not while it waits for that."""
        return max(self.created, self.next_attempt_at)


class Head(Struct, frozen=True, kw_only=True):
    """A mailbox: its destination, and how that is doing. `due_at` is None while nothing waits."""

    destination: Destination
    revision: int = 0
    """How often the destination was changed."""
    epoch: int = 0
    lease_until: EpochMs | None = None
    in_flight: tuple[NotificationId, ...] = ()
    suspects: tuple[NotificationId, ...] = ()
    """Lost in the air before they were rows: to be charged when their outbox brings them again."""
    gate_until: EpochMs = EpochMs(0)
    failures: int = 0
    """Consecutive outages: above 0 one message probes at a time."""
    waiting: int = 0
    dead: int = 0
    due_at: EpochMs | None = None
    delivered: Mapping[str, int] = {}
    """Messages delivered by hour since the epoch, the last 24 hours."""
    unknown: Mapping[str, object] = {}
    """What only a newer version knows of the destination: kept as it is."""

    def leased(self, now: EpochMs) -> bool:
        """Whether a sender holds it now."""
        return self.lease_until is not None and self.lease_until > now

    def lost(self, now: EpochMs) -> frozenset[NotificationId]:
        """What a dead claimer left in the air, this time or before."""
        left = () if self.leased(now) else self.in_flight
        return frozenset((*left, *self.suspects))

    def suspects_beside(self, handled: Iterable[NotificationId], now: EpochMs) -> frozenset[NotificationId]:
        """What stays suspected by a claim that takes care of `handled`; the newest alone when it gets too much.

        An outbox may never bring it again (its watch was removed): it costs a few bytes then and holds up nobody.
        """
        left = self.lost(now) - frozenset(handled)
        return left if len(left) <= SUSPECTS else left.intersection(self.in_flight)


class Settlement(Struct, frozen=True, kw_only=True):
    """What a send's outcome changes: rows that are done, rows kept (waiting or dead), and the mailbox."""

    done: tuple[NotificationId, ...] = ()
    kept: tuple[Row, ...] = ()
    failures: int = 0
    gate_until: EpochMs = EpochMs(0)
    disabled: str | None = None
    address: str | None = None
    delivered: int = 0
    recovered: bool = False
    """The mailbox answers again after an outage."""


def exhausted(row: Row, policy: Backoff) -> bool:
    """Whether the row has no attempt left."""
    return row.spent >= policy.attempts


def dead(row: Row, reason: DeadReason, now: EpochMs) -> Row:
    """The row as a dead letter: kept, with its history."""
    return replace(row, died=now, dead_reason=reason)


def settle(
    head: Head,
    rows: tuple[Row, ...],
    outcome: Outcome,
    *,
    policy: Callable[[Row], Backoff],
    spacing: Milliseconds,
    now: EpochMs,
    random: Callable[[], float],
    resend: Callable[[Row], bool] = lambda _: True,
) -> Settlement:
    """What `outcome` of sending `rows` as one message means (design, rule 6). `spacing` is the channel's own pace.

    A club may be of several kinds: each row has its own retry `policy`, the mailbox waits as the first of them does.
    `resend` says of a row that got no answer whether it is sent again; else it is dead, as it may have arrived.
    """
    noted, first = tuple(_noted(row, outcome, now) for row in rows), policy(rows[0])
    same = Settlement(kept=noted, failures=head.failures, gate_until=head.gate_until, address=outcome.address)
    if outcome.kind in _ANSWERED:
        same = replace(same, failures=0, recovered=head.failures > 0)
    match outcome.kind:
        case OutcomeKind.DELIVERED:
            return replace(
                same,
                done=tuple(row.id for row in rows),
                kept=(),
                gate_until=EpochMs(now + spacing),
                delivered=1,
            )
        case OutcomeKind.DESTINATION:
            return replace(same, disabled=outcome.reason or "it refuses messages")
        case OutcomeKind.GATE:
            return replace(same, gate_until=EpochMs(now + (outcome.retry_after or first.base)))
        case OutcomeKind.MESSAGE | OutcomeKind.RENDER if len(rows) > 1:
            # one of the club is to blame, nobody knows which: uncharged, each alone next time
            alone = (replace(row, alone=True, next_attempt_at=min(row.next_attempt_at, now)) for row in noted)
            return replace(same, kept=tuple(alone))
        case OutcomeKind.MESSAGE:
            return replace(same, kept=tuple(dead(row, "message", now) for row in noted))
        case OutcomeKind.RENDER:
            return replace(
                same, kept=tuple(_retried(_charged(row, "render", first, now), first, now, random) for row in noted)
            )
        case OutcomeKind.OUTAGE:
            probe, others = noted[0], noted[1:]
            wait_ms = wait(first, head.failures + 1, random)
            return replace(
                same,
                kept=(_charged(probe, "outage", first, now), *others),
                failures=head.failures + 1,
                gate_until=EpochMs(now + wait_ms),
            )
        case OutcomeKind.AMBIGUOUS:
            wait_ms = wait(first, head.failures + 1, random)
            again = (_charged(row, "ambiguous", policy(row), now) for row in noted)
            return replace(
                same,
                kept=tuple(row if resend(row) else dead(row, "ambiguous", now) for row in again),
                failures=head.failures + 1,
                gate_until=EpochMs(now + wait_ms),
            )


def settled(claim: Head, settlement: Settlement, now: EpochMs) -> Head:
    """The mailbox after a send, given up again; how many rows wait is the store's to count."""
    delivered = claim.delivered
    if settlement.delivered:
        hour = now // HOUR_MS
        delivered = {at: n for at, n in claim.delivered.items() if int(at) > hour - HOURS_KEPT}
        delivered[str(hour)] = delivered.get(str(hour), 0) + settlement.delivered
    destination = replace(
        claim.destination,
        address=settlement.address or claim.destination.address,
        disabled=settlement.disabled or claim.destination.disabled,
    )
    return replace(
        claim,
        destination=destination,
        revision=claim.revision + (destination != claim.destination),
        lease_until=None,
        in_flight=(),
        failures=settlement.failures,
        gate_until=settlement.gate_until,
        delivered=delivered,
    )


def lost_in_the_air(row: Row, policy: Backoff, now: EpochMs) -> Row:
    """The row after a dispatch that left no outcome: charged, sent alone from now on, dead at the cap."""
    note = Attempt(now, "crash", "the sender stopped before it recorded an outcome")
    charged = replace(row, lost=row.lost + 1, alone=True, history=_remembered(row, note))
    return dead(charged, "crash", now) if exhausted(charged, policy) else charged


def _noted(row: Row, outcome: Outcome, now: EpochMs) -> Row:
    if outcome.kind is OutcomeKind.DELIVERED:
        return row
    return replace(row, history=_remembered(row, Attempt(now, outcome.kind.value, outcome.reason)))


def _remembered(row: Row, note: Attempt) -> tuple[Attempt, ...]:
    """The row's history with one attempt more: the last one is kept whole, those before in short."""
    return (*(_in_short(each) for each in row.history[1 - HISTORY :]), note)


def _in_short(note: Attempt) -> Attempt:
    return note if len(note.reason.encode()) <= SHORT else replace(note, reason=reason(note.reason, limit=SHORT))


def _charged(row: Row, reason: DeadReason, policy: Backoff, now: EpochMs) -> Row:
    """One attempt less. The row keeps its place in the order: what it waits for is its mailbox's gate."""
    charged = replace(row, attempts=row.attempts + 1)
    return dead(charged, reason, now) if exhausted(charged, policy) else charged


def _retried(row: Row, policy: Backoff, now: EpochMs, random: Callable[[], float]) -> Row:
    """The row alone waits for its next attempt, others go on."""
    return replace(row, next_attempt_at=EpochMs(now + wait(policy, row.attempts, random)))
