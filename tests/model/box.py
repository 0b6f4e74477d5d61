"""A mailbox in memory, small and hashable, whose every write is decided and made by the product's own protocol.

Time is relative: only what is left of a lease matters, in ticks. `NOW` never moves, leases run down instead. Gates and
waits are left out: a row may be tried again at once, which allows more interleavings than any schedule does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace

from lago.domain import protocol
from lago.domain.backoff import Backoff
from lago.domain.ids import DestinationId, EpochMs, Milliseconds, NotificationId, OwnerId
from lago.domain.mailbox import Head, Row, Settlement, lost_in_the_air, settle, settled
from lago.domain.notification import Destination, Notification
from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.protocol import Guard, Standing
from tests.builders import an_event

NOW = EpochMs(1_000_000)
TICK = 1_000
CURRENT, STALE = 1, 0
"""Epochs only ever meet the head's own: it is always `CURRENT`, any older one is `STALE`."""
ME = Destination(id=DestinationId("me"), owner=OwnerId("me"), channel="telegram", address="1")


class Seen(NamedTuple):
    """A head, as it is or as a worker read it."""

    epoch: int = STALE
    lease: int | None = None
    in_flight: tuple[int, ...] = ()
    suspects: tuple[int, ...] = ()
    waiting: int = 0
    failing: bool = False
    due: bool = False


class Line(NamedTuple):
    """A row of message `number`."""

    number: int
    attempts: int = 0
    lost: int = 0
    alone: bool = False
    dead: bool = False

    @property
    def spent(self) -> int:
        return self.attempts + self.lost


class Result(NamedTuple):
    """A settlement."""

    done: tuple[int, ...] = ()
    kept: tuple[Line, ...] = ()
    failing: bool = False


class Box(NamedTuple):
    """All that is stored of one mailbox."""

    head: Seen
    rows: tuple[Line | None, ...]
    pending: int = 0
    dead: int = 0

    def waiting(self) -> tuple[Line, ...]:
        return tuple(row for row in self.rows if row is not None and not row.dead)

    def known(self) -> frozenset[int]:
        return frozenset(row.number for row in self.rows if row is not None)


@dataclass(frozen=True)
class Rules:
    """The protocol; each mutation changes one of these."""

    to_claim: Callable[[Head, EpochMs], Guard] = protocol.to_claim
    claimed: Callable[..., Head] = protocol.claimed
    to_record: Callable[[Guard], Guard] = lambda guard: guard
    to_release: Callable[..., Guard] = protocol.to_release
    to_acknowledge: Callable[[Head], Guard] = lambda _claim: protocol.to_acknowledge()


class Store:
    """The writes of a mailbox: each returns the mailbox after it, or None when it is refused."""

    def __init__(self, rules: Rules, *, cap: int, lease: int) -> None:
        self.rules, self.lease = rules, lease
        self.policy = Backoff(base=Milliseconds(1_000), cap=Milliseconds(1_000), attempts=cap)
        for name in ("claim", "finish", "release", "acknowledge", "enqueue", "outcome", "lost"):
            setattr(self, name, cache(getattr(self, name)))  # the same few questions, asked very often

    def claim(self, box: Box, seen: Seen, ids: tuple[int, ...], lost: tuple[Line, ...]) -> Box | None:
        head, read = _head(box.head), _head(seen)
        charged = tuple(lost_in_the_air(_row(line), self.policy, NOW) for line in lost)
        if not self.rules.to_claim(read, NOW).holds(head) or not _stand(box, lost, Standing.WAITING):
            return None
        names = [_id(number) for number in ids]
        claim = self.rules.claimed(
            read,
            names,
            lease_until=EpochMs(NOW + self.lease * TICK),
            suspects=read.suspects_beside((*names, *(row.id for row in charged)), NOW),
            deaths=protocol.died(charged),
        )
        head = replace(
            head,
            epoch=claim.epoch,
            lease_until=claim.lease_until,
            in_flight=claim.in_flight,
            suspects=claim.suspects,
            waiting=head.waiting + claim.waiting - read.waiting,
        )
        return _written(box, head, kept=charged)

    def finish(
        self,
        box: Box,
        claim: Seen,
        result: Result,
        absent: frozenset[int],
        *,
        going: tuple[int, ...],
        following: bool,
        again: bool,
        hurry: bool,
    ) -> Box | None:
        head, held, settlement = _head(box.head), _head(claim), _settlement(result)
        end = protocol.finish(
            held,
            settlement,
            done=tuple(_id(number) for number in going),
            absent=frozenset(_id(number) for number in absent),
            waiting=claim.waiting,
            next_row_at=NOW if following else None,
            now=NOW,
            again=again,
            hurry=hurry,
        )
        if not self.rules.to_record(end.guard).holds(head):
            return None
        stored = tuple(line for line in result.kept if line.number not in absent)
        if any(_standing(box, number) is not Standing.ABSENT for number in absent):
            return None
        if any(
            _standing(box, number) is not Standing.WAITING for number in (*going, *(line.number for line in stored))
        ):
            return None
        after = protocol.finished(head, settlement, end, NOW)
        return _written(box, after, kept=settlement.kept, done=going)

    def release(self, box: Box, claim: Seen, result: Result, *, exact: bool) -> Box | None:
        head, held = _head(box.head), _head(claim)
        if not self.rules.to_release(held, waiting=held.waiting if exact else None).holds(head):
            return None
        after = settled(head, _settlement(result), NOW)
        return _written(box, after)

    def acknowledge(self, box: Box, claim: Seen, number: int) -> Box | None:
        """Read and written as one step: the store tries again whenever the row moved in between."""
        standing = _standing(box, number)
        head = _head(box.head)
        if standing is Standing.ABSENT or not self.rules.to_acknowledge(_head(claim)).holds(head):
            return None
        if standing is Standing.WAITING:
            head = replace(head, waiting=head.waiting - 1)
        return _written(box, head, done=(number,))

    def enqueue(self, box: Box, seen: Seen, fresh: tuple[Line, ...], *, charging: bool) -> Box | None:
        def charge(row: Row) -> Row:
            return lost_in_the_air(row, self.policy, NOW) if charging else row

        head, rows = _head(box.head), tuple(_row(line) for line in fresh)
        arrival = protocol.arrive(_head(seen), rows, charge=charge, now=NOW)
        if not arrival.guard.holds(head) or not _stand(box, fresh, Standing.ABSENT):
            return None
        return _written(box, protocol.arrived(head, arrival), kept=arrival.kept)

    def returned(self, line: Line) -> Line:
        """What is queued of a failed message whose claim was lost."""
        return _line(protocol.returned(_row(line)))

    def outcome(self, claim: Seen, rows: tuple[Line, ...], kind: OutcomeKind) -> Result:
        """What a send's outcome means."""
        settlement = settle(
            _head(claim),
            tuple(_row(line) for line in rows),
            Outcome(kind=kind),
            policy=lambda _: self.policy,
            spacing=Milliseconds(0),
            now=NOW,
            random=lambda: 0.5,
        )
        done = tuple(_number(id_) for id_ in settlement.done)
        return Result(done, tuple(_line(row) for row in settlement.kept), settlement.failures > 0)

    def lost(self, seen: Seen) -> frozenset[int]:
        """What a dead claimer left in the air."""
        return frozenset(_number(id_) for id_ in _head(seen).lost(NOW))


def _written(
    box: Box,
    head: Head,
    *,
    kept: tuple[Row, ...] = (),
    done: tuple[int, ...] = (),
) -> Box:
    """Head, rows and counters, all or none."""
    touched = [_standing(box, number) for number in (*done, *(_number(row.id) for row in kept))]
    waited, were_dead = touched.count(Standing.WAITING), touched.count(Standing.DEAD)
    change = protocol.tallied(kept, waited=waited, were_dead=were_dead)
    rows = list(box.rows)
    for number in done:
        rows[number] = None
    for line in map(_line, kept):
        rows[line.number] = line
    return Box(_seen(head), tuple(rows), box.pending + change.waiting, box.dead + change.dead)


def _standing(box: Box, number: int) -> Standing:
    line = box.rows[number]
    return protocol.standing(None if line is None else _row(line))


def _stand(box: Box, lines: tuple[Line, ...], where: Standing) -> bool:
    return all(_standing(box, line.number) is where for line in lines)


@cache
def _id(number: int) -> NotificationId:
    return NotificationId(f"message {number}")


def _number(id_: NotificationId) -> int:
    return int(id_.removeprefix("message "))


@cache
def _head(seen: Seen) -> Head:
    return Head(
        destination=ME,
        epoch=seen.epoch,
        lease_until=None if seen.lease is None else EpochMs(NOW + seen.lease * TICK),
        in_flight=tuple(_id(number) for number in seen.in_flight),
        suspects=tuple(_id(number) for number in seen.suspects),
        failures=int(seen.failing),
        waiting=seen.waiting,
        due_at=NOW if seen.due else None,
    )


def _seen(head: Head) -> Seen:
    return Seen(
        head.epoch,
        None if head.lease_until is None else (head.lease_until - NOW) // TICK,
        tuple(_number(id_) for id_ in head.in_flight),
        tuple(_number(id_) for id_ in head.suspects),
        head.waiting,
        head.failures > 0,
        head.due_at is not None,
    )


@cache
def _row(line: Line) -> Row:
    number, attempts, lost, alone, dead = line
    event = an_event(str(number))
    notification = Notification(
        id=_id(number), destination=ME.id, event=event, watches=(), label="bicycles", search_url=""
    )
    return Row(
        notification=notification,
        created=NOW,
        next_attempt_at=NOW,
        attempts=attempts,
        lost=lost,
        alone=alone,
        died=NOW if dead else None,
    )


def _line(row: Row) -> Line:
    return Line(_number(row.id), row.attempts, row.lost, row.alone, row.died is not None)


@cache
def _settlement(result: Result) -> Settlement:
    return Settlement(
        done=tuple(_id(number) for number in result.done),
        kept=tuple(_row(line) for line in result.kept),
        failures=int(result.failing),
    )
