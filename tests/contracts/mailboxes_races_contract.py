"""What every notification queue must do for several workers at once.

moto is left out: its writes are not atomic between threads.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

from lago.domain.ids import EpochMs, NotificationId
from lago.domain.mailbox import Head, Settlement
from lago.errors import ConflictError
from lago.ports import Counts, Mailboxes
from tests.builders import ME, NOW, a_destination, a_row, an_event
from tests.contracts.mailboxes_base import FOREVER, MailboxesBase, due, rows_of

WORKERS = 4


def at_once[T](work: Callable[[int], T], workers: int = WORKERS) -> list[T]:
    """What the workers, who start together, come back with."""
    start = Barrier(workers)

    def begin(worker: int) -> T:
        start.wait()
        return work(worker)

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(begin, range(workers)))


class MailboxesRacesContract(MailboxesBase):
    def test_of_senders_that_claim_at_once_one_wins(self) -> None:
        queue, row = self.a_queue(), a_row()

        for round_ in range(5):
            now, head = EpochMs(NOW + round_), queue.head(ME)
            won = at_once(partial(claim_or_none, queue, head, row.id, now))

            (claim,) = [claim for claim in won if claim is not None]
            assert claim.epoch == queue.head(ME).epoch == round_ + 1
            queue.release(claim, Settlement(), now=now)

    def test_the_same_rows_queued_at_once_are_one_message_each(self) -> None:
        queue, rows = self.a_queue(), rows_of(10)

        stored = at_once(lambda _: queue.enqueue(a_destination(), rows, now=NOW))

        assert sum(stored) == 10
        assert queue.waiting(ME, 100) == list(rows)
        assert (queue.head(ME).waiting, queue.counts()) == (10, {"telegram": Counts(10, 0)})

    def test_a_row_acknowledged_or_cancelled_at_once_is_counted_once(self) -> None:
        queue, rows = self.a_queue(), rows_of(10)
        queue.enqueue(a_destination(), rows, now=NOW)

        def finish(worker: int) -> None:
            if worker % 2:
                queue.cancel(a_destination(), rows)
            else:
                queue.acknowledge(a_destination(), [row.id for row in rows])

        at_once(finish)

        assert (queue.head(ME).waiting, queue.counts()) == (0, {"telegram": Counts(0, 0)})

    def test_what_arrives_while_a_sender_settles_again_and_again_is_counted_and_due(self) -> None:
        queue = self.a_queue()
        queue.enqueue(a_destination(), (a_row(an_event("first")),), now=NOW)

        def work(worker: int) -> int:
            if worker:
                rows = [a_row(an_event(f"{worker}-{n}")) for n in range(5)]
                return sum(queue.enqueue(a_destination(), (row,), now=NOW) for row in rows)
            return -sum(settle_one(queue) for _ in range(8))

        left = 1 + sum(at_once(work))

        assert len(queue.waiting(ME, 100)) == queue.head(ME).waiting == left
        assert queue.counts() == {"telegram": Counts(left, 0)}
        assert due(queue, FOREVER) == [ME]

    def test_mailboxes_of_one_shard_share_a_counter_that_stays_exact(self) -> None:
        queue = self.make_queue()
        for worker in range(WORKERS):
            queue.put_destination(a_destination(f"d{worker}"))

        def work(worker: int) -> None:
            destination = a_destination(f"d{worker}")
            rows = tuple(a_row(an_event(str(n)), destination=destination.id) for n in range(6))
            for row in rows:
                queue.enqueue(destination, (row,), now=NOW)
            queue.cancel(destination, rows[:2])

        at_once(work)

        assert queue.counts() == {"telegram": Counts(4 * WORKERS, 0)}


def claim_or_none(queue: Mailboxes, head: Head, row: NotificationId, now: EpochMs, _worker: int = 0) -> Head | None:
    try:
        return queue.claim(head, [row], now=now, lease_until=EpochMs(now + 60_000))
    except ConflictError:
        return None


def settle_one(queue: Mailboxes) -> int:
    """Claim and settle the first row; 0 when another row arrived in between, or none waits."""
    head = queue.head(ME)
    rows = queue.waiting(ME, 2)
    if not rows:
        return 0
    claim = claim_or_none(queue, head, rows[0].id, NOW)
    if claim is None:
        return 0
    following = rows[1].next_attempt_at if len(rows) > 1 else None
    settlement = Settlement(done=(rows[0].id,))
    return int(queue.record(claim, settlement, new=False, next_row_at=following, now=NOW))
