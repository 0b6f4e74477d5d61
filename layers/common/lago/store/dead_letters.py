"""Dead letters on DynamoDB: a merged list over all shards, and the ways out of it: back to the mailbox, or away."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import batched, groupby

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from lago.domain.dead_letter import Letters, Place, Wanted, place, revived
from lago.domain.ids import DestinationId, EpochMs, NotificationId
from lago.domain.mailbox import Row
from lago.domain.notification import Destination
from lago.errors import ConflictError, NewerItemError
from lago.store import mailboxes
from lago.store.connection import translated
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import QueueItem, row_of, shard_name
from lago.store.queue_writes import due, write_rows

log = logging.getLogger(__name__)

EXAMINED = 500
"""Letters looked at for one part of the list: a filter that fits few of many makes short parts, not long reads."""
READ_AT_ONCE = 25
"""Letters a read of the index brings."""


class DeadLetterStore:
    """The dead letters of all mailboxes. Every method may raise StoreUnavailableError."""

    def __init__(self, queue: MailboxStore) -> None:
        """Dead letters lie in their mailboxes."""
        self._queue = queue

    def part(self, wanted: Wanted, *, limit: int, after: Place | None = None) -> Letters:
        """The next `limit` letters that fit, newest first, by an index that may lag a little.

        Reads as many letters as it returns and skips, `EXAMINED` at most; a part that ends there is continued by its
        `after`, also when it is short or empty.
        """
        shards = [f"shard#{shard}" for shard in range(self._queue.shards)]
        if wanted.destination is not None:
            shards = [shard_name(wanted.destination, self._queue.shards)]
        found = merge(*(_newest(shard, wanted.since, after) for shard in shards), key=lambda row: place(row).order)
        rows: list[Row] = []
        last = after
        with translated():
            for examined, row in enumerate(found):
                if len(rows) == limit or examined == EXAMINED:
                    return Letters(rows, last)
                last = place(row)
                if wanted.fits(row):
                    rows.append(row)
        return Letters(rows, None)

    def get(self, destination: DestinationId, id_: NotificationId) -> Row | None:
        """One dead letter, read consistently; None when there is none, or it lives again."""
        row = self._queue.row(destination, id_)
        return None if row is None or row.died is None else row

    def beginning(self, prefix: str) -> list[Row]:
        """The dead letters whose ids begin so; reads one page of each destination, whatever has died before."""
        with translated():
            found = [
                item
                for destination in self._queue.destinations()
                for item in QueueItem.query(destination, QueueItem.id.startswith(prefix))
                if item.died_at is not None
            ]
        return list(_readable(found))

    def redrive(self, letters: Iterable[tuple[Row, EpochMs]], *, now: EpochMs) -> set[NotificationId]:
        """Bring letters back into their mailboxes, each to be tried at its time. Returns which were still dead.

        One that lived since it was read, and died again, is another letter: this one is not dead any more.
        """
        by_destination: dict[DestinationId, list[Row]] = {}
        died: dict[NotificationId, EpochMs] = {}
        for row, at in letters:
            if row.died is not None:
                by_destination.setdefault(row.notification.destination, []).append(revived(row, at))
                died[row.id] = row.died
        done: set[NotificationId] = set()
        for name, rows in by_destination.items():
            for chunk in batched(rows, mailboxes.CHUNK, strict=False):
                done |= self._revive(name, chunk, died, now)
        return done

    def _revive(
        self, name: DestinationId, rows: tuple[Row, ...], died: Mapping[NotificationId, EpochMs], now: EpochMs
    ) -> set[NotificationId]:
        head = self._queue.head(name)
        if head is None:
            return set()
        # due at once although the rows wait: a later time could overwrite that of a row that arrives just now
        listed = due(name, max(now, head.gate_until), self._queue.shards)
        actions: list[Action] = [QueueItem.waiting.add(len(rows)), *listed]
        try:
            write_rows(self._queue.shards, head.destination, kept=rows, revived=died, head_actions=actions)
        except ConflictError:  # one of them was delivered, redriven, discarded or died again meanwhile
            if len(rows) == 1:
                return set()
            return {id_ for row in rows for id_ in self._revive(name, (row,), died, now)}
        return {row.id for row in rows}

    def discard(self, destination: Destination, row: Row, reason: str) -> bool:
        """Remove a letter for good; what is left of it is a log line. Says whether it was still dead."""
        try:
            write_rows(self._queue.shards, destination, done=(row.id,), dead_done=True, head_actions=[])
        except ConflictError:
            return False
        about = {"notification": row.id, "destination": destination.id, "kind": row.notification.kind}
        log.info("dead letter discarded", extra={**about, "died_of": row.dead_reason, "reason": reason})
        return True

    def destination(self, name: DestinationId) -> Destination | None:
        """The destination of a letter."""
        head = self._queue.head(name)
        return None if head is None else head.destination


def _newest(shard: str, since: EpochMs | None, after: Place | None) -> Iterator[Row]:
    """The letters of a shard in the list's order, from behind `after` on.

    The index orders by time of death alone, and engines differ in how they order what died in one moment. So what
    did is read whole and sorted here: a place in the list is a place on every engine, also when its letter is gone.
    """
    if since is not None and after is not None and since > after.died:
        return
    within: Condition | None = None
    if since is not None and after is not None:
        within = QueueItem.died_at.between(since, after.died)
    elif since is not None:
        within = QueueItem.died_at >= since
    elif after is not None:
        within = QueueItem.died_at <= after.died
    items = QueueItem.dead_rows.query(shard, within, scan_index_forward=False, page_size=READ_AT_ONCE)
    for _, moment in groupby(items, key=lambda item: item.died_at):
        rows = sorted(_readable(moment), key=lambda row: place(row).order)
        yield from (row for row in rows if after is None or place(row).order > after.order)


def _readable(items: Iterable[QueueItem]) -> Iterator[Row]:
    """Without letters of a kind that only a newer version knows (during a deploy): they are listed by that."""
    for item in items:
        try:
            yield row_of(item)
        except NewerItemError:
            log.warning("a dead letter cannot be read by this version", extra={"notification": item.id})
