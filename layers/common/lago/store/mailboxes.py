"""Mailboxes on DynamoDB: claim, record, enqueue, acknowledge. Rows, head and counters change in one transaction."""

import secrets
from collections.abc import Callable, Iterable, Mapping
from itertools import batched

from msgspec.structs import replace
from pynamodb.expressions.update import Action

from lago.domain import protocol
from lago.domain.ids import DestinationId, EpochMs, NotificationId
from lago.domain.mailbox import Head, Row, Settlement
from lago.domain.notification import Destination
from lago.domain.protocol import Guard, Standing
from lago.errors import ConflictError
from lago.store.connection import TRIES, find, find_all, retried, transaction, update
from lago.store.queue_items import DIRECTORY, HEAD, QueueItem, encode_destination, head_of
from lago.store.queue_reads import QueueReads
from lago.store.queue_writes import after, compiled, due, under_claim, write_rows

CHUNK = 40
"""Rows a transaction changes at most: DynamoDB allows 100 writes, and head and counter are two of them."""


class MailboxStore(QueueReads):
    """The notification queue. Every method may raise StoreUnavailableError."""

    def put_destination(self, destination: Destination) -> None:
        """Store a destination, new or changed; its mailbox keeps what waits, due at once when it was disabled.

        Its channel changes only while nothing is there that was counted under the old one: ConflictError otherwise.
        """
        for _ in range(TRIES):
            before = self.head(destination.id)
            moves = before is not None and before.destination.channel != destination.channel
            if before is not None and moves and not protocol.may_change_channel(before):
                raise ConflictError(f"{destination.id} still has messages of the channel {before.destination.channel}")
            if self._write_destination(destination, before):
                return
        raise ConflictError("a destination was changed by others again and again")

    def change_destination(
        self, name: DestinationId, change: Callable[[Destination], Destination]
    ) -> Destination | None:
        """Change what is stored of a destination, whatever else changes it at the same time; its channel stays.

        Returns it as it is then; None when there is none of that name.
        """
        for _ in range(TRIES):
            before = self.head(name)
            if before is None:
                return None
            wanted = change(before.destination)
            if wanted == before.destination or self._write_destination(wanted, before):
                return wanted
        raise ConflictError("a destination was changed by others again and again")

    def _write_destination(self, destination: Destination, before: Head | None) -> bool:
        """Says whether it was still as it was `before`."""
        actions: list[Action] = [
            QueueItem.destination.set(encode_destination(destination, before.unknown if before else {})),
            QueueItem.revision.add(1),
            QueueItem.marked(),
        ]
        if before and protocol.wakes(before, destination):
            actions.append(QueueItem.gate_until.remove())
            for first in self.waiting(destination.id, 1):
                actions += due(destination.id, first.next_attempt_at, self.shards)
        condition = compiled(protocol.to_change(before, destination))

        def write() -> None:
            with transaction() as writes:
                writes.save(QueueItem(DIRECTORY, destination.id))
                writes.update(QueueItem(destination.id, HEAD), actions, condition=condition)

        try:
            retried(TRIES, write)
        except ConflictError:
            return False
        return True

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
        """Become the one sender: raise the epoch, set the lease, name the rows in the air.

        `lost` are rows that an earlier claimer left in the air, as they are now (charged, maybe dead): they are stored
        in the same write. The mailbox comes back as it is under the claim: its destination may have changed since
        `head` was read. Raises ConflictError when another claimed, or rows arrived, or what is to be sent is dead: an
        outbox that was left behind brings again what became of it. A claim that the SDK repeats because its answer was
        lost is recognised by its token.
        """
        token = secrets.token_hex(8)
        guard = protocol.to_claim(head, now)
        claim = protocol.claimed(head, ids, lease_until=lease_until, suspects=suspects, deaths=protocol.died(lost))
        actions = under_claim(head, claim, token)
        try:
            if lost:
                write_rows(self.shards, head.destination, kept=lost, head_actions=actions, guard=guard)
                return claim
            item = update(QueueItem(head.destination.id, HEAD), actions, compiled(guard))
        except ConflictError:
            found = find(QueueItem, head.destination.id, HEAD, consistent=True)
            if found is None or found.claimer != token:
                raise
            item = found
        claim = head_of(item)
        if item.dead and not head.waiting:
            self._refuse_dead(claim, now)
        return claim

    def _refuse_dead(self, claim: Head, now: EpochMs) -> None:
        """Give a claim back that would send dead letters. Costs reads where there are any, for what is no row yet."""
        if Standing.DEAD in self._standings(claim.destination.id, claim.in_flight).values():
            self.release(claim, Settlement(failures=claim.failures, gate_until=claim.gate_until), now=now)
            raise ConflictError("a dead letter is not sent again by its outbox")

    def release(self, claim: Head, settlement: Settlement, *, now: EpochMs) -> None:
        """Give up the mailbox after a message that has no stored rows; a claim that was lost changes nothing.

        What was queued meanwhile by another is acknowledged if it was delivered: rows arrived, or the lease is over.
        """
        actions = after(claim, settlement, now)

        def give_up(guard: Guard) -> bool:
            try:
                update(QueueItem(claim.destination.id, HEAD), actions, compiled(guard))
            except ConflictError:
                return False
            return True

        if give_up(protocol.to_release(claim, waiting=claim.waiting)) and claim.leased(now):
            return
        self.acknowledge(claim.destination, settlement.done)
        give_up(protocol.to_release(claim))

    def record(
        self,
        claim: Head,
        settlement: Settlement,
        *,
        new: bool,
        next_row_at: EpochMs | None,
        now: EpochMs,
    ) -> bool:
        """Store what a send's outcome means and give up the mailbox, in one transaction.

        `new` says that the kept rows are not stored yet, `next_row_at` when the first of the other rows is due. Says
        whether the claim still held. If not: failures of rows are not recorded (someone else is at it), deliveries are
        acknowledged, and a message that is no row yet is queued, charged. What the far side said of a destination that
        was changed meanwhile says nothing about the new one.
        """
        ids = frozenset(row.id for row in settlement.kept)
        waiting, done, absent = claim.waiting, () if new else settlement.done, ids if new else frozenset()
        for tried in range(TRIES):
            end = protocol.finish(
                claim,
                settlement,
                done=done,
                absent=absent,
                waiting=waiting,
                next_row_at=next_row_at,
                now=now,
                again=tried > 0,
                hurry=tried == TRIES - 1,
            )
            actions = after(claim, settlement, now) + due(claim.destination.id, end.due_at, self.shards)
            if end.arriving:
                actions.append(QueueItem.waiting.add(end.arriving))
            try:
                write_rows(
                    self.shards,
                    claim.destination,
                    done=done,
                    kept=settlement.kept,
                    absent=absent,
                    head_actions=actions,
                    guard=end.guard,
                )
            except ConflictError:
                # what another acknowledged, or queued, between our read and our write
                there = self._standings(claim.destination.id, (*done, *ids))
                head = self.head(claim.destination.id)
                done = tuple(id_ for id_ in done if id_ in there)
                absent = ids - there.keys() if new else frozenset()
                # what was queued while it was sent is charged here, unless that was done as it was queued
                ours = ids.intersection(head.in_flight if new and head else there)
                waits = {id_ for id_ in ours if there.get(id_) is Standing.WAITING}
                kept = tuple(row for row in settlement.kept if row.id in absent or row.id in waits)
                settlement = replace(settlement, kept=kept)
                if head is None or head.epoch != claim.epoch:
                    self.acknowledge(claim.destination, settlement.done)
                    rows = tuple(protocol.returned(row) for row in kept if row.id in absent)
                    self.enqueue(claim.destination, rows, now=now)
                    return False
                waiting = head.waiting
                if head.revision != claim.revision:
                    claim = replace(claim, destination=head.destination, revision=head.revision, unknown=head.unknown)
                    settlement = replace(settlement, address=None, disabled=None)
            else:
                return True
        raise ConflictError("a mailbox changed under its claim, again and again")

    def _standings(self, destination: DestinationId, ids: Iterable[NotificationId]) -> dict[str, Standing]:
        found = find_all(QueueItem, ((destination, id_) for id_ in ids))
        return {item.id: Standing.WAITING if item.died_at is None else Standing.DEAD for item in found}

    def acknowledge(self, destination: Destination, ids: Iterable[NotificationId]) -> None:
        """Remove delivered rows, waiting or dead, whoever holds the mailbox: a success is accepted from any epoch."""
        for id_ in ids:
            for _ in range(TRIES):
                row = self.row(destination.id, id_)
                if row is None:
                    break
                dead = row.died is not None
                actions: list[Action] = [] if dead else [QueueItem.waiting.add(-1)]
                guard = protocol.to_acknowledge()
                try:
                    write_rows(self.shards, destination, done=(id_,), dead_done=dead, head_actions=actions, guard=guard)
                except ConflictError:
                    continue  # acknowledged by another, dead or redriven since it was read
                break

    def enqueue(
        self,
        destination: Destination,
        rows: tuple[Row, ...],
        *,
        now: EpochMs,
        charged: Callable[[Row], Row] = lambda row: row,
    ) -> int:
        """Store rows that can't be sent now, without a claim; a row that is there already stays as it is.

        `charged` makes of a row that a dead sender left in the air what is stored of it. Returns how many were new.
        """
        stored = 0
        for chunk in batched(rows, CHUNK, strict=False):
            stored += self._enqueue_chunk(destination, chunk, now, charged)
        return stored

    def _enqueue_chunk(
        self, destination: Destination, rows: tuple[Row, ...], now: EpochMs, charged: Callable[[Row], Row]
    ) -> int:
        for _ in range(TRIES):
            there = self.known(destination.id, (row.id for row in rows))
            fresh = tuple(row for row in rows if row.id not in there)
            if not fresh:
                return 0
            head = self.head(destination.id)
            if head is None:
                raise ConflictError(f"there is no destination {destination.id}")
            arrival = protocol.arrive(head, fresh, charge=charged, now=now)
            actions: list[Action] = []
            if arrival.arriving:
                actions = [QueueItem.waiting.add(arrival.arriving)]
                actions += due(destination.id, arrival.due_at, self.shards)
            for ids, attribute in ((head.in_flight, QueueItem.in_flight), (head.suspects, QueueItem.suspects)):
                if noticed := arrival.charged.intersection(ids):
                    actions.append(attribute.delete(set(noticed)))
            try:
                write_rows(
                    self.shards,
                    head.destination,
                    kept=arrival.kept,
                    absent=frozenset(row.id for row in arrival.kept),
                    head_actions=actions,
                    guard=arrival.guard,
                )
            except ConflictError:
                continue
            return len(fresh)
        raise ConflictError("rows of the same ids arrive again and again")

    def cancel(self, destination: Destination, rows: Iterable[Row]) -> int:
        """Remove waiting rows that nobody wants any more. Returns how many were removed."""
        cancelled = 0
        for row in rows:
            try:
                write_rows(self.shards, destination, done=(row.id,), head_actions=[QueueItem.waiting.add(-1)])
                cancelled += 1
            except ConflictError:
                continue  # delivered or dead meanwhile
        return cancelled

    def redrive(self, destination: Destination, rows: Iterable[Row], *, now: EpochMs) -> int:
        """Bring dead letters back to their place, with all their attempts.

        Returns how many were still dead, and had not lived and died again since they were read.
        """
        letters = [(row, row.died) for row in rows if row.died is not None]
        died = {row.id: at for row, at in letters}
        fresh = [
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
            for row, _ in letters
        ]
        return sum(self._revive(destination, chunk, died, now) for chunk in batched(fresh, CHUNK, strict=False))

    def _revive(
        self, destination: Destination, rows: tuple[Row, ...], died: Mapping[NotificationId, EpochMs], now: EpochMs
    ) -> int:
        head = self.head(destination.id)
        due_at = max(now, head.gate_until) if head else now
        actions = [QueueItem.waiting.add(len(rows)), *due(destination.id, due_at, self.shards)]
        try:
            write_rows(self.shards, destination, kept=rows, revived=died, head_actions=actions)
        except ConflictError:  # one of them was delivered or redriven meanwhile
            return sum(self._revive(destination, (row,), died, now) for row in rows) if len(rows) > 1 else 0
        return len(rows)
