"""The way of a notification from the outbox of a search to its destination, when nothing fails."""

from msgspec.structs import replace

from lago.domain.ids import EpochMs
from lago.notify import notify
from lago.store.queue_reads import Counts
from lago.store.searches import SearchStore
from tests.builders import ME, NOW, a_destination, a_search_id, a_watch, an_event
from tests.fakes.sending import a_post, outage
from tests.store.steps import found, outbox, run_drain, run_notify, watching


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
