"""What happens to a notification, from the outbox of a search to its end, whatever the far side does."""

import pytest
from msgspec.structs import replace

from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.watch import Filters, Watch
from lago.drain import DrainReport, drain
from lago.notify import NotifyReport, notify
from lago.store.queue_reads import Counts
from lago.store.searches import SearchStore
from tests.builders import (
    ME,
    NOW,
    a_cursor,
    a_destination,
    a_live_event,
    a_query,
    a_search_id,
    a_watch,
    an_event,
)
from tests.fakes.sending import MINUTE, Post, WorkerKilledError, a_post, gate, outage, refused


def watching(post: Post, *watches) -> None:
    """The watches are there, with their destinations."""
    for watch in watches or (a_watch(),):
        for destination in watch.destinations:
            post.mailboxes.put_destination(a_destination(destination, address=f"10{len(destination)}"))
        post.watches.add(a_query(), watch)
        announced(watch)


def announced(*watches: Watch) -> None:
    """The watches had their baseline, and their message about it."""
    store = SearchStore()
    search = store.get(a_search_id())
    store.commit(search, cursor=a_cursor(), events=(), announced=frozenset(watch.id for watch in watches), now=NOW)


def found(*events) -> None:
    """A scrape commits these events."""
    store = SearchStore()
    search = store.get(a_search_id())
    store.commit(search, cursor=a_cursor(), events=events, announced=frozenset(), now=NOW)


def run_notify(post: Post) -> NotifyReport:
    return notify(
        a_search_id(), searches=SearchStore(), watches=post.watches, sender=post.sender, deadline=post.deadline
    )


def run_drain(post: Post, budget: int = 20_000) -> DrainReport:
    return drain(
        mailboxes=post.mailboxes,
        sender=post.sender,
        clock=post.clock,
        batch=50,
        budget=Milliseconds(budget),
        deadline=post.deadline,
    )


def outbox():
    return SearchStore().get(a_search_id()).outbox


def test_a_new_ad_is_told_at_once_and_leaves_no_row():
    post = a_post()
    watching(post)
    found(an_event())

    report = run_notify(post)

    assert post.channel.ads == [["910000001"]]
    assert (report.tally.delivered, report.cleared) == (1, True)
    assert post.mailboxes.counts() == {}
    assert outbox() == ()


def test_an_old_wake_up_tells_nothing_twice():
    post = a_post()
    watching(post)
    found(an_event())
    run_notify(post)

    run_notify(post)
    found(an_event())
    run_notify(post)

    assert len(post.channel.sent) == 1


def test_an_ad_that_two_watches_of_one_person_match_is_told_once():
    post = a_post()
    watching(post, a_watch("w1"), a_watch("w2"))
    found(an_event())

    run_notify(post)

    (message,) = post.channel.sent
    assert message.notifications[0].watches == ("w1", "w2")


def test_more_ads_than_the_threshold_are_one_message():
    post = a_post()
    watching(post)
    found(*(an_event(str(n)) for n in range(1, 6)))

    report = run_notify(post)

    assert post.channel.ads == [["1", "2", "3", "4", "5"]]
    assert report.tally.delivered == 5


def test_up_to_the_threshold_each_ad_is_a_message_a_second_apart():
    post = a_post()
    watching(post)
    found(an_event("1"), an_event("2"), an_event("3"))

    run_notify(post)

    assert post.channel.ads == [["1"], ["2"], ["3"]]
    assert post.clock.now == NOW + 2_000
    assert sum(post.mailboxes.head(ME).delivered.values()) == 3


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


def test_a_chat_that_moved_is_rewritten_once_and_kept():
    post = a_post(Outcome(kind=OutcomeKind.DELIVERED, address="-100200"))
    watching(post)
    found(an_event("1"), an_event("2"))

    run_notify(post)

    assert post.mailboxes.head(ME).destination.address == "-100200"
    assert len(post.channel.sent) == 2


def test_a_notify_worker_that_is_killed_while_sending_costs_an_attempt_and_loses_nothing():
    post = a_post(WorkerKilledError())
    watching(post)
    found(an_event())
    with pytest.raises(WorkerKilledError):
        run_notify(post)
    assert len(outbox()) == 1

    post.clock.now += 61_000
    run_notify(post)
    (row,) = post.mailboxes.waiting(ME, 5)
    assert (row.attempts, row.lost, row.alone) == (0, 1, True)
    run_drain(post)

    assert len(post.channel.sent) == 2
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}
    assert outbox() == ()


def test_a_message_that_kills_every_worker_is_dead_by_the_cap_and_the_rest_arrives():
    post = a_post()
    watching(post)
    post.channel.before_send = _killed_by_ad_1
    found(an_event("1"))
    with pytest.raises(WorkerKilledError):
        run_notify(post)
    post.clock.now += 61_000
    found(an_event("2"))
    run_notify(post)

    for _ in range(30):
        try:
            run_drain(post)
        except WorkerKilledError:
            post.clock.now += 61_000
        post.clock.now += 1_000

    assert post.channel.ads == [["2"]]
    (letter,) = post.mailboxes.dead_letters(10)
    assert (letter.dead_reason, letter.lost, letter.notification.event.ad) == ("crash", 6, "1")


def _killed_by_ad_1(message):
    if message.notifications[0].event.ad == "1":
        raise WorkerKilledError


def test_killed_after_the_send_but_before_the_log_doubles_that_message_alone():
    post = a_post()
    watching(post)
    found(an_event("1"), an_event("2"))
    log, post.deliveries.log = post.deliveries.log, _killed
    with pytest.raises(WorkerKilledError):
        run_notify(post)
    post.deliveries.log = log

    post.clock.now += 61_000
    run_notify(post)
    run_drain(post)

    assert sorted(ad for ads in post.channel.ads for ad in ads) == ["1", "1", "2"]


def test_killed_on_its_last_attempt_after_the_log_was_written_it_is_done_and_not_dead():
    post = a_post(*[outage()] * 5)
    watching(post)
    found(an_event("1"))
    run_notify(post)
    for _ in range(15):
        post.clock.now += MINUTE
        run_drain(post)
    record, post.mailboxes.record = post.mailboxes.record, _killed
    post.clock.now += 16 * MINUTE
    with pytest.raises(WorkerKilledError):
        run_drain(post)
    post.mailboxes.record = record

    post.clock.now += 2 * MINUTE
    run_drain(post)

    assert len(post.channel.sent) == 6
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def _killed(*_args, **_more):
    raise WorkerKilledError


def test_a_mailbox_with_rows_waiting_is_never_overtaken():
    post = a_post(outage())
    watching(post)
    found(an_event("1"))
    run_notify(post)
    post.clock.now += 30_000

    found(an_event("2"))
    run_notify(post)
    assert len(post.channel.sent) == 1
    post.clock.now += 31_000
    run_drain(post)

    assert post.channel.ads == [["1"], ["1"], ["2"]]


def test_after_an_outage_one_message_probes_and_only_it_is_charged():
    post = a_post(outage(), outage())
    watching(post)
    found(*(an_event(str(n)) for n in range(1, 4)))
    run_notify(post)
    post.clock.now += MINUTE

    run_drain(post)

    assert post.channel.ads[0] == post.channel.ads[1]
    assert sorted(row.attempts for row in post.mailboxes.waiting(ME, 5)) == [0, 0, 2]


def test_a_lost_answer_is_charged_and_the_alert_sent_again():
    post = a_post(refused(OutcomeKind.AMBIGUOUS, "ReadTimeout"))
    watching(post)
    found(an_event())
    run_notify(post)
    post.clock.now += MINUTE

    run_drain(post)

    assert len(post.channel.sent) == 2
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_removing_a_watch_cancels_what_it_still_had_to_tell():
    post = a_post(outage())
    watching(post)
    found(an_event())
    run_notify(post)

    post.watches.remove(a_watch())
    post.clock.now += MINUTE
    run_drain(post)

    assert len(post.channel.sent) == 1
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_what_a_paused_watch_misses_is_counted_once_and_not_told():
    post = a_post()
    watching(post, a_watch(paused="holiday"))
    found(an_event("1"), an_event("2", found=NOW + 1))

    run_notify(post)
    found(an_event("1"), an_event("2", found=NOW + 1))
    run_notify(post)

    assert post.channel.sent == []
    (watch,) = post.watches.of(a_search_id())
    assert watch.missed == 2


def test_a_drop_is_measured_against_the_price_last_told():
    post = a_post()
    watching(post, a_watch(filters=Filters(drop_percent=5)))
    found(an_event("1", price=31_000))
    run_notify(post)

    for n, price in enumerate((28_300, 27_900, 28_300, 26_000)):
        found(an_event("1", kind="price_drop", price=price, old_price=31_000, found=NOW + n))
        run_notify(post)

    told = [(each.event.price, each.old_price) for message in post.channel.sent for each in message.notifications]
    assert told == [(31_000, None), (28_300, 31_000), (26_000, 28_300)]


def test_an_ad_told_long_ago_that_comes_back_cheaper_is_a_price_drop():
    post = a_post()
    watching(post)
    found(an_event("1", price=65_000))
    run_notify(post)

    found(an_event("1", kind="new_ad", price=59_000, found=NOW + 1))
    run_notify(post)
    found(an_event("1", kind="new_ad", price=59_000, found=NOW + 2))
    run_notify(post)

    assert [message.notifications[0].kind for message in post.channel.sent] == ["new_ad", "price_drop"]
    assert post.channel.sent[1].notifications[0].old_price == 65_000


def test_a_second_watch_hears_its_own_beginning_and_never_anothers_past():
    post = a_post()
    watching(post, a_watch("w1"), a_watch("w2", destinations=("you",), created=NOW + 5))
    found(an_event("1", found=NOW), a_live_event("w2", found=NOW + 6))

    run_notify(post)

    told = {message.notifications[0].destination: message.notifications[0].kind for message in post.channel.sent}
    assert told == {"me": "new_ad", "you": "watch_live"}


def test_one_destination_that_cannot_be_served_holds_back_no_other():
    post = a_post(outage())
    watching(post, a_watch(destinations=("me", "you")))
    found(an_event())

    run_notify(post)

    assert len(post.channel.sent) == 2
    assert post.mailboxes.counts()["telegram"] == Counts(1, 0)


def test_with_too_little_time_left_nothing_is_sent_and_nothing_is_lost():
    post = a_post()
    watching(post)
    found(an_event())

    notify(
        a_search_id(),
        searches=SearchStore(),
        watches=post.watches,
        sender=post.sender,
        deadline=EpochMs(post.clock() + 3_000),
    )

    assert post.channel.sent == []
    assert post.mailboxes.counts() == {"telegram": Counts(1, 0)}


def test_a_commit_onto_a_pending_outbox_appends_and_survives_the_clear():
    post = a_post()
    watching(post)
    found(an_event("1"))
    post.channel.before_send = lambda _: found(an_event("2")) if len(post.channel.sent) == 0 else None

    report = run_notify(post)
    assert not report.cleared
    run_notify(post)

    assert post.channel.ads == [["1"], ["2"]]
    assert outbox() == ()


def test_an_unknown_channel_is_parked_uncharged():
    post = a_post()
    watching(post)
    post.mailboxes.put_destination(replace(a_destination(), channel="pigeon"))
    found(an_event())

    run_notify(post)

    (row,) = post.mailboxes.waiting(ME, 5)
    assert (row.attempts, row.died) == (0, None)
