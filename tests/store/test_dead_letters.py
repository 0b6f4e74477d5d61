"""Dead letters: listed, shown, brought back, discarded; nothing is told twice and every count stays exact."""

import logging
from collections import Counter

import pytest

from lago.dead_letters import AT_ONCE, DeadLetters, Selection
from lago.domain.dead_letter import EVERY, GENERATIONS, Wanted, letter_id, place, revived, spread
from lago.domain.event import Event
from lago.domain.ids import DestinationId, EpochMs
from lago.domain.mailbox import Attempt, Row, Settlement, dead
from lago.domain.outcome import OutcomeKind
from lago.errors import BadInputError, NotFoundError, StoreUnavailableError
from lago.store.dead_letters import READ_AT_ONCE, DeadLetterStore
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import QueueItem
from lago.store.queue_reads import Counts
from tests.builders import ME, NOW, a_destination, a_live_event, a_row, an_event
from tests.fakes.sending import MINUTE, FakeClock, Post, a_post, refused
from tests.store.test_delivery_paths import found, run_drain, run_notify, watching


def a_letter(
    ad: str, *, died: int = NOW, reason: str = "message", to: str = "me", event: Event | None = None, **more: object
) -> Row:
    return dead(a_row(event or an_event(ad), destination=to, **more), reason, EpochMs(died))


def buried(*letters: Row, shards: int = 1) -> DeadLetterStore:
    """The letters lie in their mailboxes."""
    mailboxes = MailboxStore(shards)
    for name in sorted({letter.notification.destination for letter in letters}):
        mailboxes.put_destination(a_destination(name))
        own = tuple(letter for letter in letters if letter.notification.destination == name)
        mailboxes.enqueue(a_destination(name), own, now=NOW)
    return DeadLetterStore(mailboxes)


def the_office(store: DeadLetterStore, now: int = NOW, jitter: float = 0.5) -> DeadLetters:
    return DeadLetters(store, clock=FakeClock(now), random=lambda: jitter)


def ads(rows) -> list[str]:
    return [row.notification.event.ad for row in rows]


def pages(store: DeadLetterStore, wanted: Wanted = EVERY, *, limit: int) -> list[list[str]]:
    """The ads of all parts of the list."""
    parts, after = [], None
    while True:
        part = store.part(wanted, limit=limit, after=after)
        parts.append(ads(part.rows))
        after = part.after
        if after is None:
            return parts


# listed


def test_the_newest_come_first_and_a_part_goes_on_where_the_last_one_ended():
    store = buried(*(a_letter(str(n), died=NOW + n) for n in range(1, 6)))

    assert pages(store, limit=2) == [["5", "4"], ["3", "2"], ["1"]]
    assert pages(store, limit=5) == [["5", "4", "3", "2", "1"]]


def test_shards_are_merged_into_one_list():
    letters = [a_letter(str(n), died=NOW + n % 7, to=f"chat{n % 5}") for n in range(40)]
    store = buried(*letters, shards=4)

    listed = [ad for part in pages(store, limit=3) for ad in part]

    assert listed == ads(sorted(letters, key=lambda letter: place(letter).order))


def test_what_died_in_one_moment_is_listed_once_however_the_parts_are_cut():
    letters = [a_letter(str(n)) for n in range(60)]
    store = buried(*letters)

    for limit in (1, 7, 59, 60):
        listed = [ad for part in pages(store, limit=limit) for ad in part]
        assert sorted(listed, key=int) == [str(n) for n in range(60)]


def test_a_list_goes_on_behind_a_letter_that_is_gone_and_below_one_that_is_new():
    store = buried(*(a_letter(str(n), died=NOW + n) for n in range(1, 5)))
    first = store.part(EVERY, limit=2)
    assert store.discard(a_destination(), first.rows[-1], "no use")
    buried(a_letter("9", died=NOW + 9))

    assert ads(store.part(EVERY, limit=2, after=first.after).rows) == ["2", "1"]


@pytest.mark.parametrize(
    ("wanted", "listed"),
    [
        (Wanted(destination=DestinationId("you")), ["3"]),
        (Wanted(kind="new_ad"), ["3", "2", "1"]),
        (Wanted(kind="watch_live"), []),
        (Wanted(reason="outage"), ["2"]),
        (Wanted(destination=ME, reason="outage"), ["2"]),
        (Wanted(since=EpochMs(NOW + 2)), ["3", "2"]),
        (Wanted(since=EpochMs(NOW + 4)), []),
    ],
)
def test_filters_narrow_the_list(wanted, listed):
    store = buried(
        a_letter("1", died=NOW + 1),
        a_letter("2", died=NOW + 2, reason="outage"),
        a_letter("3", died=NOW + 3, to="you"),
        shards=3,
    )

    assert pages(store, wanted, limit=10) == [listed]
    assert [ad for part in pages(store, wanted, limit=1) for ad in part] == listed


def test_a_filter_that_fits_few_of_many_makes_a_short_part_not_a_long_read(monkeypatch):
    monkeypatch.setattr("lago.store.dead_letters.EXAMINED", 10)
    letters = [a_letter(str(n), died=NOW + n, reason="outage" if n == 1 else "message") for n in range(25)]
    store = buried(*letters)

    assert pages(store, Wanted(reason="outage"), limit=5) == [[], [], ["1"]]


def test_the_list_reads_what_is_asked_for_not_what_has_died(monkeypatch):
    store = buried(*(a_letter(str(n), died=NOW + n) for n in range(90)))
    made: Counter[str] = Counter()
    build = QueueItem.from_raw_data

    def counted(data):
        made["items"] += 1
        return build(data)

    monkeypatch.setattr(QueueItem, "from_raw_data", counted)

    store.part(EVERY, limit=10)

    assert 10 <= made["items"] <= READ_AT_ONCE


def test_rows_that_wait_are_no_dead_letters():
    store = buried(a_letter("1"))
    waiting = a_row(an_event("2"))
    MailboxStore(1).enqueue(a_destination(), (waiting,), now=NOW)

    assert pages(store, limit=10) == [["1"]]
    assert store.get(ME, waiting.id) is None
    assert store.beginning(waiting.id[:6]) == []


def test_a_letter_is_found_by_the_beginning_of_its_id():
    letter = a_letter("1", to="you")
    store = buried(letter, a_letter("2"))

    assert store.beginning(letter.id[:6]) == [letter]
    assert store.beginning("zz") == []


# shown


def test_a_letter_is_shown_whole_with_its_history():
    tried = Attempt(EpochMs(NOW - MINUTE), "outage", "HTTP 500")
    letter = a_letter("1", reason="outage", attempts=6, history=(tried,))
    office = the_office(buried(letter))

    shown = office.show(letter_id(letter))

    assert (shown.destination, shown.kind, shown.reason, shown.attempts) == ("me", "new_ad", "outage", 6)
    assert [(each.outcome, each.said) for each in shown.history] == [("outage", "HTTP 500")]
    assert (shown.about, shown.said, shown.may_return) == ("Holzregal", "HTTP 500", True)
    assert shown.event["ad"] == "1"
    assert shown.died == "2026-11-18T11:06:40+00:00"


def test_what_is_no_letter_is_not_found_and_what_is_no_id_is_refused():
    letter = a_letter("1")
    office = the_office(buried(letter))

    with pytest.raises(NotFoundError):
        office.show(letter_id(a_letter("2")))
    for word in ("", "nonsense", "bWU", letter_id(letter) + "A", "WyJtZSIsImhlYWQiXQ", "W" * 10_000, "ä"):
        with pytest.raises(BadInputError, match="dead letter"):
            office.show(word)


def test_every_kind_of_letter_is_exported_whole():
    live = dead(a_row(a_live_event()), "expired", NOW)
    office = the_office(buried(a_letter("1", died=NOW + 1), live))

    exported = list(office.export(EVERY))

    assert [letter.kind for letter in exported] == ["new_ad", "watch_live"]
    assert exported[1].event["watch"] == "w1"


# brought back


def test_a_letter_that_is_brought_back_is_delivered_by_the_next_drain():
    post = a_post(refused(OutcomeKind.MESSAGE, "HTTP 400"))
    office = died_of_a_refusal(post)

    done = office.redrive(Selection())

    assert (done.done, done.refused, done.gone, done.cursor) == (1, [], [], None)
    assert run_drain(post).tally.delivered == 1
    assert post.channel.ads == [["910000001"], ["910000001"]]
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


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


# discarded


def test_a_discarded_letter_is_gone_from_row_list_and_count_and_leaves_one_log_line(caplog):
    letter = a_letter("1")
    store = buried(letter, a_letter("2"))
    caplog.set_level(logging.INFO, logger="lago.store.dead_letters")

    done = the_office(store).discard(Selection(ids=(letter_id(letter),)), "sold long ago")

    assert (done.done, done.gone) == (1, [])
    assert pages(store, limit=10) == [["2"]]
    assert MailboxStore(1).counts() == {"telegram": Counts(0, 1)}
    (line,) = caplog.records
    assert (line.id, line.reason, line.died_of) == (letter.id, "sold long ago", "message")


def test_what_was_brought_back_meanwhile_is_not_discarded():
    letter = a_letter("1")
    store = buried(letter)
    store.redrive([(letter, NOW)], now=NOW)

    assert not store.discard(a_destination(), letter, "no use")

    assert ads(MailboxStore(1).waiting(ME, 10)) == ["1"]
    assert MailboxStore(1).counts() == {"telegram": Counts(1, 0)}


def test_of_several_ids_those_that_are_no_letters_are_named():
    letter, other = a_letter("1"), a_letter("2")
    office = the_office(buried(letter))

    done = office.discard(Selection(ids=(letter_id(letter), letter_id(other))), "no use")

    assert (done.done, done.gone) == (1, [letter_id(other)])


def died_of_a_refusal(post: Post) -> DeadLetters:
    watching(post)
    found(an_event())
    assert run_notify(post).tally.dead == 1
    return DeadLetters(DeadLetterStore(post.mailboxes), clock=post.clock, random=lambda: 0.5)


def away(*_: object) -> None:
    raise StoreUnavailableError("away")
