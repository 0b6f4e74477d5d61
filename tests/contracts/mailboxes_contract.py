"""What every notification queue must do: claims, what waits, and when it is due. In memory and on every engine."""

import pytest

from lago.domain.backoff import ALERT
from lago.domain.ids import EpochMs
from lago.domain.mailbox import Attempt, Settlement, dead, lost_in_the_air
from lago.errors import ConflictError
from lago.ports import Counts
from tests.builders import ME, NOW, a_destination, a_row, an_event
from tests.contracts.mailboxes_base import FOREVER, LATER, LEASE, MailboxesBase, claimed, died, due, rows_of


class MailboxesContract(MailboxesBase):
    # claims

    def test_a_claim_raises_the_epoch_and_names_what_is_in_the_air(self) -> None:
        queue, row = self.a_queue(), a_row()

        claim = claimed(queue, row)

        head = queue.head(ME)
        assert head.epoch == claim.epoch == 1
        assert head.leased(NOW)
        assert head.in_flight == (row.id,)

    def test_only_one_of_two_senders_that_read_the_same_head_wins(self) -> None:
        queue, row = self.a_queue(), a_row()
        head = queue.head(ME)
        queue.claim(head, [row.id], now=NOW, lease_until=LEASE)

        with pytest.raises(ConflictError):
            queue.claim(head, [row.id], now=NOW, lease_until=LEASE)
        with pytest.raises(ConflictError):  # even when the lease is over by now: the head is an old one
            queue.claim(head, [row.id], now=LATER, lease_until=FOREVER)

    def test_a_mailbox_is_not_claimed_while_another_holds_it_and_is_when_its_lease_is_over(self) -> None:
        queue, row = self.a_queue(), a_row()
        claimed(queue, row)

        with pytest.raises(ConflictError):
            claimed(queue, row, now=EpochMs(LEASE - 1))

        assert claimed(queue, row, now=LEASE).epoch == 2

    def test_nobody_claims_past_a_row_that_arrived_since_the_head_was_read(self) -> None:
        queue = self.a_queue()
        head = queue.head(ME)
        queue.enqueue(a_destination(), (a_row(),), now=NOW)

        with pytest.raises(ConflictError):
            queue.claim(head, [], now=NOW, lease_until=LEASE)

    def test_a_claim_brings_the_destination_as_it_is_by_then(self) -> None:
        queue = self.a_queue()
        head = queue.head(ME)
        queue.put_destination(a_destination(address="77"))

        assert queue.claim(head, (), now=NOW, lease_until=LEASE).destination.address == "77"

    def test_rows_that_a_dead_sender_left_in_the_air_are_charged_with_the_claim_that_notices(self) -> None:
        row = a_row()
        queue = self.a_queue(row)
        claimed(queue, row)
        head = queue.head(ME)
        assert head.lost(LATER) == {row.id}

        queue.claim(head, (), now=LATER, lease_until=FOREVER, lost=(lost_in_the_air(row, ALERT, LATER),))

        (found,) = queue.waiting(ME, 10)
        assert (found.lost, found.alone) == (1, True)
        assert queue.head(ME).in_flight == ()

    def test_a_row_that_was_lost_for_the_last_time_dies_with_the_claim_that_notices(self) -> None:
        row = a_row(attempts=ALERT.attempts - 1)
        queue = self.a_queue(row, a_row(an_event("2")))
        claimed(queue, row)

        charged = (lost_in_the_air(row, ALERT, LATER),)
        claim = queue.claim(queue.head(ME), (), now=LATER, lease_until=FOREVER, lost=charged)

        assert claim.waiting == queue.head(ME).waiting == 1
        assert queue.counts() == {"telegram": Counts(1, 1)}
        assert [letter.dead_reason for letter in queue.dead(ME)] == ["crash"]

    def test_what_was_in_the_air_is_not_charged_when_it_was_acknowledged_meanwhile(self) -> None:
        row = a_row()
        queue = self.a_queue(row, a_row(an_event("2")))
        claimed(queue, row)
        head = queue.head(ME)
        queue.acknowledge(a_destination(), [row.id])

        with pytest.raises(ConflictError):
            queue.claim(head, (), now=LATER, lease_until=FOREVER, lost=(lost_in_the_air(row, ALERT, LATER),))

        assert queue.row(ME, row.id) is None
        assert queue.head(ME).waiting == 1

    def test_a_suspect_is_remembered_from_claim_to_claim(self) -> None:
        queue, row = self.a_queue(), a_row()
        claimed(queue, row)
        head = queue.head(ME)

        claim = queue.claim(head, (), now=LATER, lease_until=FOREVER, suspects=head.lost(LATER))
        queue.release(claim, Settlement(), now=LATER)

        assert queue.head(ME).suspects == (row.id,)
        assert queue.head(ME).lost(LATER) == {row.id}

    # what waits

    def test_rows_come_back_whole_and_in_the_order_of_their_time(self) -> None:
        history = (Attempt(NOW, "outage", "HTTP 500"),)
        late = a_row(an_event("1"), created=NOW + 1, attempts=2, lost=1, alone=True, history=history, generation=1)
        early = a_row(an_event("2", title="Rennrad <alt> & gut 🚲"))
        queue = self.a_queue(late, early)

        assert queue.waiting(ME, 10) == [early, late]
        assert queue.waiting(ME, 1) == [early]
        assert queue.row(ME, late.id) == late

    def test_enqueueing_the_same_row_twice_is_one_message_and_one_count(self) -> None:
        queue, row = self.a_queue(), a_row()

        assert queue.enqueue(a_destination(), (row,), now=NOW) == 1
        assert queue.enqueue(a_destination(), (row, a_row(an_event("2"))), now=NOW) == 1
        assert queue.enqueue(a_destination(), (row,), now=NOW) == 0

        assert queue.head(ME).waiting == 2
        assert queue.counts() == {"telegram": Counts(2, 0)}
        assert {found.id for found in queue.waiting(ME, 10)} == {row.id, a_row(an_event("2")).id}

    def test_a_row_that_waits_stays_as_it_is_when_its_news_comes_again(self) -> None:
        queue = self.a_queue(a_row(attempts=3))

        queue.enqueue(a_destination(), (a_row(),), now=NOW)

        assert [row.attempts for row in queue.waiting(ME, 10)] == [3]

    def test_a_dead_letter_stays_dead_when_its_news_comes_again(self) -> None:
        row = a_row()
        queue = self.a_queue(row)
        died(queue, row)

        assert queue.enqueue(a_destination(), (row,), now=NOW) == 0

        assert queue.counts() == {"telegram": Counts(0, 1)}
        assert due(queue) == []

    def test_a_full_outbox_is_queued_cancelled_or_brought_back_at_once(self) -> None:
        rows = rows_of(100)
        queue = self.a_queue(*rows)
        assert queue.counts() == {"telegram": Counts(100, 0)}
        assert queue.waiting(ME, 1_000) == list(rows)

        for start in range(0, 90, 6):
            letters = tuple(dead(row, "expired", NOW) for row in rows[start : start + 6])
            queue.record(claimed(queue), Settlement(kept=letters), new=False, next_row_at=None, now=NOW)
        assert queue.counts() == {"telegram": Counts(10, 90)}

        assert queue.redrive(a_destination(), queue.dead(ME), now=NOW) == 90
        assert queue.cancel(a_destination(), rows) == 100
        assert queue.counts() == {"telegram": Counts(0, 0)}

    def test_what_a_dead_sender_left_in_the_air_is_charged_when_it_is_queued(self) -> None:
        queue, first, second = self.a_queue(), a_row(), a_row(an_event("2"))
        claimed(queue, first)
        rows = (first, second)

        queue.enqueue(a_destination(), rows, now=LATER, charged=lambda row: lost_in_the_air(row, ALERT, LATER))

        assert {row.id: row.lost for row in queue.waiting(ME, 10)} == {first.id: 1, second.id: 0}
        assert queue.head(ME).lost(LATER) == frozenset()

    def test_what_is_in_the_air_now_is_queued_uncharged(self) -> None:
        queue, row = self.a_queue(), a_row()
        claimed(queue, row)

        queue.enqueue(a_destination(), (row,), now=NOW, charged=lambda row: lost_in_the_air(row, ALERT, NOW))

        assert [found.lost for found in queue.waiting(ME, 10)] == [0]
        assert queue.head(ME).in_flight == (row.id,)

    def test_what_is_charged_for_the_last_time_is_dead_when_it_is_queued_and_nothing_waits(self) -> None:
        queue, row = self.a_queue(), a_row(attempts=ALERT.attempts - 1)
        claimed(queue, row)

        queue.enqueue(a_destination(), (row,), now=LATER, charged=lambda row: lost_in_the_air(row, ALERT, LATER))

        assert queue.counts() == {"telegram": Counts(0, 1)}
        assert (queue.head(ME).waiting, due(queue)) == (0, [])

    def test_cancelled_rows_leave_no_count_behind(self) -> None:
        row = a_row()
        queue = self.a_queue(row)

        assert queue.cancel(a_destination(), [row]) == 1
        assert queue.cancel(a_destination(), [row]) == 0

        assert queue.counts() == {"telegram": Counts(0, 0)}
        assert queue.head(ME).waiting == 0

    def test_a_dead_letter_is_not_cancelled(self) -> None:
        row = a_row()
        queue = self.a_queue(row)
        died(queue, row)

        assert queue.cancel(a_destination(), [row]) == 0

        assert queue.counts() == {"telegram": Counts(0, 1)}

    # when it is due

    def test_a_mailbox_is_due_while_something_waits_and_only_then(self) -> None:
        queue, row = self.a_queue(), a_row()
        assert due(queue) == []
        queue.enqueue(a_destination(), (row,), now=NOW)
        assert due(queue, NOW) == [ME]
        assert due(queue, EpochMs(NOW - 1)) == []

        queue.record(claimed(queue, row), Settlement(done=(row.id,)), new=False, next_row_at=None, now=NOW)

        assert due(queue) == []
        assert queue.counts() == {"telegram": Counts(0, 0)}
        assert queue.head(ME).waiting == 0

    def test_the_longest_overdue_come_first_and_no_more_than_asked_for(self) -> None:
        queue = self.make_queue()
        for n in (2, 0, 3, 1):
            queue.put_destination(a_destination(f"d{n}"))
            row = a_row(destination=f"d{n}")
            queue.enqueue(a_destination(f"d{n}"), (row,), now=EpochMs(NOW + n))

        found = list(queue.due(0, EpochMs(NOW + 2), 2))

        assert [(box.destination, box.due_at) for box in found] == [("d0", NOW), ("d1", NOW + 1)]
        assert len(list(queue.due(0, EpochMs(NOW + 2), 10))) == 3

    def test_every_mailbox_is_due_in_one_shard_of_several(self) -> None:
        queue = self.make_queue(shards=4)
        names = [f"d{n}" for n in range(20)]
        for name in names:
            queue.put_destination(a_destination(name))
            queue.enqueue(a_destination(name), (a_row(destination=name),), now=NOW)

        by_shard = [[box.destination for box in queue.due(shard, NOW, 100)] for shard in range(4)]

        assert sorted(name for shard in by_shard for name in shard) == sorted(names)
        assert all(by_shard)
        assert queue.counts() == {"telegram": Counts(20, 0)}

    def test_a_row_that_arrives_behind_a_gate_is_due_when_it_opens(self) -> None:
        queue, row = self.a_queue(), a_row()
        queue.release(claimed(queue, row), Settlement(gate_until=LATER), now=NOW)

        queue.enqueue(a_destination(), (row,), now=NOW)

        assert queue.head(ME).due_at == LATER

    def test_a_row_that_arrives_does_not_put_off_what_is_due_earlier(self) -> None:
        queue = self.a_queue(a_row())

        queue.enqueue(a_destination(), (a_row(an_event("2")),), now=LATER)

        assert queue.head(ME).due_at == NOW

    def test_a_row_that_arrives_while_another_is_sent_is_due_afterwards(self) -> None:
        first, second = a_row(), a_row(an_event("2"))
        queue = self.a_queue(first)
        claim = claimed(queue, first)
        queue.enqueue(a_destination(), (second,), now=NOW)

        assert queue.record(claim, Settlement(done=(first.id,)), new=False, next_row_at=None, now=NOW)

        assert queue.head(ME).waiting == 1
        assert due(queue, NOW) == [ME]
        assert queue.counts() == {"telegram": Counts(1, 0)}

    def test_a_mailbox_is_due_when_the_first_of_the_others_is(self) -> None:
        first, second = a_row(), a_row(an_event("2"), created=LATER)
        queue = self.a_queue(first, second)

        queue.record(claimed(queue, first), Settlement(done=(first.id,)), new=False, next_row_at=LATER, now=NOW)

        assert queue.head(ME).due_at == LATER
