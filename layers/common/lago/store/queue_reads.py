"""What can be read of the notification queue."""

import logging
from collections.abc import Iterable, Iterator
from itertools import islice

from lago.domain.ids import DestinationId, EpochMs, NotificationId
from lago.domain.mailbox import Head, Row
from lago.errors import NewerItemError
from lago.ports import Counts, DueMailbox
from lago.store.connection import find, find_all, translated
from lago.store.queue_items import DIRECTORY, HEAD, QueueItem, head_of, row_of

__all__ = ["Counts", "DueMailbox", "QueueReads"]


log = logging.getLogger(__name__)


def _readable(item: QueueItem) -> Row | None:
    """A row of a kind that only a newer version knows (during a deploy) waits for that, uncharged."""
    try:
        return row_of(item)
    except NewerItemError:
        log.warning("a row cannot be read by this version", extra={"row": item.id})
        return None


class QueueReads:
    """Reads of the queue. Every method may raise StoreUnavailableError."""

    def __init__(self, shards: int) -> None:
        """`shards` is the number of queue shards that the destinations are spread over."""
        self.shards = shards

    def destinations(self) -> list[DestinationId]:
        """Every destination that exists."""
        with translated():
            return [DestinationId(item.id) for item in QueueItem.query(DIRECTORY)]

    def head(self, destination: DestinationId) -> Head | None:
        """A mailbox, read consistently."""
        item = find(QueueItem, destination, HEAD, consistent=True)
        return None if item is None or item.destination is None else head_of(item)

    def due(self, shard: int, now: EpochMs, limit: int) -> Iterator[DueMailbox]:
        """The mailboxes of a shard that are due, longest overdue first."""
        with translated():
            for item in QueueItem.due.query(f"shard#{shard}", QueueItem.due_at <= now, limit=limit):
                yield DueMailbox(DestinationId(item.mailbox), EpochMs(int(item.due_at)))

    def waiting(self, destination: DestinationId, limit: int) -> list[Row]:
        """The first rows of a mailbox by the time of their next attempt, read consistently.

        Reads past those that this version can't read: however many they are, they hold up no other.
        """
        with translated():
            found = QueueItem.waiting_rows.query(destination, consistent_read=True, page_size=limit)
            return list(islice((row for item in found if (row := _readable(item)) is not None), limit))

    def row(self, destination: DestinationId, row: NotificationId) -> Row | None:
        """One row, waiting or dead, read consistently."""
        item = find(QueueItem, destination, row, consistent=True)
        return None if item is None else row_of(item)

    def dead(self, destination: DestinationId) -> list[Row]:
        """The dead letters of a destination; reads all of its mailbox."""
        with translated():
            items = QueueItem.query(destination, filter_condition=QueueItem.died_at.exists())
            return [row for item in items if (row := _readable(item)) is not None]

    def dead_letters(self, limit: int) -> list[Row]:
        """The newest dead letters of all destinations."""
        with translated():
            rows = [
                row
                for shard in range(self.shards)
                for item in QueueItem.dead_rows.query(f"shard#{shard}", scan_index_forward=False, limit=limit)
                if (row := _readable(item)) is not None
            ]
        return sorted(rows, key=lambda row: row.died or 0, reverse=True)[:limit]

    def counts(self) -> dict[str, Counts]:
        """Pending and dead rows by channel."""
        totals: dict[str, Counts] = {}
        with translated():
            for shard in range(self.shards):
                for item in QueueItem.query(f"shard#{shard}", QueueItem.id.startswith("counts#")):
                    channel = item.id.removeprefix("counts#")
                    before = totals.get(channel, Counts(0, 0))
                    totals[channel] = Counts(before.pending + int(item.pending or 0), before.dead + int(item.dead or 0))
        return totals

    def known(self, destination: DestinationId, ids: Iterable[NotificationId]) -> set[str]:
        """Which of these rows are there, waiting or dead."""
        return {item.id for item in find_all(QueueItem, ((destination, id_) for id_ in ids))}
