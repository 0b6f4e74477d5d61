"""The notification_queue table: mailbox heads, rows, counters and the directory of destinations.

    mailbox         id            what
    <destination>   head          a mailbox: destination, lease, epoch, gate; in index `due` while something waits
    <destination>   <24 hex>      a row; in index `waiting` while it waits, in index `dead` when it died
    shard#<n>       counts#<c>    exact numbers of pending and dead rows of channel c
    directory       <destination> that a destination exists
    meta#operator   told          what the operator was told of dead letters

A pending row has no TTL: nothing durable disappears by itself.
"""

from collections.abc import Mapping
from zlib import crc32

import msgspec
from pynamodb.attributes import BinaryAttribute, JSONAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, KeysOnlyProjection, LocalSecondaryIndex

from lago.domain.ids import DestinationId, EpochMs, NotificationId
from lago.domain.mailbox import Head, Row
from lago.domain.notification import Destination
from lago.store.connection import Table, table_name
from lago.store.schema import decoding, unknown

HEAD = "head"
DIRECTORY = "directory"


class WaitingIndex(LocalSecondaryIndex["QueueItem"]):  # type: ignore[no-untyped-call]
    """The waiting rows of a mailbox by the time of their next attempt; strongly consistent."""

    class Meta:
        index_name = "waiting"
        projection = AllProjection()

    mailbox = UnicodeAttribute(hash_key=True)
    next_attempt_at = NumberAttribute(range_key=True)


class DueIndex(GlobalSecondaryIndex["QueueItem"]):  # type: ignore[no-untyped-call]
    """The mailboxes in which something waits, by shard and the time of their next attempt."""

    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    due_shard = UnicodeAttribute(hash_key=True)
    due_at = NumberAttribute(range_key=True)


class DeadIndex(GlobalSecondaryIndex["QueueItem"]):  # type: ignore[no-untyped-call]
    """The dead letters by shard and time of death."""

    class Meta:
        index_name = "dead"
        projection = AllProjection()

    dead_shard = UnicodeAttribute(hash_key=True)
    died_at = NumberAttribute(range_key=True)


class QueueItem(Table):
    """Any item of the table; which attributes are set depends on its kind (see the module)."""

    class Meta:
        table_name = table_name("QUEUE_TABLE")

    mailbox = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    waiting_rows = WaitingIndex()
    due = DueIndex()
    dead_rows = DeadIndex()

    # a head
    destination = BinaryAttribute(legacy_encoding=False, null=True)
    revision = NumberAttribute(null=True)
    epoch = NumberAttribute(null=True)
    claimer = UnicodeAttribute(null=True)
    lease_until = NumberAttribute(null=True)
    in_flight = UnicodeSetAttribute(null=True)
    suspects = UnicodeSetAttribute(null=True)
    gate_until = NumberAttribute(null=True)
    failures = NumberAttribute(null=True)
    waiting = NumberAttribute(null=True)
    delivered = JSONAttribute(null=True)
    due_shard = UnicodeAttribute(null=True)
    due_at = NumberAttribute(null=True)

    # a row
    row = BinaryAttribute(legacy_encoding=False, null=True)
    next_attempt_at = NumberAttribute(null=True)
    dead_shard = UnicodeAttribute(null=True)
    died_at = NumberAttribute(null=True)

    # a counter
    pending = NumberAttribute(null=True)
    dead = NumberAttribute(null=True)


def shard_name(destination: DestinationId, shards: int) -> str:
    """The queue shard of a destination: all of a mailbox is in one, so order within it is kept."""
    return f"shard#{crc32(destination.encode()) % shards}"


def head_of(item: QueueItem) -> Head:
    """The head that the item holds. Raises NewerItemError."""
    assert item.destination is not None  # noqa: S101 - a head is written whole
    with decoding(item):
        destination = msgspec.json.decode(item.destination, type=Destination)
        kept = unknown(item, item.destination, Destination)
    return Head(
        destination=destination,
        revision=int(item.revision or 0),
        epoch=int(item.epoch or 0),
        lease_until=None if item.lease_until is None else EpochMs(int(item.lease_until)),
        in_flight=tuple(NotificationId(id_) for id_ in sorted(item.in_flight or ())),
        suspects=tuple(NotificationId(id_) for id_ in sorted(item.suspects or ())),
        gate_until=EpochMs(int(item.gate_until or 0)),
        failures=int(item.failures or 0),
        waiting=int(item.waiting or 0),
        dead=int(item.dead or 0),
        due_at=None if item.due_at is None else EpochMs(int(item.due_at)),
        delivered=item.delivered or {},
        unknown=kept,
    )


def encode_destination(destination: Destination, unknown: Mapping[str, object]) -> bytes:
    """The stored form of a destination, with what only the next version knows of it."""
    fields = msgspec.to_builtins(destination)
    if destination.digest_at is None:
        del fields["digest_at"]  # schema 1 compares all it knows byte by byte with what is stored
    return msgspec.json.encode({**fields, **unknown})


def row_of(item: QueueItem) -> Row:
    """The row that the item holds. Raises NewerItemError."""
    assert item.row is not None  # noqa: S101 - a row is written whole
    with decoding(item):
        return msgspec.msgpack.decode(item.row, type=Row)


def item_of(row: Row, shard: str) -> QueueItem:
    """The stored form of a row: in the index `waiting` or `dead`, never in both."""
    item = QueueItem(row.notification.destination, row.id, row=msgspec.msgpack.encode(row))
    if row.died is None:
        item.next_attempt_at = row.next_attempt_at
    else:
        item.dead_shard, item.died_at = shard, row.died
    return item
