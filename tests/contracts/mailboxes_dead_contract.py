"""What every notification queue must do with its dead letters."""

from lago.domain.ids import EpochMs
from lago.domain.mailbox import Attempt
from lago.ports import Counts
from tests.builders import ME, NOW, a_destination, a_row
from tests.contracts.mailboxes_base import LATER, YOU, MailboxesBase, died, due, rows_of


class MailboxesDeadContract(MailboxesBase):
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
