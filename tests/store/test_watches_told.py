"""Which watch is told what: what it wants, what it was told before, whether it is there at all."""

from lago.domain.watch import Filters
from lago.store.queue_reads import Counts
from tests.builders import NOW, a_live_event, a_search_id, a_watch, an_event
from tests.fakes.sending import MINUTE, a_post, outage
from tests.store.steps import found, outbox, run_drain, run_notify, unavailable, watching


def test_an_ad_that_two_watches_of_one_person_match_is_told_once():
    post = a_post()
    watching(post, a_watch("w1"), a_watch("w2"))
    found(an_event())

    run_notify(post)

    (message,) = post.channel.sent
    assert message.notifications[0].watches == ("w1", "w2")


def test_a_second_watch_hears_its_own_beginning_and_never_anothers_past():
    post = a_post()
    watching(post, a_watch("w1"), a_watch("w2", destinations=("you",), created=NOW + 5))
    found(an_event("1", found=NOW), a_live_event("w2", found=NOW + 6))

    run_notify(post)

    told = {message.notifications[0].destination: message.notifications[0].kind for message in post.channel.sent}
    assert told == {"me": "new_ad", "you": "watch_live"}


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


def test_a_count_of_missed_ads_that_fails_holds_back_no_message():
    post = a_post()
    watching(post, a_watch("w1"), a_watch("w2", paused="holiday"))
    found(an_event())
    count, post.watches.count_missed = post.watches.count_missed, unavailable

    report = run_notify(post)
    assert (report.tally.delivered, report.failed, report.cleared) == (1, 1, False)
    post.watches.count_missed = count
    run_notify(post)

    assert len(post.channel.sent) == 1
    assert {watch.id: watch.missed for watch in post.watches.of(a_search_id())} == {"w1": 0, "w2": 1}
    assert outbox() == ()


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


def test_two_drops_of_one_ad_in_a_club_are_measured_one_after_the_other():
    post = a_post()
    watching(post, a_watch(filters=Filters(drop_percent=5)))
    found(an_event("1", price=10_000))
    run_notify(post)

    drops = [an_event("1", kind="price_drop", price=price, old_price=10_000) for price in (9_400, 9_300, 8_000)]
    found(*drops, an_event("2"), an_event("3"))
    run_notify(post)

    (club,) = post.channel.sent[1:]
    told = [(each.event.price, each.old_price) for each in club.notifications if each.event.ad == "1"]
    assert told == [(9_400, 10_000), (8_000, 9_400)]


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
