"""What every notification queue must do, the in-memory fake and DynamoDB on every engine alike.

Subclass and implement `make_queue` (a fresh, empty queue). `mailboxes_races_contract` is for stores that threads share.
"""

import pytest
from msgspec.structs import replace

from lago.domain.backoff import ALERT
from lago.domain.ids import DestinationId, EpochMs
from lago.domain.mailbox import Attempt, Head, Row, Settlement, dead, lost_in_the_air
from lago.errors import ConflictError
from lago.ports import Counts, Mailboxes
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


class MailboxesContract:
    def make_queue(self, shards: int = 1) -> Mailboxes:
        """A fresh, empty queue, spread over that many shards."""
        raise NotImplementedError

    def a_queue(self, *rows: Row) -> Mailboxes:
        """A queue with one destination, in which these rows wait."""
        queue = self.make_queue()
        queue.put_destination(a_destination())
        queue.enqueue(a_destination(), rows, now=NOW)
        return queue

    # destinations

    def test_a_destination_that_was_never_put_has_no_mailbox(self) -> None:
        queue = self.make_queue()

        assert queue.head(ME) is None
        assert (queue.waiting(ME, 10), queue.dead(ME), queue.row(ME, a_row().id)) == ([], [], None)
        assert (queue.destinations(), queue.counts(), due(queue)) == ([], {}, [])

    def test_nothing_is_queued_for_a_destination_that_is_not_there(self) -> None:
        queue = self.make_queue()

        with pytest.raises(ConflictError):
            queue.enqueue(a_destination(), (a_row(),), now=NOW)

        assert queue.row(ME, a_row().id) is None
        assert queue.counts() == {}

    def test_a_new_mailbox_is_empty_free_and_listed(self) -> None:
        queue = self.a_queue()

        assert queue.head(ME) == Head(destination=a_destination(), revision=1)
        assert queue.destinations() == [ME]

    def test_a_destination_that_moves_keeps_its_mailbox(self) -> None:
        queue = self.a_queue(a_row())

        queue.put_destination(a_destination(address="-1002"))

        head = queue.head(ME)
        assert (head.destination.address, head.waiting) == ("-1002", 1)
        assert queue.destinations() == [ME]

    def test_a_destination_that_works_again_is_due_at_once(self) -> None:
        row = a_row()
        queue = self.a_queue(row)
        blocked = Settlement(kept=(row,), disabled="blocked", gate_until=LATER)
        queue.record(claimed(queue, row), blocked, new=False, next_row_at=None, now=NOW)
        assert queue.head(ME).destination.disabled == "blocked"
        assert due(queue, NOW) == []

        queue.put_destination(a_destination())

        assert due(queue, NOW) == [ME]
        assert queue.head(ME).gate_until == 0

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

    # what a send's outcome leaves

    def test_a_failure_keeps_the_row_and_the_mailbox_waits_for_its_gate(self) -> None:
        queue, row = self.a_queue(), a_row()
        gate = EpochMs(NOW + 60_000)

        failed = Settlement(kept=(row,), failures=1, gate_until=gate)
        queue.record(claimed(queue, row), failed, new=True, next_row_at=None, now=NOW)

        assert due(queue, EpochMs(gate - 1)) == []
        assert [box.due_at for box in queue.due(0, gate, 10)] == [gate]
        head = queue.head(ME)
        assert (head.failures, head.waiting, head.lease_until, head.in_flight) == (1, 1, None, ())

    def test_a_new_row_that_another_queued_meanwhile_is_one_message(self) -> None:
        queue, row = self.a_queue(), a_row()
        claim = claimed(queue, row)
        queue.enqueue(a_destination(), (row,), now=NOW)

        assert queue.record(claim, Settlement(kept=(row,), failures=1), new=True, next_row_at=None, now=NOW)

        assert queue.counts() == {"telegram": Counts(1, 0)}
        assert (queue.head(ME).waiting, queue.head(ME).failures) == (1, 1)
        assert due(queue, NOW) == [ME]

    def test_a_row_that_was_cancelled_while_it_was_sent_does_not_come_back(self) -> None:
        first, second = a_row(), a_row(an_event("2"))
        queue = self.a_queue(first, second)
        claim = claimed(queue, first)
        queue.cancel(a_destination(), [first])

        failed = Settlement(kept=(replace(first, attempts=1),), failures=1)
        assert queue.record(claim, failed, new=False, next_row_at=NOW, now=NOW)

        assert [row.id for row in queue.waiting(ME, 10)] == [second.id]
        assert (queue.head(ME).waiting, queue.counts()) == (1, {"telegram": Counts(1, 0)})

    def test_a_delivery_without_a_row_leaves_a_free_mailbox_and_is_counted_by_the_hour(self) -> None:
        queue, row = self.a_queue(), a_row()
        claim = claimed(queue, row)

        queue.release(claim, Settlement(delivered=1, gate_until=EpochMs(NOW + 1_000)), now=NOW)

        head = queue.head(ME)
        assert (head.lease_until, head.in_flight, head.gate_until) == (None, (), NOW + 1_000)
        assert sum(head.delivered.values()) == 1
        assert (queue.counts(), due(queue)) == ({}, [])

    def test_a_claim_that_was_lost_releases_nothing(self) -> None:
        queue, row = self.a_queue(), a_row()
        stale = claimed(queue, row)
        claimed(queue, row, now=LATER)

        queue.release(stale, Settlement(failures=5, delivered=1), now=LATER)

        head = queue.head(ME)
        assert head.leased(LATER)
        assert (head.failures, head.delivered) == (0, {})

    def test_a_late_failure_from_a_lost_lease_is_not_recorded(self) -> None:
        row = a_row()
        queue = self.a_queue(row)
        stale = claimed(queue, row)
        claimed(queue, row, now=LATER)

        failed = Settlement(kept=(dead(row, "message", LATER),))
        assert not queue.record(stale, failed, new=False, next_row_at=None, now=LATER)

        assert queue.row(ME, row.id).died is None
        assert queue.head(ME).leased(LATER)

    def test_a_late_acknowledgement_from_a_lost_lease_is_accepted(self) -> None:
        row = a_row()
        queue = self.a_queue(row)
        stale = claimed(queue, row)
        claimed(queue, row, now=LATER)

        queue.record(stale, Settlement(done=(row.id,)), new=False, next_row_at=None, now=LATER)

        assert queue.row(ME, row.id) is None
        assert queue.counts() == {"telegram": Counts(0, 0)}
        assert queue.head(ME).leased(LATER), "the new claimer keeps its lease"

    def test_a_late_acknowledgement_is_accepted_onto_a_dead_letter(self) -> None:
        row = a_row()
        queue = self.a_queue(row)
        stale = claimed(queue, row)
        died(queue, row, now=LATER)
        assert queue.counts() == {"telegram": Counts(0, 1)}

        assert not queue.record(stale, Settlement(done=(row.id,)), new=False, next_row_at=None, now=LATER)

        assert queue.counts() == {"telegram": Counts(0, 0)}
        assert queue.row(ME, row.id) is None

    def test_an_acknowledgement_counts_once_and_one_of_the_unknown_not_at_all(self) -> None:
        row = a_row()
        queue = self.a_queue(row)

        for _ in range(2):
            queue.acknowledge(a_destination(), [row.id, a_row(an_event("never seen")).id])

        assert queue.counts() == {"telegram": Counts(0, 0)}
        assert queue.head(ME).waiting == 0

    def test_a_chat_that_moved_and_one_that_is_blocked_are_remembered(self) -> None:
        row = a_row()
        queue = self.a_queue(row)

        moved = Settlement(kept=(row,), address="-100200")
        queue.record(claimed(queue, row), moved, new=False, next_row_at=None, now=NOW)
        assert queue.head(ME).destination == a_destination(address="-100200")

        blocked = Settlement(kept=(row,), disabled="blocked")
        queue.record(claimed(queue, row), blocked, new=False, next_row_at=None, now=NOW)
        assert queue.head(ME).destination == replace(a_destination(address="-100200"), disabled="blocked")

    @pytest.mark.parametrize("verdict", [{"disabled": "blocked"}, {"address": "-100200"}], ids=["blocked", "moved"])
    def test_what_is_said_of_the_old_address_leaves_a_new_one_alone(self, verdict: dict[str, str]) -> None:
        row = a_row()
        queue = self.a_queue(row)
        claim = claimed(queue, row)
        queue.put_destination(a_destination(address="77"))

        assert queue.record(claim, Settlement(kept=(row,), **verdict), new=False, next_row_at=None, now=NOW)

        assert queue.head(ME).destination == a_destination(address="77")
        assert queue.head(ME).lease_until is None

    # what is no row yet, and what others do to it meanwhile

    def test_a_dead_letter_is_not_claimed_by_the_outbox_that_still_holds_it(self) -> None:
        row = a_row()
        queue = self.a_queue(row)
        died(queue, row)

        with pytest.raises(ConflictError):
            claimed(queue, row)

        assert queue.head(ME).lease_until is None
        assert claimed(queue, a_row(an_event("2"))).in_flight == (a_row(an_event("2")).id,)

    def test_what_was_queued_while_it_was_sent_is_charged_when_it_fails(self) -> None:
        queue, row = self.a_queue(), a_row()
        claim = claimed(queue, row)
        queue.enqueue(a_destination(), (row,), now=NOW)

        failed = Settlement(kept=(replace(row, attempts=1),), failures=1)
        assert queue.record(claim, failed, new=True, next_row_at=None, now=NOW)

        assert [found.attempts for found in queue.waiting(ME, 10)] == [1]
        assert (queue.head(ME).waiting, queue.counts()) == (1, {"telegram": Counts(1, 0)})

    def test_what_was_queued_while_it_was_sent_is_gone_when_it_was_delivered(self) -> None:
        queue, row = self.a_queue(), a_row()
        claim = claimed(queue, row)
        queue.enqueue(a_destination(), (row,), now=NOW)

        queue.release(claim, Settlement(done=(row.id,), delivered=1), now=NOW)

        head = queue.head(ME)
        assert (head.waiting, head.lease_until, sum(head.delivered.values())) == (0, None, 1)
        assert queue.counts() == {"telegram": Counts(0, 0)}

    def test_a_late_delivery_of_what_was_queued_meanwhile_is_accepted_from_a_lost_claim(self) -> None:
        queue, row = self.a_queue(), a_row()
        stale = claimed(queue, row)
        queue.enqueue(a_destination(), (row,), now=LATER)
        claimed(queue, row, now=LATER)

        queue.release(stale, Settlement(done=(row.id,), delivered=1), now=LATER)

        assert queue.row(ME, row.id) is None
        assert queue.head(ME).leased(LATER)
        assert queue.counts() == {"telegram": Counts(0, 0)}

    @pytest.mark.parametrize("reason", [None, "message"], ids=["that failed", "that was refused"])
    def test_a_message_that_failed_under_a_lost_claim_is_queued_charged_and_alive(self, reason: str | None) -> None:
        queue, row = self.a_queue(), a_row()
        stale = claimed(queue, row)
        claimed(queue, a_row(an_event("2")), now=LATER)

        failed = replace(row, attempts=1) if reason is None else dead(row, "message", LATER)
        assert not queue.record(stale, Settlement(kept=(failed,)), new=True, next_row_at=None, now=LATER)

        assert [(found.attempts, found.died) for found in queue.waiting(ME, 10)] == [(1, None)]
        assert queue.counts() == {"telegram": Counts(1, 0)}
        assert queue.head(ME).leased(LATER)

    def test_nobody_claims_over_what_was_charged_since_the_head_was_read(self) -> None:
        queue, row = self.a_queue(), a_row()
        claimed(queue, row)
        head = queue.head(ME)
        queue.enqueue(a_destination(), (row,), now=LATER, charged=lambda row: lost_in_the_air(row, ALERT, LATER))
        queue.cancel(a_destination(), [row])

        with pytest.raises(ConflictError):
            queue.claim(head, (), now=LATER, lease_until=FOREVER)

    # dead letters

    def test_a_dead_letter_is_kept_listed_and_out_of_the_drains_way(self) -> None:
        row = a_row(history=(Attempt(NOW, "outage", "HTTP 500"),))
        queue = self.a_queue(row)

        letter = died(queue, row)

        assert queue.waiting(ME, 10) == []
        assert due(queue) == []
        assert queue.dead_letters(10) == queue.dead(ME) == [letter]

    def test_the_newest_dead_letters_come_first_and_no_more_than_asked_for(self) -> None:
        rows = rows_of(4)
        queue = self.a_queue(*rows)
        for n, row in enumerate(rows):
            died(queue, row, now=EpochMs(NOW + n))

        assert [letter.id for letter in queue.dead_letters(3)] == [row.id for row in rows[:0:-1]]

    def test_a_destination_has_its_own_dead_letters(self) -> None:
        row = a_row()
        queue = self.a_queue(row)
        queue.put_destination(a_destination("you"))
        died(queue, row)

        assert queue.dead(YOU) == []

    def test_a_redriven_dead_letter_waits_again_with_all_its_attempts(self) -> None:
        row = a_row(attempts=5, lost=1)
        queue = self.a_queue(row)
        letter = died(queue, row)

        assert queue.redrive(a_destination(), [letter], now=LATER) == 1
        assert queue.redrive(a_destination(), [letter], now=LATER) == 0

        (found,) = queue.waiting(ME, 10)
        assert (found.attempts, found.lost, found.generation, found.died) == (0, 0, 1, None)
        assert (found.created, found.next_attempt_at) == (LATER, NOW), "of use from now on, in its old place"
        assert queue.counts() == {"telegram": Counts(1, 0)}
        assert due(queue, LATER) == [ME]

    def test_of_letters_redriven_together_one_that_was_delivered_meanwhile_stays_delivered(self) -> None:
        first, second = rows_of(2)
        queue = self.a_queue(first, second)
        letters = [died(queue, row) for row in (first, second)]
        queue.acknowledge(a_destination(), [first.id])

        assert queue.redrive(a_destination(), letters, now=NOW) == 1

        assert [row.id for row in queue.waiting(ME, 10)] == [second.id]
        assert queue.counts() == {"telegram": Counts(1, 0)}

    def test_a_letter_that_died_again_since_it_was_read_is_not_brought_back_as_it_was(self) -> None:
        first, second = rows_of(2)
        queue = self.a_queue(first, second)
        stale, other = (died(queue, row) for row in (first, second))
        queue.redrive(a_destination(), [stale], now=NOW)
        (living,) = queue.waiting(ME, 10)
        again = died(queue, living, now=LATER)

        assert queue.redrive(a_destination(), [stale, other], now=LATER) == 1

        assert [row.id for row in queue.waiting(ME, 10)] == [second.id]
        assert queue.dead(ME) == [again]
        assert queue.counts() == {"telegram": Counts(1, 1)}
        assert queue.redrive(a_destination(), [again], now=LATER) == 1

    def test_what_waits_is_not_redriven(self) -> None:
        row = a_row(attempts=3)
        queue = self.a_queue(row)

        assert queue.redrive(a_destination(), [row], now=LATER) == 0

        assert queue.waiting(ME, 10) == [row]
        assert queue.counts() == {"telegram": Counts(1, 0)}
