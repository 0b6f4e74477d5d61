"""Dead letters: listed in parts, shown whole, discarded; every count stays exact."""

import logging
from collections import Counter

import pytest

from lago.dead_letters import Selection
from lago.domain.dead_letter import EVERY, Wanted, letter_id, place
from lago.domain.event import OperatorAlert, Trial
from lago.domain.ids import DestinationId, EpochMs
from lago.domain.mailbox import Attempt, dead
from lago.errors import BadInputError, NotFoundError
from lago.store.dead_letters import READ_AT_ONCE
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import QueueItem
from lago.store.queue_reads import Counts
from tests.builders import ME, NOW, a_destination, a_live_event, a_row, an_event
from tests.fakes.sending import MINUTE
from tests.store.letters import a_letter, ads, buried, pages, the_office


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
    alert = a_letter("", event=OperatorAlert(key="k", text="look here", found=NOW), died=NOW - 1)
    trial = a_letter("", event=Trial(key="k", found=NOW), died=NOW - 2)
    office = the_office(buried(a_letter("1", died=NOW + 1), live, alert, trial))

    exported = list(office.export(EVERY))

    assert [letter.kind for letter in exported] == ["new_ad", "watch_live", "operator_alert", "test"]
    assert [letter.about for letter in exported[1:]] == ["rennrad", "look here", "a test message"]
    assert exported[1].event["watch"] == "w1"


def test_a_discarded_letter_is_gone_from_row_list_and_count_and_leaves_one_log_line(caplog):
    letter = a_letter("1")
    store = buried(letter, a_letter("2"))
    caplog.set_level(logging.INFO, logger="lago.store.dead_letters")

    done = the_office(store).discard(Selection(ids=(letter_id(letter),)), "sold long ago")

    assert (done.done, done.gone) == (1, [])
    assert pages(store, limit=10) == [["2"]]
    assert MailboxStore(1).counts() == {"telegram": Counts(0, 1)}
    (line,) = [record for record in caplog.records if record.message == "dead letter discarded"]
    assert (line.notification, line.reason, line.died_of) == (letter.id, "sold long ago", "message")


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
