"""What an outcome means to a club of several kinds, and to a far side that says nothing."""

import pytest

from lago.domain.backoff import ALERT, PATIENT
from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.mailbox import Head, Row, Settlement, lost_in_the_air, settle
from lago.domain.outcome import Outcome, OutcomeKind
from tests.builders import NOW, a_destination, a_row, an_event
from tests.fakes.sending import refused

DROP = an_event("2", kind="price_drop", old_price=20_000)
LAST = {"attempts": ALERT.attempts - 1}


def settled(outcome: Outcome, *rows: Row) -> Settlement:
    """Price drops are retried patiently here, and not sent again when no answer came."""
    return settle(
        Head(destination=a_destination()),
        rows,
        outcome,
        policy=lambda row: PATIENT if row.notification.kind == "price_drop" else ALERT,
        resend=lambda row: row.notification.kind != "price_drop" or row.attempts < ALERT.attempts,
        spacing=Milliseconds(0),
        now=NOW,
        random=lambda: 0.5,
    )


@pytest.mark.parametrize("first", [0, 1])
def test_each_of_a_club_has_the_attempts_of_its_own_kind(first: int):
    rows = (a_row(**LAST), a_row(DROP, attempts=ALERT.attempts - 2))

    kept = settled(refused(OutcomeKind.AMBIGUOUS), *(rows if first else rows[::-1])).kept

    assert {row.notification.kind: row.dead_reason for row in kept} == {"new_ad": "ambiguous", "price_drop": None}


def test_only_what_must_not_come_twice_is_dead_of_a_club_that_got_no_answer():
    rows = (a_row(), a_row(DROP, attempts=ALERT.attempts))

    kept = settled(refused(OutcomeKind.AMBIGUOUS), *rows).kept

    assert {row.notification.kind: row.dead_reason for row in kept} == {"new_ad": None, "price_drop": "ambiguous"}


def test_a_destination_that_refuses_without_a_word_is_disabled_all_the_same():
    assert settled(refused(OutcomeKind.DESTINATION, ""), a_row()).disabled


def test_what_was_said_last_is_kept_whole_and_what_was_said_before_in_short():
    row = a_row()
    for n in range(12):
        (row,) = settled(refused(OutcomeKind.GATE, f"{n} " + "🎁" * 124), row).kept

    assert [len(each.reason.encode()) <= 120 and each.reason.endswith("🎁…") for each in row.history[:-1]] == [True] * 9
    assert row.history[-1].reason == "11 " + "🎁" * 124
    assert len(lost_in_the_air(row, ALERT, EpochMs(NOW)).history) == 10
