"""Two workers, an outbox, a mailbox and a clock: what one state of them is, and what an observer sees of a change."""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from lago.domain.outcome import OutcomeKind
from tests.model.box import CURRENT, STALE, Box, Line, Result, Seen


class At(IntEnum):
    """What a worker does next."""

    IDLE = 0
    NOTIFY = 1
    CLAIM = 2
    UNSURE = 3
    LOOK_UP = 4
    SENDING = 5
    LOG = 6
    RECORD = 7
    REREAD = 8
    ACKNOWLEDGE = 9
    RELEASE = 10
    READ_TO_QUEUE = 11
    QUEUE = 12
    CLEAR = 13
    DRAIN = 14
    READ_ROWS = 15
    GIVE_BACK = 16


class Worker(NamedTuple):
    """One run of Notify (`outbox` is what it read) or Drain (`outbox` is None)."""

    at: At = At.IDLE
    outbox: tuple[int, ...] | None = None
    rest: tuple[int, ...] = ()
    """Messages still to be told, of Notify; without the one in hand."""
    seen: Seen = Seen()
    lease: int = 0
    rows: tuple[Line, ...] = ()
    """The rows in hand: being sent, charged as lost or queued."""
    charging: bool = False
    """The claim is to charge the rows in hand, not to send them."""
    following: bool = False
    result: Result = Result()
    absent: frozenset[int] = frozenset()
    """Which of the rows to be kept are not stored yet."""
    again: bool = False
    arrived: bool = False
    dud: bool = False
    """Its lease ran out before it sent anything: its claim may be charged all the same."""


class Message(NamedTuple):
    """What an observer who sees everything knows of a message."""

    dispatched: int = 0
    arrived: int = 0
    logged: bool = False
    acknowledged: bool = False
    requeued: bool = False
    """Its outbox brought it again after it was acknowledged."""
    duds: int = 0
    """Claims that can be charged although nothing was sent."""


class World(NamedTuple):
    """One state."""

    outbox: tuple[int, ...]
    unfound: int
    box: Box
    messages: tuple[Message, ...]
    workers: tuple[Worker, ...]
    crashes: int
    """How many are left."""


@dataclass(frozen=True)
class Bounds:
    """How large the world is."""

    messages: int = 1
    cap: int = 3
    crashes: int = 2
    lease: int = 1
    answers: tuple[OutcomeKind, ...] = (OutcomeKind.DELIVERED, OutcomeKind.OUTAGE, OutcomeKind.AMBIGUOUS)
    workers: int = 2
    time: bool = True
    """Leases run out, at any moment."""
    lost_answers: bool = True
    """The database's and the far side's."""


class ImpossibleError(Exception):
    """Something happened that must not."""


def with_worker(world: World, index: int, worker: Worker) -> World:
    """The world with that worker; workers that are no longer up to date are all alike, and so are their order."""
    workers, head = list(world.workers), world.box.head
    workers[index] = worker
    if head.epoch > CURRENT:  # a claim: whatever the others have read or hold is of an older epoch
        workers = [each if each is worker else _outdated(each) for each in workers]
        workers[index] = worker._replace(seen=worker.seen._replace(epoch=CURRENT))
        world = world._replace(box=world.box._replace(head=head._replace(epoch=CURRENT)))
    return world._replace(workers=tuple(sorted(workers, key=hash)))


def _outdated(worker: Worker) -> Worker:
    if worker.at is At.QUEUE:
        return worker._replace(seen=worker.seen._replace(epoch=STALE))
    return worker._replace(seen=Seen())


def noted(
    messages: tuple[Message, ...],
    rows: tuple[Line, ...],
    *,
    dispatched: int = 0,
    arrived: int = 0,
    duds: int = 0,
    logged: bool = False,
) -> tuple[Message, ...]:
    """What an observer adds to what is known of the messages in hand."""
    known = list(messages)
    for row in rows:
        was = known[row.number]
        was = was._replace(arrived=min(was.arrived + arrived, 2), logged=was.logged or logged)
        if was.logged:  # never sent again: its charges do not matter any more
            was = was._replace(dispatched=0, duds=0)
        else:
            was = was._replace(dispatched=was.dispatched + dispatched, duds=was.duds + duds)
        known[row.number] = was
    return tuple(known)


def acknowledged(messages: tuple[Message, ...], done: tuple[int, ...]) -> tuple[Message, ...]:
    return tuple(
        message._replace(acknowledged=True) if number in done else message for number, message in enumerate(messages)
    )


def refunded(world: World, worker: Worker) -> tuple[Message, ...]:
    """A claim ends that sent nothing: it will not be charged any more, if it was not until now."""
    flying = world.box.head.in_flight
    if not worker.dud:
        return world.messages
    return noted(world.messages, tuple(row for row in worker.rows if row.number in flying), duds=-1)


def requeued(messages: tuple[Message, ...], rows: tuple[Line, ...]) -> tuple[Message, ...]:
    numbers = {row.number for row in rows}
    return tuple(
        message._replace(requeued=True) if message.acknowledged and number in numbers else message
        for number, message in enumerate(messages)
    )


def watch(before: Box, after: Box, messages: tuple[Message, ...]) -> None:
    """Every change of a row, while it happens. Raises ImpossibleError."""
    for was, now, message in zip(before.rows, after.rows, messages, strict=True):
        if was is not None and now is not None and now.spent < was.spent:
            raise ImpossibleError("a row has more attempts left than before")
        if now is not None and not message.logged and now.spent > message.dispatched + message.duds:
            raise ImpossibleError("a dispatch is charged twice")
        if was is not None and was.dead and now is not None and not now.dead:
            raise ImpossibleError("a dead letter waits again by itself")
