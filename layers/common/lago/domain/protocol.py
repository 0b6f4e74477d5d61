"""Who may write to a mailbox, and what the write makes of it. Pure: the store and the exhaustive check both run this.

    step         what must hold of the head                      what must hold of each row
    claim        no lease runs; epoch, number of rows and what   a lost one still waits
                 is in the air are as they were read
    record       the claim's epoch; the number that waits        waits; absent when it is new
    release      the claim's epoch                               -
    acknowledge  nothing: a success counts from any epoch        waits or is dead
    enqueue      its destination; its epoch, when it charges;    absent
                 that it is not due earlier by now
    change       its destination as it was read; the number of   -
                 rows, when they are listed or counted anew

A write is all or nothing: what is refused changed nothing. Failures, snoozes and deaths need the claimer's epoch,
acknowledgements never do (design, rule 5). `tests/model` goes through every interleaving of these steps.
"""

from collections.abc import Callable, Iterable
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from lago.domain.ids import EpochMs, NotificationId
from lago.domain.mailbox import Head, Row, Settlement, settled
from lago.domain.notification import Destination


class Standing(Enum):
    """Where a row is: what a write asks of each row it touches."""

    ABSENT = "absent"
    WAITING = "waiting"
    DEAD = "dead"


class Guard(Struct, frozen=True, kw_only=True):
    """What must hold of a mailbox's head at the moment of a write, all of it; None asks nothing."""

    epoch: int | None = None
    free_at: EpochMs | None = None
    """No lease runs at this time."""
    waiting: int | None = None
    in_the_air: frozenset[NotificationId] = frozenset()
    """These are still in the air: nobody charged them as lost."""
    revision: int | None = None
    """Its destination was not changed since it was read."""
    due_from: EpochMs | None = None
    """It is not due before this time: nobody listed it earlier since it was read."""
    exists: bool = False
    """There is such a mailbox."""

    def holds(self, head: Head) -> bool:
        """Whether the write may happen to this head; the store compiles the same into a condition."""
        return (
            self.epoch in (None, head.epoch)
            and (self.free_at is None or not head.leased(self.free_at))
            and self.waiting in (None, head.waiting)
            and self.in_the_air.issubset(head.in_flight)
            and self.revision in (None, head.revision)
            and (self.due_from is None or head.due_at is None or head.due_at >= self.due_from)
        )


ANYTHING = Guard()
"""Asks nothing of the head."""


class Tallied(Struct, frozen=True, kw_only=True):
    """How a write changes the numbers of rows."""

    waiting: int
    dead: int


class Finish(Struct, frozen=True, kw_only=True):
    """How a claim ends: what must hold, how many more rows wait, and when the mailbox is due (None: nothing waits)."""

    guard: Guard
    arriving: int
    due_at: EpochMs | None


class Arrival(Struct, frozen=True, kw_only=True):
    """Rows that come without a claim: what is stored of them, and what the head forgets as charged."""

    guard: Guard
    kept: tuple[Row, ...]
    charged: frozenset[NotificationId]
    arriving: int
    due_at: EpochMs | None
    """None leaves it as it is."""


def standing(row: Row | None) -> Standing:
    """Where the row is."""
    if row is None:
        return Standing.ABSENT
    return Standing.WAITING if row.died is None else Standing.DEAD


def died(rows: Iterable[Row]) -> int:
    """How many of the rows are dead."""
    return sum(row.died is not None for row in rows)


def tallied(kept: tuple[Row, ...], *, waited: int, were_dead: int) -> Tallied:
    """How a write changes the numbers: `kept` is stored, `waited` and `were_dead` of all that it touches before it."""
    dead = died(kept)
    return Tallied(waiting=len(kept) - dead - waited, dead=dead - were_dead)


def to_claim(head: Head, now: EpochMs) -> Guard:
    """What a claim needs: the mailbox is free, and is as it was read."""
    return Guard(epoch=head.epoch, free_at=now, waiting=head.waiting, in_the_air=frozenset(head.in_flight))


def claimed(
    head: Head, ids: Iterable[NotificationId], *, lease_until: EpochMs, suspects: frozenset[NotificationId], deaths: int
) -> Head:
    """The mailbox under a claim. `ids` are in the air from now on: that is their charge, taken back by an outcome."""
    return replace(
        head,
        epoch=head.epoch + 1,
        lease_until=lease_until,
        in_flight=tuple(sorted(ids)),
        suspects=tuple(sorted(suspects)),
        waiting=head.waiting - deaths,
    )


def to_release(claim: Head, *, waiting: int | None = None) -> Guard:
    """What giving up a claim needs whose message has no stored rows: it was not lost, and maybe that no row arrived."""
    return Guard(epoch=claim.epoch, waiting=waiting)


def to_record(claim: Head, *, waiting: int | None = None, revision: int | None = None) -> Guard:
    """What recording an outcome needs: the claim was not lost, however old it is. The rest as far as it matters."""
    return Guard(epoch=claim.epoch, waiting=waiting, revision=revision)


def to_acknowledge() -> Guard:
    """What acknowledging a delivery needs of the mailbox: nothing, whoever has it by now."""
    return ANYTHING


def to_enqueue(head: Head, charged: frozenset[NotificationId], due_at: EpochMs | None) -> Guard:
    """What queueing needs: the destination as it was read, what is charged as lost is lost still, nothing due earlier.

    Of two that queue at once the later time must not overwrite the earlier one.
    """
    return Guard(
        exists=True,
        epoch=head.epoch if charged else None,
        in_the_air=charged.intersection(head.in_flight),
        revision=head.revision,
        due_from=due_at,
    )


def may_change_channel(head: Head) -> bool:
    """Whether nothing is there, or on its way, that is counted under the channel that the destination has."""
    return head.lease_until is None and not head.suspects and not head.waiting and not head.dead


def wakes(head: Head, wanted: Destination) -> bool:
    """Whether a destination that was disabled works again: what waits there is due."""
    return bool(head.destination.disabled) and not wanted.disabled


def to_change(head: Head | None, wanted: Destination) -> Guard:
    """What storing a destination needs: nobody changed it meanwhile, nor added or removed it.

    When it wakes, no row came since its first was read: that may be due earlier. When it gets another channel, nothing
    came since `may_change_channel`.
    """
    if head is None:
        return Guard(revision=0)
    moves = head.destination.channel != wanted.channel
    return Guard(
        exists=True,
        epoch=head.epoch if moves else None,
        waiting=head.waiting if moves or wakes(head, wanted) else None,
        revision=head.revision,
    )


def to_remove(claim: Head) -> Guard:
    """What deleting a mailbox needs: the claim holds, nothing waits, and it was not changed to live on."""
    return Guard(epoch=claim.epoch, waiting=0, revision=claim.revision)


def finish(
    claim: Head,
    settlement: Settlement,
    *,
    done: tuple[NotificationId, ...],
    absent: frozenset[NotificationId],
    waiting: int,
    next_row_at: EpochMs | None,
    now: EpochMs,
    again: bool = False,
    hurry: bool = False,
) -> Finish:
    """How a claim ends with its outcome recorded. `waiting` is how many rows wait, as far as the claimer knows.

    `absent` are the kept rows that are not stored yet; `next_row_at` is when the first of the others is due. `again`:
    a row may have arrived meanwhile, due at once. `hurry`: rows arrive faster than they are counted here, so the
    mailbox is listed, in vain perhaps, which does no harm.
    """
    stored = len(settlement.kept) - len(absent)
    arriving = tallied(settlement.kept, waited=stored + len(done), were_dead=0).waiting
    times = [row.next_attempt_at for row in settlement.kept if row.died is None]
    if next_row_at is not None:
        times.append(next_row_at)
    if again:
        times.append(now)
    left = waiting + arriving > 0 or hurry
    due_at = EpochMs(max(settlement.gate_until, min(times, default=now))) if left else None
    # what was changed meanwhile is due at other times; what the far side said was about what it was before
    changed = None if hurry and not (settlement.address or settlement.disabled) else claim.revision
    guard = to_record(claim, waiting=None if hurry else waiting, revision=changed)
    return Finish(guard=guard, arriving=arriving, due_at=due_at)


def finished(head: Head, settlement: Settlement, end: Finish, now: EpochMs) -> Head:
    """The mailbox after a claim's end."""
    return replace(settled(head, settlement, now), waiting=head.waiting + end.arriving, due_at=end.due_at)


def returned(row: Row) -> Row:
    """What is queued of a message that failed under a claim that was lost, and is no row yet.

    It is charged, but it does not die: it may have been delivered meanwhile, and whoever comes next asks the log first.
    """
    if row.died is None:
        return row
    uncharged = row.dead_reason == "message"
    return replace(row, died=None, dead_reason=None, attempts=row.attempts + uncharged)


def arrive(head: Head, fresh: tuple[Row, ...], *, charge: Callable[[Row], Row], now: EpochMs) -> Arrival:
    """How rows that are not stored yet join a mailbox, whoever holds it.

    `charge` makes of a row that a dead sender left in the air what is stored of it.
    """
    lost = head.lost(now).intersection(row.id for row in fresh)
    kept = tuple(charge(row) if row.id in lost else row for row in fresh)
    arriving = tallied(kept, waited=0, were_dead=0).waiting
    due_at = None
    if arriving:
        # also when it is due already: a sender that ends just now may be about to take it off the index
        first = min(row.next_attempt_at for row in kept if row.died is None)
        due_at = max(now, head.gate_until, first)
        due_at = due_at if head.due_at is None else min(due_at, head.due_at)
    return Arrival(guard=to_enqueue(head, lost, due_at), kept=kept, charged=lost, arriving=arriving, due_at=due_at)


def arrived(head: Head, arrival: Arrival) -> Head:
    """The mailbox after rows joined it."""
    return replace(
        head,
        in_flight=tuple(id_ for id_ in head.in_flight if id_ not in arrival.charged),
        suspects=tuple(id_ for id_ in head.suspects if id_ not in arrival.charged),
        waiting=head.waiting + arrival.arriving,
        due_at=head.due_at if arrival.due_at is None else arrival.due_at,
    )
