"""What every notification queue must do for destinations, also when one changes under what waits for it."""

import pytest
from msgspec.structs import replace

from lago.domain.ids import EpochMs
from lago.domain.mailbox import Head, Settlement, dead
from lago.errors import ConflictError
from lago.ports import Counts
from tests.builders import ME, NOW, a_destination, a_row, an_event
from tests.contracts.mailboxes_base import MailboxesBase, claimed, due

BY_MAIL = replace(a_destination(), channel="email", address="me@example.org")
LATER = EpochMs(NOW + 3_600_000)


class MailboxesDestinationsContract(MailboxesBase):
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

    def test_an_empty_mailbox_takes_another_channel_and_counts_under_it(self) -> None:
        queue = self.a_queue()

        queue.put_destination(BY_MAIL)
        queue.enqueue(BY_MAIL, (a_row(),), now=NOW)

        counts = queue.counts()
        assert counts["email"] == Counts(1, 0)
        assert counts.get("telegram", Counts(0, 0)) == Counts(0, 0)

    def test_what_waits_keeps_the_channel_that_it_is_counted_under(self) -> None:
        queue = self.a_queue()
        queue.enqueue(a_destination(), (a_row(),), now=NOW)

        with pytest.raises(ConflictError, match="channel"):
            queue.put_destination(BY_MAIL)

        head = queue.head(ME)
        assert head is not None
        assert head.destination.channel == "telegram"
        assert queue.counts()["telegram"] == Counts(1, 0)

    def test_a_dead_letter_keeps_it_too(self) -> None:
        queue = self.a_queue()
        queue.enqueue(a_destination(), (dead(a_row(), "message", NOW),), now=NOW)

        with pytest.raises(ConflictError):
            queue.put_destination(BY_MAIL)

    def test_a_message_in_the_air_keeps_it_too(self) -> None:
        queue = self.a_queue()
        head = queue.head(ME)
        assert head is not None
        queue.claim(head, [a_row().id], now=NOW, lease_until=EpochMs(NOW + 60_000))

        with pytest.raises(ConflictError):
            queue.put_destination(BY_MAIL)

    def test_what_arrives_after_the_change_is_counted_under_the_new_channel_whatever_its_sender_read(self) -> None:
        queue = self.a_queue()
        queue.put_destination(BY_MAIL)

        queue.enqueue(a_destination(), (a_row(),), now=NOW)

        assert queue.counts()["email"] == Counts(1, 0)

    def test_a_verdict_about_the_old_address_says_nothing_about_the_new_one(self) -> None:
        queue = self.a_queue()
        queue.enqueue(a_destination(), (a_row(),), now=NOW)
        head = queue.head(ME)
        assert head is not None
        claim = queue.claim(head, [a_row().id], now=NOW, lease_until=EpochMs(NOW + 60_000))
        queue.put_destination(a_destination(address="77"))

        queue.record(
            claim, Settlement(kept=(a_row(),), disabled="blocked"), new=False, next_row_at=None, now=EpochMs(NOW + 1)
        )

        after = queue.head(ME)
        assert after is not None
        assert (after.destination.address, after.destination.disabled) == ("77", "")

    def test_a_change_is_made_to_what_is_there(self) -> None:
        queue = self.a_queue()

        changed = queue.change_destination(ME, lambda each: replace(each, quiet=(60, 120)))

        head = queue.head(ME)
        assert head is not None
        assert head.destination == changed == replace(a_destination(), quiet=(60, 120))

    def test_nothing_is_made_of_a_destination_that_is_gone(self) -> None:
        queue = self.make_queue()

        assert queue.change_destination(ME, lambda each: replace(each, disabled="gone")) is None
        assert queue.head(ME) is None

    def test_a_destination_that_works_again_gets_at_once_what_waits(self) -> None:
        queue = self.a_queue()
        queue.put_destination(replace(a_destination(), disabled="blocked"))
        queue.enqueue(a_destination(), (a_row(),), now=NOW)

        queue.change_destination(ME, lambda each: replace(each, disabled=""))

        assert [box.due_at for box in queue.due(0, NOW, 10)] == [NOW]

    def test_a_row_that_may_be_tried_later_makes_its_mailbox_due_later(self) -> None:
        queue = self.a_queue()

        queue.enqueue(a_destination(), (replace(a_row(), next_attempt_at=LATER),), now=NOW)

        assert list(queue.due(0, EpochMs(LATER - 1), 10)) == []
        assert [box.due_at for box in queue.due(0, LATER, 10)] == [LATER]

    def test_a_row_that_comes_after_it_and_is_due_now_makes_it_due_now(self) -> None:
        queue = self.a_queue()
        queue.enqueue(a_destination(), (replace(a_row(), next_attempt_at=LATER),), now=NOW)

        queue.enqueue(a_destination(), (a_row(an_event("2")),), now=NOW)

        assert [box.due_at for box in queue.due(0, NOW, 10)] == [NOW]
