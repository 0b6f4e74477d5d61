"""What the exhaustive check of the protocol found, told to the real store; and that both mean the same by a guard."""

import pytest
from msgspec.structs import replace

from lago.domain.backoff import ALERT
from lago.domain.ids import EpochMs
from lago.domain.mailbox import Settlement, dead, lost_in_the_air
from lago.domain.protocol import Guard
from lago.errors import ConflictError
from lago.store.connection import update
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import HEAD, QueueItem
from lago.store.queue_writes import compiled
from tests.builders import ME, NOW, a_destination, a_row, an_event

LEASE = EpochMs(NOW + 60_000)
LATER = EpochMs(NOW + 61_000)


def a_queue(*rows) -> MailboxStore:
    queue = MailboxStore(shards=1)
    queue.put_destination(a_destination())
    queue.enqueue(a_destination(), rows, now=NOW)
    return queue


def failed(row):
    return replace(row, attempts=row.attempts + 1)


@pytest.mark.parametrize(
    "guard",
    [
        Guard(exists=True),
        Guard(epoch=0),
        Guard(epoch=1),
        Guard(epoch=2),
        Guard(free_at=NOW),
        Guard(free_at=LEASE),
        Guard(waiting=0),
        Guard(waiting=1),
        Guard(in_the_air=frozenset({a_row().id})),
        Guard(in_the_air=frozenset({a_row(an_event("2")).id})),
        Guard(revision=0),
        Guard(revision=1),
        Guard(due_from=NOW),
        Guard(due_from=EpochMs(NOW + 1)),
        Guard(epoch=1, free_at=LEASE, waiting=1, in_the_air=frozenset({a_row().id})),
        Guard(epoch=1, free_at=LEASE, waiting=2, in_the_air=frozenset({a_row().id})),
    ],
    ids=str,
)
@pytest.mark.parametrize("claimed", [False, True])
def test_the_database_holds_what_the_guard_says(guard: Guard, claimed: bool):
    queue = a_queue(a_row())
    if claimed:
        queue.claim(queue.head(ME), [a_row().id], now=NOW, lease_until=LEASE)

    try:
        update(QueueItem(ME, HEAD), [QueueItem.failures.set(0)], compiled(guard))
        held = True
    except ConflictError:
        held = False

    assert held is guard.holds(queue.head(ME))


def test_a_failure_recorded_late_is_not_charged_again_by_who_read_the_mailbox_before():
    row = a_row()
    queue = a_queue(row)
    claim = queue.claim(queue.head(ME), [row.id], now=NOW, lease_until=LEASE)
    before = queue.head(ME)
    kept = Settlement(kept=(failed(row),), failures=1)
    assert queue.record(claim, kept, new=False, next_row_at=None, now=LATER)

    lost = (lost_in_the_air(failed(row), ALERT, LATER),)
    with pytest.raises(ConflictError):
        queue.claim(before, [], now=LATER, lease_until=EpochMs(LATER + 60_000), lost=lost)

    assert [(each.attempts, each.lost) for each in queue.waiting(ME, 5)] == [(1, 0)]


def test_a_success_from_the_outbox_that_comes_late_clears_the_dead_letter():
    row = a_row()
    queue = a_queue()
    claim = queue.claim(queue.head(ME), [row.id], now=NOW, lease_until=LEASE)
    queue.enqueue(a_destination(), (row,), now=LATER, charged=lambda each: lost_in_the_air(each, ALERT, LATER))
    other = queue.claim(queue.head(ME), [row.id], now=LATER, lease_until=EpochMs(LATER + 60_000))
    died = Settlement(kept=(dead(row, "outage", LATER),))
    queue.record(other, died, new=False, next_row_at=None, now=LATER)

    queue.release(claim, Settlement(done=(row.id,), delivered=1), now=LATER)

    assert queue.dead(ME) == []
    assert queue.counts()["telegram"] == (0, 0)


def test_a_message_that_another_queued_while_it_was_sent_is_done_when_it_was_delivered():
    row = a_row()
    queue = a_queue()
    claim = queue.claim(queue.head(ME), [row.id], now=NOW, lease_until=LEASE)
    queue.enqueue(a_destination(), (row,), now=NOW)

    queue.release(claim, Settlement(done=(row.id,), delivered=1), now=NOW)

    assert queue.waiting(ME, 5) == []
    assert (queue.head(ME).waiting, queue.head(ME).lease_until) == (0, None)


def test_a_message_that_another_queued_while_it_was_sent_is_charged_when_it_failed():
    row = a_row()
    queue = a_queue()
    claim = queue.claim(queue.head(ME), [row.id], now=NOW, lease_until=LEASE)
    queue.enqueue(a_destination(), (row,), now=NOW)

    kept = Settlement(kept=(failed(row),), failures=1)
    assert queue.record(claim, kept, new=True, next_row_at=None, now=NOW)

    assert [(each.attempts, each.lost) for each in queue.waiting(ME, 5)] == [(1, 0)]
    assert queue.head(ME).waiting == 1


def test_a_failure_under_a_lost_claim_of_what_is_no_row_yet_is_queued_charged():
    row, other = a_row(), a_row(an_event("2"))
    queue = a_queue(other)
    claim = queue.claim(queue.head(ME), [row.id], now=NOW, lease_until=LEASE)
    suspects = queue.head(ME).suspects_beside([other.id], LATER)
    queue.claim(queue.head(ME), [other.id], now=LATER, lease_until=EpochMs(LATER + 60_000), suspects=suspects)

    kept = Settlement(kept=(dead(failed(row), "outage", LATER),), failures=1)
    assert not queue.record(claim, kept, new=True, next_row_at=None, now=LATER)

    assert (queue.row(ME, row.id).attempts, queue.row(ME, row.id).died) == (1, None)
    assert queue.head(ME).suspects == ()


def test_an_outbox_that_was_left_behind_does_not_send_its_dead_letter_again():
    row, other = a_row(), a_row(an_event("2"))
    queue = a_queue()
    claim = queue.claim(queue.head(ME), [row.id], now=NOW, lease_until=LEASE)
    queue.record(claim, Settlement(kept=(dead(row, "message", NOW),)), new=True, next_row_at=None, now=NOW)

    with pytest.raises(ConflictError):
        queue.claim(queue.head(ME), [row.id], now=NOW, lease_until=LEASE)

    assert queue.head(ME).lease_until is None
    assert queue.claim(queue.head(ME), [other.id], now=NOW, lease_until=LEASE).in_flight == (other.id,)
