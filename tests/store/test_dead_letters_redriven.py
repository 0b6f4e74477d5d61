"""Dead letters brought back: at a rate, a few times, and nothing is told twice."""

import pytest

from lago.dead_letters import AT_ONCE, Selection
from lago.domain.dead_letter import EVERY, GENERATIONS, Wanted, letter_id, revived, spread
from lago.domain.ids import EpochMs
from lago.domain.mailbox import Settlement
from lago.domain.outcome import OutcomeKind
from lago.errors import BadInputError, NotFoundError, StoreUnavailableError
from lago.store.dead_letters import DeadLetterStore
from lago.store.mailboxes import MailboxStore
from lago.store.queue_reads import Counts
from tests.builders import ME, NOW, a_destination, an_event
from tests.fakes.sending import MINUTE, a_post, refused
from tests.store.letters import a_letter, ads, buried, died_of_a_refusal, the_office
from tests.store.steps import found, run_drain, run_notify, watching


def test_a_letter_that_is_brought_back_is_delivered_by_the_next_drain():
    post = a_post(refused(OutcomeKind.MESSAGE, "HTTP 400"))
    office = died_of_a_refusal(post)

    done = office.redrive(Selection())

    assert (done.done, done.refused, done.gone, done.cursor) == (1, [], [], None)
    assert run_drain(post).tally.delivered == 1
    assert post.channel.ads == [["910000001"], ["910000001"]]
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_a_letter_redriven_days_later_is_sent_not_expired():
    post = a_post(refused(OutcomeKind.MESSAGE))
    watching(post)
    found(an_event())
    run_notify(post)
    post.clock.now += 3 * 24 * 60 * MINUTE

    post.mailboxes.redrive(a_destination(), post.mailboxes.dead_letters(10), now=post.clock())
    run_drain(post)

    assert len(post.channel.sent) == 2
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_letters_redriven_together_keep_their_order():
    post = a_post(*[refused(OutcomeKind.MESSAGE)] * 3)
    watching(post)
    found(*(an_event(str(n)) for n in range(1, 4)))
    run_notify(post)
    post.clock.now += MINUTE

    assert post.mailboxes.redrive(a_destination(), post.mailboxes.dead(ME), now=post.clock()) == 3
    run_drain(post)

    assert post.channel.ads[3:] == [["1"], ["2"], ["3"]]


def test_what_was_delivered_is_never_told_again_by_a_redrive():
    post = a_post()
    watching(post)
    post.deliveries.log(ME, [an_event()], NOW)
    store = buried(a_letter("910000001", reason="ambiguous"))

    assert the_office(store, post.clock()).redrive(Selection()).done == 1
    assert run_drain(post).tally.silent == 1

    assert post.channel.sent == []
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}
    assert post.mailboxes.head(ME).waiting == 0


def test_a_letter_whose_delivery_was_acknowledged_late_is_gone_when_it_is_brought_back():
    letter = a_letter("1")
    store = buried(letter, a_letter("2"))
    stale = store.part(EVERY, limit=10).rows
    MailboxStore(1).acknowledge(a_destination(), [letter.id])

    alive = store.redrive([(row, NOW) for row in stale], now=NOW)

    assert alive == {a_letter("2").id}
    assert MailboxStore(1).counts() == {"telegram": Counts(1, 0)}
    assert MailboxStore(1).head(ME).waiting == 1


def test_a_letter_that_died_again_since_it_was_listed_is_not_brought_back_as_it_was():
    post = a_post(refused(OutcomeKind.MESSAGE, "HTTP 400"), refused(OutcomeKind.MESSAGE, "HTTP 403"))
    office = died_of_a_refusal(post)
    store = DeadLetterStore(post.mailboxes)
    stale = store.part(EVERY, limit=10).rows
    office.redrive(Selection())
    post.clock.now += MINUTE
    run_drain(post)

    alive = store.redrive([(row, post.clock()) for row in stale], now=post.clock())

    (letter,) = post.mailboxes.dead(ME)
    assert (alive, letter.generation, letter.history[-1].reason) == (set(), 1, "HTTP 403")
    assert post.mailboxes.counts() == {"telegram": Counts(0, 1)}
    assert office.redrive(Selection()).done == 1


def test_a_letter_is_brought_back_three_times_and_then_refused_by_name():
    post = a_post(*[refused(OutcomeKind.MESSAGE, "HTTP 400")] * (GENERATIONS + 1))
    office = died_of_a_refusal(post)
    for _ in range(GENERATIONS):
        assert office.redrive(Selection()).done == 1
        assert run_drain(post).tally.dead == 1

    (letter,) = post.mailboxes.dead(ME)
    for selection in (Selection(ids=(letter_id(letter),)), Selection()):
        done = office.redrive(selection)
        assert (done.done, [each.id for each in done.refused]) == (0, [letter_id(letter)])
        assert "3" in done.refused[0].reason
    assert (letter.generation, len(letter.history)) == (3, 4)
    assert run_drain(post).tally.delivered == 0


def test_letters_come_back_at_the_rate_that_was_asked_for_the_oldest_first():
    letters = [a_letter(str(n), died=NOW + n) for n in range(1, 7)]
    store = buried(*letters)

    done = the_office(store, NOW + MINUTE).redrive(Selection(), per_minute=2)

    waiting = MailboxStore(1).waiting(ME, 10)
    assert ads(waiting) == ["1", "2", "3", "4", "5", "6"]
    assert [row.next_attempt_at - NOW for row in waiting] == [MINUTE + n * MINUTE // 2 for n in range(6)]
    assert done.until == "2026-11-18T11:10:10+00:00"


def test_each_is_moved_a_little_so_that_they_do_not_come_in_step():
    early, late = spread(NOW, 60, lambda: 0.0), spread(NOW, 60, lambda: 1.0)

    assert [next(early) - NOW for _ in range(3)] == [0, 900, 1_900]
    assert [next(late) - NOW for _ in range(3)] == [100, 1_100, 2_100]


def test_what_is_brought_back_over_days_does_not_expire_before_its_turn():
    far = EpochMs(NOW + 3 * 24 * 60 * MINUTE)

    assert revived(a_letter("1"), far).created == far


def test_what_waits_for_its_turn_is_not_sent_before_and_is_sent_then():
    post = a_post()
    watching(post)
    store = buried(*(a_letter(str(n), died=NOW + n) for n in (1, 2)))
    the_office(store).redrive(Selection(), per_minute=1)

    run_drain(post)
    assert post.channel.ads == [["1"]]

    post.clock.now += MINUTE
    run_drain(post)
    assert post.channel.ads == [["1"], ["2"]]


def test_a_redrive_of_more_than_a_request_takes_goes_on_at_its_rate():
    store = buried(*(a_letter(str(n), died=NOW + n) for n in range(AT_ONCE + 20)))
    office = the_office(store)

    first = office.redrive(Selection(), per_minute=60)
    second = office.redrive(Selection(cursor=first.cursor), per_minute=60)

    assert (first.done, second.done, second.cursor) == (AT_ONCE, 20, None)
    times = [row.next_attempt_at for row in MailboxStore(1).waiting(ME, 500)]
    assert times == [NOW + n * 1_000 for n in range(AT_ONCE + 20)]


def test_what_dies_again_meanwhile_is_not_brought_back_by_the_same_redrive():
    store = buried(*(a_letter(str(n), died=NOW + n) for n in range(AT_ONCE + 1)))
    office = the_office(store)
    first = office.redrive(Selection())
    again = a_letter("999", died=NOW + 10_000, generation=1)
    buried(again)

    assert office.redrive(Selection(cursor=first.cursor)).done == 1
    assert [row.id for row in store.part(EVERY, limit=10).rows] == [again.id]


def test_by_filter_only_what_fits_comes_back():
    store = buried(a_letter("1"), a_letter("2", reason="outage"), a_letter("3", to="you"))

    assert the_office(store).redrive(Selection(wanted=Wanted(destination=ME, reason="outage"))).done == 1

    assert ads(MailboxStore(1).waiting(ME, 10)) == ["2"]
    assert MailboxStore(1).counts() == {"telegram": Counts(1, 2)}


def test_a_redrive_that_is_asked_for_twice_brings_each_letter_back_once():
    letter = a_letter("1")
    store = buried(letter)
    office = the_office(store)

    assert office.redrive(Selection(ids=(letter_id(letter), letter_id(letter)))).done == 1
    with pytest.raises(NotFoundError):
        office.redrive(Selection(ids=(letter_id(letter),)))

    assert MailboxStore(1).counts() == {"telegram": Counts(1, 0)}


def test_a_redrive_that_dies_halfway_is_finished_by_asking_again(monkeypatch):
    store = buried(*(a_letter(str(n), to=f"chat{n}") for n in range(4)))
    office = the_office(store)
    heads = iter([store._queue.head] * 2)

    def head_while_alive(name):
        answer = next(heads, away)
        return answer(name)

    with monkeypatch.context() as dying:
        dying.setattr(store._queue, "head", head_while_alive)
        with pytest.raises(StoreUnavailableError):
            office.redrive(Selection())
    assert MailboxStore(1).counts() == {"telegram": Counts(2, 2)}

    assert office.redrive(Selection()).done == 2

    assert MailboxStore(1).counts() == {"telegram": Counts(4, 0)}
    assert {row.generation for n in range(4) for row in MailboxStore(1).waiting(f"chat{n}", 10)} == {1}


def test_a_redrive_does_not_open_a_gate():
    post = a_post()
    watching(post)
    store = buried(a_letter("1"))
    gate = EpochMs(NOW + 10 * MINUTE)
    head = post.mailboxes.head(ME)
    claim = post.mailboxes.claim(head, [], now=NOW, lease_until=EpochMs(NOW + MINUTE))
    post.mailboxes.release(claim, Settlement(gate_until=gate), now=NOW)

    the_office(store).redrive(Selection())

    assert [box.due_at for box in post.mailboxes.due(0, gate, 10)] == [gate]


@pytest.mark.parametrize(
    "word", ["", "x", "WyJtZSJd", "WzEsIm1lIiwiYSIsOTk5OTk5OTk5OTk5OTldeA", "WzEsIm1lIiwiYSIsMWU0MF0", "A" * 5_000]
)
def test_a_cursor_that_was_made_up_is_refused(word):
    office = the_office(buried(a_letter("1")))

    with pytest.raises(BadInputError, match="cursor"):
        office.part(EVERY, limit=1, after=word)
    with pytest.raises(BadInputError, match="cursor"):
        office.redrive(Selection(cursor=word))


def away(*_: object) -> None:
    raise StoreUnavailableError("away")
