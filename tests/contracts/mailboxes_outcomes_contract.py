"""What every notification queue must do with a send's outcome, whatever happened to rows and claim meanwhile."""

import pytest
from msgspec.structs import replace

from lago.domain.backoff import ALERT
from lago.domain.ids import EpochMs
from lago.domain.mailbox import Settlement, dead, lost_in_the_air
from lago.errors import ConflictError
from lago.ports import Counts
from tests.builders import ME, NOW, a_destination, a_row, an_event
from tests.contracts.mailboxes_base import FOREVER, LATER, MailboxesBase, claimed, died, due


class MailboxesOutcomesContract(MailboxesBase):
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
