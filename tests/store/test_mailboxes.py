import pytest

from lago.domain.backoff import ALERT
from lago.domain.ids import EpochMs
from lago.domain.mailbox import Settlement, dead, lost_in_the_air
from lago.errors import ConflictError
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import QueueItem
from lago.store.queue_reads import Counts
from tests.builders import ME, NOW, a_destination, a_row, an_event

LEASE = EpochMs(NOW + 60_000)


def a_queue() -> MailboxStore:
    queue = MailboxStore(shards=1)
    queue.put_destination(a_destination())
    return queue


def claimed(queue, *rows, now=NOW):
    head = queue.head(ME)
    return queue.claim(head, [row.id for row in rows], now=now, lease_until=EpochMs(now + 60_000))


def test_a_claim_raises_the_epoch_and_names_what_is_in_the_air():
    queue, row = a_queue(), a_row()

    claim = claimed(queue, row)

    head = queue.head(ME)
    assert head.epoch == claim.epoch == 1
    assert head.leased(NOW)
    assert head.in_flight == (row.id,)


def test_only_one_of_two_senders_that_read_the_same_head_wins():
    queue, row = a_queue(), a_row()
    head = queue.head(ME)
    queue.claim(head, [row.id], now=NOW, lease_until=LEASE)

    with pytest.raises(ConflictError):
        queue.claim(head, [row.id], now=NOW, lease_until=LEASE)


def test_nobody_claims_past_a_row_that_arrived_since_the_head_was_read():
    queue = a_queue()
    head = queue.head(ME)
    queue.enqueue(a_destination(), (a_row(),), now=NOW)

    with pytest.raises(ConflictError):
        queue.claim(head, [], now=NOW, lease_until=LEASE)


def test_enqueueing_the_same_row_twice_is_one_message_and_one_count():
    queue, row = a_queue(), a_row()

    assert queue.enqueue(a_destination(), (row,), now=NOW) == 1
    assert queue.enqueue(a_destination(), (row, a_row(an_event("2"))), now=NOW) == 1

    assert queue.head(ME).waiting == 2
    assert queue.counts() == {"telegram": Counts(2, 0)}
    assert {found.id for found in queue.waiting(ME, 10)} == {row.id, a_row(an_event("2")).id}


def test_a_mailbox_is_due_while_something_waits_and_only_then():
    queue, row = a_queue(), a_row()
    assert list(queue.due(0, NOW, 10)) == []
    queue.enqueue(a_destination(), (row,), now=NOW)
    assert [box.destination for box in queue.due(0, NOW, 10)] == [ME]

    claim = claimed(queue, row)
    queue.record(claim, Settlement(done=(row.id,)), new=False, next_row_at=None, now=NOW)

    assert list(queue.due(0, EpochMs(NOW + 10**9), 10)) == []
    assert queue.counts() == {"telegram": Counts(0, 0)}
    assert queue.head(ME).waiting == 0


def test_a_failure_keeps_the_row_and_the_mailbox_waits_for_its_gate():
    queue, row = a_queue(), a_row()
    claim = claimed(queue, row)
    gate = EpochMs(NOW + 60_000)

    queue.record(claim, Settlement(kept=(row,), failures=1, gate_until=gate), new=True, next_row_at=None, now=NOW)

    assert list(queue.due(0, EpochMs(gate - 1), 10)) == []
    assert [box.due_at for box in queue.due(0, gate, 10)] == [gate]
    head = queue.head(ME)
    assert (head.failures, head.waiting, head.lease_until, head.in_flight) == (1, 1, None, ())


def test_a_row_that_arrives_while_another_is_sent_is_due_afterwards():
    queue, first, second = a_queue(), a_row(), a_row(an_event("2"))
    queue.enqueue(a_destination(), (first,), now=NOW)
    claim = claimed(queue, first)
    queue.enqueue(a_destination(), (second,), now=NOW)

    assert queue.record(claim, Settlement(done=(first.id,)), new=False, next_row_at=None, now=NOW)

    assert queue.head(ME).waiting == 1
    assert [box.destination for box in queue.due(0, NOW, 10)] == [ME]
    assert queue.counts() == {"telegram": Counts(1, 0)}


def test_a_late_failure_from_a_lost_lease_is_not_recorded():
    queue, row = a_queue(), a_row()
    queue.enqueue(a_destination(), (row,), now=NOW)
    stale = claimed(queue, row)
    later = EpochMs(NOW + 61_000)
    claimed(queue, row, now=later)

    failed = dead(row, "message", later)
    assert not queue.record(stale, Settlement(kept=(failed,)), new=False, next_row_at=None, now=later)

    assert queue.row(ME, row.id).died is None
    assert queue.head(ME).leased(later)


def test_a_late_acknowledgement_from_a_lost_lease_is_accepted():
    queue, row = a_queue(), a_row()
    queue.enqueue(a_destination(), (row,), now=NOW)
    stale = claimed(queue, row)
    later = EpochMs(NOW + 61_000)
    claimed(queue, row, now=later)

    queue.record(stale, Settlement(done=(row.id,)), new=False, next_row_at=None, now=later)

    assert queue.row(ME, row.id) is None
    assert queue.counts() == {"telegram": Counts(0, 0)}
    assert queue.head(ME).leased(later), "the new claimer keeps its lease"


def test_a_late_acknowledgement_is_accepted_onto_a_dead_letter():
    queue, row = a_queue(), a_row()
    queue.enqueue(a_destination(), (row,), now=NOW)
    claim = claimed(queue, row)
    queue.record(claim, Settlement(kept=(dead(row, "outage", NOW),)), new=False, next_row_at=None, now=NOW)
    assert queue.counts() == {"telegram": Counts(0, 1)}

    queue.acknowledge(a_destination(), [row.id])

    assert queue.counts() == {"telegram": Counts(0, 0)}
    assert queue.row(ME, row.id) is None


def test_a_dead_letter_is_kept_listed_and_out_of_the_drains_way():
    queue, row = a_queue(), a_row()
    queue.enqueue(a_destination(), (row,), now=NOW)
    claim = claimed(queue, row)

    queue.record(claim, Settlement(kept=(dead(row, "message", NOW),)), new=False, next_row_at=None, now=NOW)

    assert queue.waiting(ME, 10) == []
    assert list(queue.due(0, EpochMs(NOW + 10**9), 10)) == []
    assert [letter.dead_reason for letter in queue.dead_letters(10)] == ["message"]


def test_a_redriven_dead_letter_waits_again_with_all_its_attempts():
    queue, row = a_queue(), a_row(attempts=5)
    queue.enqueue(a_destination(), (row,), now=NOW)
    claim = claimed(queue, row)
    letter = dead(row, "outage", NOW)
    queue.record(claim, Settlement(kept=(letter,)), new=False, next_row_at=None, now=NOW)

    assert queue.redrive(a_destination(), [letter], now=NOW) == 1
    assert queue.redrive(a_destination(), [letter], now=NOW) == 0

    (found,) = queue.waiting(ME, 10)
    assert (found.attempts, found.generation, found.died) == (0, 1, None)
    assert queue.counts() == {"telegram": Counts(1, 0)}


def test_rows_that_a_dead_sender_left_in_the_air_are_charged_with_the_claim_that_notices():
    queue, row = a_queue(), a_row()
    queue.enqueue(a_destination(), (row,), now=NOW)
    claimed(queue, row)
    later = EpochMs(NOW + 61_000)
    head = queue.head(ME)
    assert head.lost(later) == {row.id}

    queue.claim(head, (), now=later, lease_until=EpochMs(later + 60_000), lost=(lost_in_the_air(row, ALERT, later),))

    (found,) = queue.waiting(ME, 10)
    assert (found.lost, found.alone) == (1, True)
    assert queue.head(ME).in_flight == ()


def test_a_claim_whose_answer_was_lost_and_repeated_is_still_a_claim(monkeypatch):
    queue, row = a_queue(), a_row()
    head = queue.head(ME)
    apply = QueueItem.update

    def applied_twice(self, actions, condition=None):
        apply(self, actions, condition=condition)
        return apply(self, actions, condition=condition)

    monkeypatch.setattr(QueueItem, "update", applied_twice)

    claim = queue.claim(head, [row.id], now=NOW, lease_until=LEASE)

    assert claim.epoch == 1


def test_a_destination_that_moves_keeps_its_mailbox():
    queue, row = a_queue(), a_row()
    queue.enqueue(a_destination(), (row,), now=NOW)

    queue.put_destination(a_destination(address="-1002"))

    head = queue.head(ME)
    assert (head.destination.address, head.waiting) == ("-1002", 1)


def test_cancelled_rows_leave_no_count_behind():
    queue, row = a_queue(), a_row()
    queue.enqueue(a_destination(), (row,), now=NOW)

    assert queue.cancel(a_destination(), [row]) == 1
    assert queue.cancel(a_destination(), [row]) == 0

    assert queue.counts() == {"telegram": Counts(0, 0)}
    assert queue.head(ME).waiting == 0
