"""What the operator was told of dead letters: one small item of the queue's table, changed by one drain at a time."""

import msgspec
from pynamodb.expressions.update import Action

from lago.domain.operator import Told
from lago.errors import ConflictError
from lago.store.connection import find, update
from lago.store.queue_items import QueueItem
from lago.store.schema import decoding

_PLACE = ("meta#operator", "told")


class OperatorStore:
    """Every method may raise StoreUnavailableError."""

    def told(self) -> Told:
        """What was told so far, read consistently."""
        item = find(QueueItem, *_PLACE, consistent=True)
        if item is None or item.row is None:
            return Told()
        with decoding(item):
            return msgspec.msgpack.decode(item.row, type=Told)

    def put(self, told: Told) -> bool:
        """Store what follows from the version before. Says whether that was still the last one: one drain wins."""
        before = told.version - 1
        unchanged = QueueItem.epoch == before if before else QueueItem.epoch.does_not_exist()
        actions: list[Action] = [
            QueueItem.row.set(msgspec.msgpack.encode(told)),
            QueueItem.epoch.set(told.version),
            QueueItem.marked(),
        ]
        try:
            update(QueueItem(*_PLACE), actions, unchanged)
        except ConflictError:
            return False
        return True
