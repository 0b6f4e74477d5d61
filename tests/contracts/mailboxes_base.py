"""What the contracts of the notification queue share: a queue to begin with, and what is done to it.

Every store subclasses each contract and implements `make_queue`; `mailboxes_races_contract` is for stores that threads
share.
"""

from lago.domain.ids import DestinationId, EpochMs
from lago.domain.mailbox import Head, Row, Settlement, dead
from lago.ports import Mailboxes
from tests.builders import ME, NOW, a_destination, a_row, an_event

YOU = DestinationId("you")
LEASE = EpochMs(NOW + 60_000)
LATER = EpochMs(NOW + 61_000)
"""When a lease that was taken now is over."""
FOREVER = EpochMs(NOW + 10**12)


def rows_of(count: int) -> tuple[Row, ...]:
    """Rows in the order of their time."""
    return tuple(a_row(an_event(str(n)), created=NOW - count + n) for n in range(count))


def claimed(queue: Mailboxes, *rows: Row, now: EpochMs = NOW) -> Head:
    head = queue.head(ME)
    assert head is not None
    return queue.claim(head, [row.id for row in rows], now=now, lease_until=EpochMs(now + 60_000))


def died(queue: Mailboxes, row: Row, *, now: EpochMs = NOW) -> Row:
    """The row is sent and dies of it."""
    letter = dead(row, "outage", now)
    queue.record(claimed(queue, row, now=now), Settlement(kept=(letter,)), new=False, next_row_at=None, now=now)
    return letter


def due(queue: Mailboxes, now: EpochMs = FOREVER) -> list[DestinationId]:
    return [box.destination for shard in range(queue.shards) for box in queue.due(shard, now, 1_000)]


class MailboxesBase:
    def make_queue(self, shards: int = 1) -> Mailboxes:
        """A fresh, empty queue, spread over that many shards."""
        raise NotImplementedError

    def a_queue(self, *rows: Row) -> Mailboxes:
        """A queue with one destination, in which these rows wait."""
        queue = self.make_queue()
        queue.put_destination(a_destination())
        queue.enqueue(a_destination(), rows, now=NOW)
        return queue
