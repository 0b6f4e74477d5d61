"""A destination that goes: its mailbox emptied and deleted under a claim, its delivery log erased; and watches turned.

Nothing here is all or nothing but each step is, and each may be done again: the counters change with their rows, the
mailbox's head goes once no row is left, and the directory names the destination until nothing else of it is there.
"""

from itertools import islice

import msgspec
from pynamodb.expressions.update import Action

from lago.domain.ids import DestinationId, NotificationId
from lago.domain.mailbox import Head
from lago.domain.protocol import to_release, to_remove
from lago.domain.watch import Watch
from lago.errors import ConflictError
from lago.store.connection import TRIES, find, transaction, translated
from lago.store.deliveries import DeliveryItem
from lago.store.mailboxes import CHUNK, MailboxStore
from lago.store.queue_items import DIRECTORY, HEAD, QueueItem
from lago.store.queue_writes import compiled, write_rows
from lago.store.watches import WatchItem

ENTRIES = 100
"""Entries of a delivery log that one step erases: four batches of 25, which is what DynamoDB takes at once."""


class RemovalStore:
    """Takes a destination away, step by step. Every method may raise StoreUnavailableError."""

    def __init__(self, queue: MailboxStore) -> None:
        """What is removed lies in the queue."""
        self._queue = queue

    def listed(self, destination: DestinationId) -> bool:
        """Whether anything of it may still be there."""
        return find(QueueItem, DIRECTORY, destination, consistent=True) is not None

    def clear(self, claim: Head) -> int:
        """Delete some of its rows, waiting or dead, with the counts that they are in. Returns how many: 0 is all.

        Raises ConflictError when the claim was lost: somebody else is at this mailbox.
        """
        for _ in range(TRIES):
            items = self._rows(claim.destination.id, CHUNK)
            if not items:
                return 0
            dead = items[0].died_at is not None
            # of one kind at a time, since a waiting row is counted elsewhere than a dead one
            ids = tuple(NotificationId(item.id) for item in items if (item.died_at is not None) is dead)
            actions: list[Action] = [] if dead else [QueueItem.waiting.add(-len(ids))]
            try:
                write_rows(
                    self._queue.shards,
                    claim.destination,
                    done=ids,
                    dead_done=dead,
                    head_actions=actions,
                    guard=to_release(claim),
                )
            except ConflictError:
                head = self._queue.head(claim.destination.id)
                if head is None or head.epoch != claim.epoch:
                    raise
                continue  # one of them was delivered, discarded or brought back since it was read
            return len(ids)
        raise ConflictError("rows change faster than they are removed")

    def forget(self, claim: Head) -> bool:
        """Delete the mailbox itself if nothing is in it; says no when rows arrived.

        The head is read before the rows are looked for, and must not have changed since: no row can slip in between.
        Raises ConflictError when the claim was lost, or the destination was changed under it: it is to live on.
        """
        name = claim.destination.id
        head = find(QueueItem, name, HEAD, consistent=True)
        if head is None:
            return True
        if self._rows(name, 1):
            return False
        condition = compiled(to_remove(claim))
        dead = QueueItem.dead.does_not_exist() if head.dead is None else QueueItem.dead == head.dead
        try:
            with translated():
                head.delete(condition=condition & dead)
        except ConflictError:
            now = self._queue.head(name)
            if now is not None and (now.epoch, now.revision) != (claim.epoch, claim.revision):
                raise
            return False
        return True

    def erase_log(self, destination: DestinationId) -> int:
        """Erase some of what the destination was told. Returns how many entries: 0 is all."""
        with translated():
            found = DeliveryItem.query(destination, consistent_read=True, limit=ENTRIES, attributes_to_get=["ad"])
            keys = [item.ad for item in found]
            with DeliveryItem.batch_write() as batch:
                for ad in keys:
                    batch.delete(DeliveryItem(destination, ad))
        return len(keys)

    def strike(self, destination: DestinationId) -> bool:
        """Take it off the list of destinations, the last trace of it. Says no when it was added anew meanwhile."""
        try:
            with transaction() as writes:
                writes.condition_check(QueueItem, destination, HEAD, condition=QueueItem.id.does_not_exist())
                writes.delete(QueueItem(DIRECTORY, destination))
        except ConflictError:
            return False
        return True

    def _rows(self, destination: DestinationId, limit: int) -> list[QueueItem]:
        """The first rows of a mailbox; its head comes after all of them (`head` against hexadecimal ids)."""
        with translated():
            found = QueueItem.query(
                destination,
                QueueItem.id < HEAD,
                consistent_read=True,
                page_size=limit,
                attributes_to_get=["mailbox", "id", "died_at"],
            )
            return list(islice(found, limit))


def turn(watch: Watch, destinations: tuple[DestinationId, ...]) -> bool:
    """Send what a watch finds elsewhere from now on. Says whether the watch was still there."""
    for _ in range(TRIES):
        item = find(WatchItem, watch.search, watch.id, consistent=True)
        if item is None:
            return False
        # by the field, not by the struct: what only a newer version knows of it stays
        changed = msgspec.json.encode({**msgspec.json.decode(item.watch), "destinations": destinations})
        try:
            with translated():
                item.update([WatchItem.watch.set(changed), WatchItem.marked()], condition=WatchItem.watch == item.watch)
        except ConflictError:
            continue  # changed or removed since it was read
        return True
    raise ConflictError("the watch is being changed again and again")
