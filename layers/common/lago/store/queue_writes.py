"""How the notification queue changes: rows, their mailbox's head and the counter, all or none."""

import msgspec
from pynamodb.attributes import NumberAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from lago.domain.ids import EpochMs, NotificationId
from lago.domain.mailbox import Head, Row, Settlement, settled
from lago.domain.notification import Destination
from lago.store.connection import retried, transaction
from lago.store.queue_items import HEAD, QueueItem, item_of, shard_name

BUSY_TRIES = 8
"""How often a write is tried that meets others: all mailboxes of a shard and channel share one counter."""


def write_rows(
    shards: int,
    destination: Destination,
    *,
    head_actions: list[Action],
    head_condition: Condition | None = None,
    done: tuple[NotificationId, ...] = (),
    dead_done: bool = False,
    kept: tuple[Row, ...] = (),
    new: bool = False,
    revived: bool = False,
) -> None:
    """Rows, head and counter in one transaction; the counter follows from the rows."""
    shard = shard_name(destination.id, shards)
    died = sum(row.died is not None for row in kept)
    pending = (len(kept) - died if new or revived else -died) - (0 if dead_done else len(done))
    dead = died - (len(done) if dead_done else 0) - (len(kept) if revived else 0)
    waits = QueueItem.row.exists() & QueueItem.died_at.does_not_exist()
    is_dead = QueueItem.died_at.exists()

    def write() -> None:
        with transaction() as writes:
            for id_ in done:
                writes.delete(QueueItem(destination.id, id_), condition=is_dead if dead_done else waits)
            for row in kept:
                there = is_dead if revived else waits
                writes.save(item_of(row, shard), condition=QueueItem.id.does_not_exist() if new else there)
            if head_actions:
                writes.update(QueueItem(destination.id, HEAD), head_actions, condition=head_condition)
            if pending or dead:
                counter = QueueItem(shard, f"counts#{destination.channel}")
                writes.update(counter, [QueueItem.pending.add(pending), QueueItem.dead.add(dead)])

    retried(BUSY_TRIES, write)


def is_number(attribute: NumberAttribute, value: int) -> Condition:
    """The number is `value`; one that was never written is 0."""
    equal: Condition = attribute == value
    return equal | attribute.does_not_exist() if value == 0 else equal


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
        actions.append(QueueItem.destination.set(msgspec.json.encode(head.destination)))
    return actions
