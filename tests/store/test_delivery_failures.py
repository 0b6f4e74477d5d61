"""What the far side may answer instead of taking a message, and what becomes of the message then."""

import pytest

from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.watch import Filters
from lago.store.queue_reads import Counts
from tests.builders import ME, NOW, a_destination, a_search_id, a_watch, an_event
from tests.fakes.sending import MINUTE, FakeSecrets, WorkerKilledError, a_post, gate, outage, refused
from tests.store.steps import due, found, run_drain, run_notify, watching


def test_a_refused_send_is_retried_a_minute_later_and_arrives():
    post = a_post(outage())
    watching(post)
    found(an_event())
    report = run_notify(post)
    assert (report.tally.queued, report.cleared) == (1, True)
    assert post.mailboxes.counts() == {"telegram": Counts(1, 0)}

    post.clock.now += MINUTE - 4_000
    run_drain(post)
    assert len(post.channel.sent) == 1, "not before its time"
    post.clock.now += 4_000
    run_drain(post)

    assert post.channel.ads == [["910000001"], ["910000001"]]
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_six_attempts_one_two_four_eight_and_sixteen_minutes_apart_then_dead():
    post = a_post(*[outage()] * 6)
    watching(post)
    found(an_event())
    tried = []
    post.channel.before_send = lambda _: tried.append((post.clock.now - NOW) // MINUTE)

    run_notify(post)
    for _ in range(40):
        post.clock.now += MINUTE
        run_drain(post)

    assert tried == [0, 1, 3, 7, 15, 31]
    assert post.mailboxes.counts() == {"telegram": Counts(0, 1)}
    (letter,) = post.mailboxes.dead_letters(10)
    assert letter.dead_reason == "outage"
    assert [attempt.kind for attempt in letter.history] == ["outage"] * 6


def test_what_died_of_an_outage_comes_back_once_when_the_destination_answers_again():
    post = a_post(*[outage()] * 6)
    watching(post)
    found(an_event("1"))
    run_notify(post)
    for _ in range(32):
        post.clock.now += MINUTE
        run_drain(post)
    assert post.mailboxes.counts() == {"telegram": Counts(0, 1)}

    found(an_event("2", found=post.clock.now))
    run_notify(post)
    for _ in range(20):
        post.clock.now += MINUTE
        run_drain(post)

    assert post.channel.ads[6:] == [["2"], ["1"]]
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_after_an_outage_one_message_probes_and_only_it_is_charged():
    post = a_post(outage(), outage())
    watching(post)
    found(*(an_event(str(n)) for n in range(1, 4)))
    run_notify(post)
    post.clock.now += MINUTE

    run_drain(post)

    assert post.channel.ads[0] == post.channel.ads[1]
    assert sorted(row.attempts for row in post.mailboxes.waiting(ME, 5)) == [0, 0, 2]


def test_told_to_wait_it_waits_exactly_that_long_uncharged():
    post = a_post(gate(90_000))
    watching(post)
    found(an_event())
    run_notify(post)
    (row,) = post.mailboxes.waiting(ME, 5)
    assert (row.attempts, row.lost) == (0, 0)

    post.clock.now = NOW + 90_000 - 4_000
    run_drain(post)
    assert len(post.channel.sent) == 1
    post.clock.now = NOW + 90_000
    run_drain(post)

    assert len(post.channel.sent) == 2


def test_a_thousand_gates_cost_nothing():
    post = a_post(*[gate(60_000)] * 50)
    watching(post)
    found(an_event())
    run_notify(post)

    for _ in range(49):
        post.clock.now += MINUTE
        run_drain(post)

    (row,) = post.mailboxes.waiting(ME, 5)
    assert (row.attempts, row.lost) == (0, 0)
    assert len(row.history) == 10


def test_a_lost_answer_is_charged_and_the_alert_sent_again():
    post = a_post(refused(OutcomeKind.AMBIGUOUS, "ReadTimeout"))
    watching(post)
    found(an_event())
    run_notify(post)
    post.clock.now += MINUTE

    run_drain(post)

    assert len(post.channel.sent) == 2
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_a_message_that_is_refused_for_good_is_dead_and_the_next_goes_on():
    post = a_post(refused(OutcomeKind.MESSAGE, "bad request"))
    watching(post)
    found(an_event("1"))
    found(an_event("2"))

    run_notify(post)

    assert post.channel.ads == [["1"], ["2"]]
    assert post.mailboxes.counts() == {"telegram": Counts(0, 1)}


def test_a_refusal_ends_an_outage_as_a_delivery_does():
    post = a_post(outage(), refused(OutcomeKind.MESSAGE))
    watching(post)
    found(an_event("1"))
    run_notify(post)
    post.clock.now += MINUTE
    run_drain(post)

    found(an_event("2", found=post.clock.now))
    report = run_notify(post)

    assert report.tally.delivered == 1


def test_a_refused_club_is_tried_one_by_one_and_only_the_bad_one_dies():
    post = a_post(refused(OutcomeKind.MESSAGE), refused(OutcomeKind.MESSAGE))
    watching(post)
    found(*(an_event(str(n)) for n in range(1, 5)))

    run_notify(post)
    run_drain(post)

    assert post.channel.ads[0] == ["1", "2", "3", "4"]
    assert sorted(ads for (ads,) in post.channel.ads[1:]) == ["1", "2", "3", "4"]
    assert post.mailboxes.counts() == {"telegram": Counts(0, 1)}


def test_a_refused_club_is_tried_in_the_order_it_was_found():
    post = a_post(refused(OutcomeKind.MESSAGE))
    watching(post)
    found(*(an_event(str(n)) for n in range(1, 9)))
    post.clock.now += MINUTE

    run_notify(post)
    run_drain(post)

    assert post.channel.ads[1:] == [[str(n)] for n in range(1, 9)]


def test_a_blocked_bot_disables_the_destination_and_pauses_the_watch_with_the_reason():
    post = a_post(refused(OutcomeKind.DESTINATION, "bot was blocked by the user"))
    watching(post)
    found(an_event())

    run_notify(post)

    assert post.mailboxes.head(ME).destination.disabled == "bot was blocked by the user"
    (watch,) = post.watches.of(a_search_id())
    assert watch.paused == "bot was blocked by the user"
    assert post.mailboxes.counts() == {"telegram": Counts(1, 0)}, "it waits for the destination to come back"


def test_every_watch_of_a_blocked_chat_is_paused_when_it_finds_something():
    post = a_post(refused(OutcomeKind.DESTINATION, "blocked"))
    watching(post, a_watch("w1", filters=Filters(exclude_words=("Regal",))), a_watch("w2"))
    found(an_event("1", title="Regal"))
    run_notify(post)
    assert {watch.id: watch.paused for watch in post.watches.of(a_search_id())} == {"w1": "", "w2": "blocked"}

    found(an_event("2", title="Rennrad"))
    run_notify(post)

    assert {watch.id: watch.paused for watch in post.watches.of(a_search_id())} == {"w1": "blocked", "w2": "blocked"}


def test_a_watch_with_another_working_destination_goes_on():
    post = a_post(refused(OutcomeKind.DESTINATION, "blocked"))
    watching(post, a_watch(destinations=("me", "you")))
    found(an_event())

    run_notify(post)

    (watch,) = post.watches.of(a_search_id())
    assert watch.paused == ""


def test_what_waited_a_day_for_a_disabled_destination_is_dead_as_expired():
    post = a_post(refused(OutcomeKind.DESTINATION, "blocked"))
    watching(post)
    found(an_event())
    run_notify(post)

    for _ in range(25):
        post.clock.now += 60 * MINUTE
        run_drain(post)

    assert len(post.channel.sent) == 1
    (letter,) = post.mailboxes.dead_letters(10)
    assert letter.dead_reason == "expired"


def test_a_destination_that_works_again_gets_what_waits_in_the_next_cycle():
    post = a_post(refused(OutcomeKind.DESTINATION, "blocked"))
    watching(post)
    found(an_event())
    run_notify(post)
    post.clock.now += MINUTE
    run_drain(post)

    post.mailboxes.put_destination(a_destination())
    post.clock.now += MINUTE
    run_drain(post)

    assert len(post.channel.sent) == 2
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_a_hundred_rows_expire_or_are_lost_within_the_limits_of_a_transaction():
    post = a_post(refused(OutcomeKind.DESTINATION, "blocked"))
    watching(post)
    found(*(an_event(str(n)) for n in range(100)))
    run_notify(post)
    assert post.mailboxes.counts() == {"telegram": Counts(100, 0)}

    post.clock.now += 25 * 60 * MINUTE
    run_drain(post)
    assert post.mailboxes.counts() == {"telegram": Counts(0, 100)}
    post.mailboxes.put_destination(a_destination())
    assert post.mailboxes.redrive(a_destination(), post.mailboxes.dead(ME), now=post.clock()) == 100
    post.channel.outcomes = [WorkerKilledError()]
    with pytest.raises(WorkerKilledError):
        run_drain(post)
    for _ in range(3):
        post.clock.now += 61_000
        run_drain(post, budget=MINUTE)

    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}
    assert due(post) == []


def test_a_chat_that_moved_is_rewritten_once_and_kept():
    post = a_post(Outcome(kind=OutcomeKind.DELIVERED, address="-100200"))
    watching(post)
    found(an_event("1"), an_event("2"))

    run_notify(post)

    assert post.mailboxes.head(ME).destination.address == "-100200"
    assert len(post.channel.sent) == 2


def test_a_destination_whose_secret_was_replaced_meanwhile_is_not_disabled_for_the_old_one():
    post = a_post(refused(OutcomeKind.DESTINATION, "no_service"), secrets=FakeSecrets(known="1:old", stored="1:new"))
    watching(post)
    found(an_event())
    run_notify(post)

    post.clock.now += MINUTE
    run_drain(post)

    assert post.channel.secrets == ["1:old", "1:new"]
    assert post.mailboxes.head(ME).destination.disabled == ""
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}
