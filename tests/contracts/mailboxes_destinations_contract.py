"""What every notification queue must do when a destination changes under what waits for it."""

import pytest
from msgspec.structs import replace

from lago.domain.ids import EpochMs
from lago.domain.mailbox import Settlement, dead
from lago.errors import ConflictError
from lago.ports import Counts, Mailboxes
from tests.builders import ME, NOW, a_destination, a_row, an_event

BY_MAIL = replace(a_destination(), channel="email", address="me@example.org")
LATER = EpochMs(NOW + 3_600_000)


class MailboxesDestinationsContract:
    def make_queue(self, shards: int = 1) -> Mailboxes:
        """A fresh, empty queue, spread over that many shards."""
        raise NotImplementedError

    def a_queue(self) -> Mailboxes:
        queue = self.make_queue()
        queue.put_destination(a_destination())
        return queue

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
