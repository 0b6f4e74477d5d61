"""The notification queue in memory: same contract as the DynamoDB store (tests/contracts/mailboxes_contract.py)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from threading import Lock

from msgspec.structs import replace

from lago.domain.ids import DestinationId, EpochMs, NotificationId
from lago.domain.mailbox import Head, Row, Settlement, settled
from lago.domain.notification import Destination
from lago.errors import ConflictError
from lago.ports import Counts, DueMailbox
from lago.store.queue_items import shard_name


class _Box:
    """One mailbox: its head and all its rows, waiting or dead."""

    def __init__(self, head: Head) -> None:
        self.head = head
        self.rows: dict[NotificationId, Row] = {}

    def waits(self, id_: NotificationId) -> bool:
        return id_ in self.rows and self.rows[id_].died is None

    def is_dead(self, id_: NotificationId) -> bool:
        return id_ in self.rows and self.rows[id_].died is not None

    def waiting(self) -> list[Row]:
        rows = [row for row in self.rows.values() if row.died is None]
        return sorted(rows, key=lambda row: (row.next_attempt_at, row.id))

    def change(self, **head: object) -> None:
        self.head = replace(self.head, **head)


class FakeMailboxes:
    """`lago.ports.Mailboxes`. Each call is one step for all threads, as a transaction is."""

    def __init__(self, shards: int = 1) -> None:
        self.shards = shards
        self._lock = Lock()
        self._boxes: dict[DestinationId, _Box] = {}
        self._pending: Counter[str] = Counter()
        self._dead: Counter[str] = Counter()

    # reads

    def destinations(self) -> list[DestinationId]:
        with self._lock:
            return sorted(self._boxes)

    def head(self, destination: DestinationId) -> Head | None:
        with self._lock:
            box = self._boxes.get(destination)
            return None if box is None else box.head

    def due(self, shard: int, now: EpochMs, limit: int) -> Iterator[DueMailbox]:
        with self._lock:
            found = [
                DueMailbox(id_, box.head.due_at)
                for id_, box in self._boxes.items()
                if box.head.due_at is not None
                and box.head.due_at <= now
                and shard_name(id_, self.shards) == f"shard#{shard}"
            ]
        return iter(sorted(found, key=lambda box: box.due_at)[:limit])

    def waiting(self, destination: DestinationId, limit: int) -> list[Row]:
        with self._lock:
            box = self._boxes.get(destination)
            return [] if box is None else box.waiting()[:limit]

    def row(self, destination: DestinationId, row: NotificationId) -> Row | None:
        with self._lock:
            box = self._boxes.get(destination)
            return None if box is None else box.rows.get(row)

    def dead(self, destination: DestinationId) -> list[Row]:
        with self._lock:
            box = self._boxes.get(destination)
            return [] if box is None else [box.rows[id_] for id_ in sorted(box.rows) if box.is_dead(id_)]

    def dead_letters(self, limit: int) -> list[Row]:
        letters = [row for destination in self.destinations() for row in self.dead(destination)]
        return sorted(letters, key=lambda row: row.died or 0, reverse=True)[:limit]

    def counts(self) -> dict[str, Counts]:
        with self._lock:
            return {channel: Counts(pending, self._dead[channel]) for channel, pending in self._pending.items()}

    # writes

    def put_destination(self, destination: Destination) -> None:
        with self._lock:
            box = self._boxes.get(destination.id)
            if box is None:
                self._boxes[destination.id] = _Box(Head(destination=destination))
                return
            works_again = box.head.destination.disabled and not destination.disabled
            box.change(destination=destination)
            if works_again:
                box.change(gate_until=EpochMs(0))
                for first in box.waiting()[:1]:
                    box.change(due_at=first.next_attempt_at)

    def claim(
        self,
        head: Head,
        ids: Iterable[NotificationId],
        *,
        now: EpochMs,
        lease_until: EpochMs,
        lost: tuple[Row, ...] = (),
        suspects: frozenset[NotificationId] = frozenset(),
    ) -> Head:
        with self._lock:
            box = self._boxes[head.destination.id]
            as_read = (head.epoch, head.waiting) == (box.head.epoch, box.head.waiting)
            if box.head.leased(now) or not as_read or not all(box.waits(row.id) for row in lost):
                raise ConflictError("another claimed it, or rows arrived")
            self._put(box, head.destination, lost)
            box.change(
                epoch=head.epoch + 1,
                lease_until=lease_until,
                in_flight=tuple(sorted(ids)),
                suspects=tuple(sorted(suspects)),
            )
            return box.head

    def release(self, claim: Head, settlement: Settlement, *, now: EpochMs) -> None:
        with self._lock:
            box = self._boxes[claim.destination.id]
            if box.head.epoch == claim.epoch:
                self._give_up(box, claim, settlement, now)

    def record(
        self, claim: Head, settlement: Settlement, *, new: bool, next_row_at: EpochMs | None, now: EpochMs
    ) -> bool:
        with self._lock:
            box = self._boxes[claim.destination.id]
            done = () if new else settlement.done
            if box.head.epoch != claim.epoch:
                self._remove(box, claim.destination, done)
                return False
            if box.head.destination != claim.destination:
                settlement = replace(settlement, address=None, disabled=None)
            kept = [row for row in settlement.kept if (row.id not in box.rows if new else box.waits(row.id))]
            times = [row.next_attempt_at for row in kept if row.died is None]
            if next_row_at is not None:
                times.append(next_row_at)
            if box.head.waiting != claim.waiting:
                times.append(now)
            self._remove(box, claim.destination, done)
            self._put(box, claim.destination, kept)
            self._give_up(box, claim, settlement, now)
            due_at = max(settlement.gate_until, min(times, default=now))
            box.change(due_at=due_at if box.head.waiting else None)
            return True

    def acknowledge(self, destination: Destination, ids: Iterable[NotificationId]) -> None:
        with self._lock:
            self._remove(self._boxes[destination.id], destination, ids)

    def enqueue(
        self,
        destination: Destination,
        rows: tuple[Row, ...],
        *,
        now: EpochMs,
        charged: Callable[[Row], Row] = lambda row: row,
    ) -> int:
        with self._lock:
            box = self._boxes.get(destination.id)
            fresh = [row for row in rows if box is None or row.id not in box.rows]
            if not fresh:
                return 0
            if box is None:
                raise ConflictError(f"there is no destination {destination.id}")
            lost = box.head.lost(now).intersection(row.id for row in fresh)
            kept = [charged(row) if row.id in lost else row for row in fresh]
            self._put(box, destination, kept)
            box.change(
                in_flight=tuple(id_ for id_ in box.head.in_flight if id_ not in lost),
                suspects=tuple(id_ for id_ in box.head.suspects if id_ not in lost),
            )
            if any(row.died is None for row in kept):
                due_at = max(now, box.head.gate_until)
                box.change(due_at=due_at if box.head.due_at is None else min(due_at, box.head.due_at))
            return len(fresh)

    def cancel(self, destination: Destination, rows: Iterable[Row]) -> int:
        with self._lock:
            box = self._boxes[destination.id]
            return self._remove(box, destination, [row.id for row in rows if box.waits(row.id)])

    def redrive(self, destination: Destination, rows: Iterable[Row], *, now: EpochMs) -> int:
        with self._lock:
            box = self._boxes[destination.id]
            revived = [
                replace(
                    row,
                    died=None,
                    dead_reason=None,
                    attempts=0,
                    lost=0,
                    generation=row.generation + 1,
                    created=now,
                    next_attempt_at=min(row.next_attempt_at, now),
                )
                for row in rows
                if box.is_dead(row.id)
            ]
            self._put(box, destination, revived)
            if revived:
                box.change(due_at=max(now, box.head.gate_until))
            return len(revived)

    # the one place where rows change: what the mailbox and the counters say follows from it

    def _put(self, box: _Box, destination: Destination, rows: Iterable[Row]) -> None:
        for row in rows:
            self._remove(box, destination, [row.id])
            box.rows[row.id] = row
            self._count(box, destination, row, 1)

    def _remove(self, box: _Box, destination: Destination, ids: Iterable[NotificationId]) -> int:
        gone = [row for id_ in ids if (row := box.rows.pop(id_, None)) is not None]
        for row in gone:
            self._count(box, destination, row, -1)
        return len(gone)

    def _count(self, box: _Box, destination: Destination, row: Row, change: int) -> None:
        waiting, dead = (change, 0) if row.died is None else (0, change)
        self._pending[destination.channel] += waiting
        self._dead[destination.channel] += dead
        box.change(waiting=box.head.waiting + waiting)

    def _give_up(self, box: _Box, claim: Head, settlement: Settlement, now: EpochMs) -> None:
        after = settled(claim, settlement, now)
        box.change(
            lease_until=None,
            in_flight=(),
            failures=after.failures,
            gate_until=after.gate_until,
            delivered=after.delivered,
        )
        if after.destination != claim.destination:
            box.change(destination=after.destination)
