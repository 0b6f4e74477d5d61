"""The notification queue in memory: same contracts as the DynamoDB store (tests/contracts).

Both run `lago.domain.protocol`; the rows here are counted, where the store adds up.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from threading import Lock

from msgspec.structs import replace

from lago.domain import protocol
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

    def become(self, head: Head) -> None:
        """What the protocol makes of the head; its sum must be what was counted."""
        assert head.waiting == self.head.waiting
        self.head = replace(head, dead=self.head.dead)


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
                self._boxes[destination.id] = _Box(Head(destination=destination, revision=1))
                return
            if box.head.destination.channel != destination.channel and not protocol.may_change_channel(box.head):
                raise ConflictError("it still has messages of the channel it had")
            works_again = protocol.wakes(box.head, destination)
            box.change(destination=destination, revision=box.head.revision + 1)
            if works_again:
                box.change(gate_until=EpochMs(0))
                for first in box.waiting()[:1]:
                    box.change(due_at=first.next_attempt_at)

    def change_destination(
        self, name: DestinationId, change: Callable[[Destination], Destination]
    ) -> Destination | None:
        head = self.head(name)
        if head is None:
            return None
        wanted = change(head.destination)
        if wanted != head.destination:
            self.put_destination(wanted)
        return wanted

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
            box, ids = self._boxes[head.destination.id], tuple(ids)
            if not protocol.to_claim(head, now).holds(box.head) or not all(box.waits(row.id) for row in lost):
                raise ConflictError("another claimed it, or rows arrived")
            if not lost and not head.waiting and any(box.is_dead(id_) for id_ in ids):
                raise ConflictError("a dead letter is not sent again by its outbox")
            deaths = protocol.died(lost)
            claim = protocol.claimed(box.head, ids, lease_until=lease_until, suspects=suspects, deaths=deaths)
            self._put(box, head.destination, lost)
            box.become(claim)
            return box.head

    def release(self, claim: Head, settlement: Settlement, *, now: EpochMs) -> None:
        with self._lock:
            box = self._boxes[claim.destination.id]
            if not protocol.to_release(claim, waiting=claim.waiting).holds(box.head) or not claim.leased(now):
                self._remove(box, claim.destination, settlement.done)
            if protocol.to_release(claim).holds(box.head):
                box.become(settled(box.head, settlement, now))

    def record(
        self, claim: Head, settlement: Settlement, *, new: bool, next_row_at: EpochMs | None, now: EpochMs
    ) -> bool:
        with self._lock:
            box, ids = self._boxes[claim.destination.id], frozenset(row.id for row in settlement.kept)
            done, absent = () if new else settlement.done, ids if new else frozenset()

            def end(waiting: int, *, again: bool) -> protocol.Finish:
                return protocol.finish(
                    claim,
                    settlement,
                    done=done,
                    absent=absent,
                    waiting=waiting,
                    next_row_at=next_row_at,
                    now=now,
                    again=again,
                )

            ending = end(claim.waiting, again=False)
            stored = (*done, *(ids - absent))
            as_known = all(box.waits(id_) for id_ in stored) and absent.isdisjoint(box.rows)
            if not ending.guard.holds(box.head) or not as_known:
                # what another acknowledged, or queued, while it was sent
                done = tuple(id_ for id_ in done if id_ in box.rows)
                absent = ids - box.rows.keys() if new else frozenset()
                ours = {id_ for id_ in ids.intersection(box.head.in_flight if new else box.rows) if box.waits(id_)}
                kept = tuple(row for row in settlement.kept if row.id in absent or row.id in ours)
                settlement = replace(settlement, kept=kept)
                if not protocol.to_record(claim).holds(box.head):
                    self._remove(box, claim.destination, settlement.done)
                    rows = tuple(protocol.returned(row) for row in kept if row.id in absent)
                    self._arrive(box, claim.destination, rows, lambda row: row, now)
                    return False
                if box.head.revision != claim.revision:
                    claim = replace(claim, destination=box.head.destination, revision=box.head.revision)
                    settlement = replace(settlement, address=None, disabled=None)
                ending = end(box.head.waiting, again=True)
            after = protocol.finished(box.head, settlement, ending, now)
            self._remove(box, claim.destination, done)
            self._put(box, claim.destination, settlement.kept)
            box.become(after)
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
            if box is None and rows:
                raise ConflictError(f"there is no destination {destination.id}")
            return self._arrive(box, destination, rows, charged, now) if box else 0

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
                if box.is_dead(row.id) and box.rows[row.id].died == row.died
            ]
            self._put(box, destination, revived)
            if revived:
                box.change(due_at=max(now, box.head.gate_until))
            return len(revived)

    def _arrive(
        self, box: _Box, destination: Destination, rows: tuple[Row, ...], charge: Callable[[Row], Row], now: EpochMs
    ) -> int:
        fresh = tuple(row for row in rows if row.id not in box.rows)
        if fresh:
            arrival = protocol.arrive(box.head, fresh, charge=charge, now=now)
            after = protocol.arrived(box.head, arrival)
            self._put(box, box.head.destination, arrival.kept)
            box.become(after)
        return len(fresh)

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
        box.change(waiting=box.head.waiting + waiting, dead=box.head.dead + dead)
