"""How the notification queue changes: rows, their mailbox's head and the counter, all or none.

What a write needs is the protocol's to say (`lago.domain.protocol`); here it becomes DynamoDB's conditions and actions.
"""

import logging
from collections.abc import Mapping
from functools import reduce
from operator import and_
from types import MappingProxyType

from pynamodb.attributes import NumberAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from lago.domain.ids import DestinationId, EpochMs, NotificationId
from lago.domain.mailbox import Head, Row, Settlement, settled
from lago.domain.notification import Destination
from lago.domain.protocol import ANYTHING, Guard, Standing, tallied
from lago.store.connection import retried, transaction
from lago.store.queue_items import HEAD, QueueItem, encode_destination, item_of, shard_name

log = logging.getLogger(__name__)

_STANDS = {
    Standing.ABSENT: QueueItem.id.does_not_exist(),
    Standing.WAITING: QueueItem.row.exists() & QueueItem.died_at.does_not_exist(),
    Standing.DEAD: QueueItem.died_at.exists(),
}

BUSY_TRIES = 8
"""How often a write is tried that meets others: all mailboxes of a shard and channel share one counter."""


def write_rows(
    shards: int,
    destination: Destination,
    *,
    head_actions: list[Action],
    guard: Guard = ANYTHING,
    done: tuple[NotificationId, ...] = (),
    dead_done: bool = False,
    kept: tuple[Row, ...] = (),
    absent: frozenset[NotificationId] = frozenset(),
    revived: Mapping[NotificationId, EpochMs] = MappingProxyType({}),
) -> None:
    """Rows, head and counter in one transaction; the counter follows from the rows.

    `kept` rows waited before, but for those that are `absent` yet; so did `done` rows, but for `dead_done` ones. With
    `revived`, the kept rows were dead since these times: one that lived meanwhile and died again is another letter.
    """
    shard = shard_name(destination.id, shards)
    kept_were = Standing.DEAD if revived else Standing.WAITING
    done_were = Standing.DEAD if dead_done else Standing.WAITING
    touched = [kept_were] * (len(kept) - len(absent)) + [done_were] * len(done)
    waited, were_dead = touched.count(Standing.WAITING), touched.count(Standing.DEAD)
    change = tallied(kept, waited=waited, were_dead=were_dead)
    if change.dead:
        head_actions = [*head_actions, QueueItem.dead.add(change.dead)]

    def write() -> None:
        with transaction() as writes:
            for id_ in done:
                writes.delete(QueueItem(destination.id, id_), condition=_STANDS[done_were])
            for row in kept:
                stands = _STANDS[Standing.ABSENT if row.id in absent else Standing.WAITING]
                if row.id in revived:
                    stands = QueueItem.died_at == revived[row.id]
                writes.save(item_of(row, shard), condition=stands)
            if head_actions:
                condition = None if guard == ANYTHING else compiled(guard)
                writes.update(QueueItem(destination.id, HEAD), head_actions, condition=condition)
            if change.waiting or change.dead:
                counter = QueueItem(shard, f"counts#{destination.channel}")
                writes.update(counter, [QueueItem.pending.add(change.waiting), QueueItem.dead.add(change.dead)])

    retried(BUSY_TRIES, write)
    for row in kept:
        if row.died is not None:
            tell_of_death(row)


def tell_of_death(row: Row) -> None:
    """One log line for each dead letter, whatever it died of: the dashboard lists them."""
    said = row.history[-1].reason if row.history else ""
    log.warning(
        "dead letter",
        extra={
            "notification": row.id,
            "destination": row.notification.destination,
            "kind": row.notification.kind,
            "died_of": row.dead_reason,
            "attempts": row.attempts,
            "reason": said,
        },
    )


def compiled(guard: Guard) -> Condition:
    """A guard that asks something, as DynamoDB's condition on a head: the one place where protocol meets database."""
    parts: list[Condition] = []
    if guard.exists:
        parts.append(QueueItem.destination.exists())
    if guard.free_at is not None:
        parts.append(QueueItem.lease_until.does_not_exist() | (QueueItem.lease_until <= guard.free_at))
    if guard.epoch is not None:
        parts.append(_is_number(QueueItem.epoch, guard.epoch))
    if guard.waiting is not None:
        parts.append(_is_number(QueueItem.waiting, guard.waiting))
    parts += [QueueItem.in_flight.contains(id_) for id_ in sorted(guard.in_the_air)]
    if guard.revision is not None:
        parts.append(_is_number(QueueItem.revision, guard.revision))
    if guard.due_from is not None:
        parts.append(QueueItem.due_at.does_not_exist() | (QueueItem.due_at >= guard.due_from))
    return reduce(and_, parts)


def _is_number(attribute: NumberAttribute, value: int) -> Condition:
    """The number is `value`; one that was never written is 0."""
    equal: Condition = attribute == value
    return equal | attribute.does_not_exist() if value == 0 else equal


def due(destination: DestinationId, due_at: int | None, shards: int) -> list[Action]:
    """List the mailbox in the index of what is due, or take it off."""
    if due_at is None:
        return [QueueItem.due_shard.remove(), QueueItem.due_at.remove()]
    return [QueueItem.due_shard.set(shard_name(destination, shards)), QueueItem.due_at.set(due_at)]


def under_claim(head: Head, claim: Head, token: str) -> list[Action]:
    """What a claim does to the head as it was read."""
    actions: list[Action] = [
        QueueItem.epoch.set(claim.epoch),
        QueueItem.claimer.set(token),
        QueueItem.lease_until.remove() if claim.lease_until is None else QueueItem.lease_until.set(claim.lease_until),
        QueueItem.in_flight.set(set(claim.in_flight)) if claim.in_flight else QueueItem.in_flight.remove(),
        QueueItem.suspects.set(set(claim.suspects)) if claim.suspects else QueueItem.suspects.remove(),
    ]
    if claim.waiting != head.waiting:
        actions.append(QueueItem.waiting.add(claim.waiting - head.waiting))
    return actions


def after(claim: Head, settlement: Settlement, now: EpochMs) -> list[Action]:
    """What a finished send does to the head beside its rows."""
    head = settled(claim, settlement, now)
    actions: list[Action] = [
        QueueItem.lease_until.remove(),
        QueueItem.in_flight.remove(),
        QueueItem.failures.set(head.failures),
        QueueItem.gate_until.set(head.gate_until),
    ]
    if head.delivered != claim.delivered:
        actions.append(QueueItem.delivered.set(dict(head.delivered)))
    if head.destination != claim.destination:
        actions += [
            QueueItem.destination.set(encode_destination(head.destination, head.unknown)),
            QueueItem.revision.set(head.revision),
            QueueItem.marked(),
        ]
    return actions
