"""What a digest, a club or quiet hours hold back: it neither grows old meanwhile nor loses its place."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from lago.domain.ids import Milliseconds
from lago.domain.kinds import KINDS, KindPolicy
from lago.domain.outcome import OutcomeKind
from lago.store.queue_reads import Counts
from tests.builders import ME, a_destination, a_search_id, an_event
from tests.fakes.sending import MINUTE, Post, a_post, outage, refused
from tests.store.steps import FOREVER, found, run_drain, run_notify, watching
from tests.store.test_kinds_and_hours import an_alert

HOUR = 60 * MINUTE
ONE_HOUR = {**KINDS, "new_ad": KindPolicy(expiry=Milliseconds(HOUR))}


def at(hour: int, minute: int = 0, second: int = 0, day: int = 19, month: int = 11) -> int:
    moment = datetime(2026, month, day, hour, minute, second, tzinfo=ZoneInfo("Europe/Vienna"))
    return int(moment.timestamp() * 1000)


def a_reader(post: Post, **how) -> Post:
    watching(post)
    post.mailboxes.put_destination(replace(a_destination(), **how))
    return post


def finds(post: Post, *ads: str, when: int) -> None:
    post.clock.now = when
    found(*(an_event(ad, found=when) for ad in ads))
    run_notify(post)


def drained(post: Post, when: int) -> None:
    post.clock.now = when
    run_drain(post)


def test_what_just_missed_its_digest_is_told_by_the_next():
    post = a_reader(a_post(), digest_at=18 * 60)
    finds(post, "1", when=at(18, 0, 1))

    drained(post, at(18, 0, 30, day=20))

    assert post.channel.ads == [["1"]]


def test_the_day_that_is_an_hour_longer_makes_no_digest_too_old():
    post = a_reader(a_post(), digest_at=18 * 60)
    finds(post, "1", when=at(18, 0, 1, day=24, month=10))

    drained(post, at(18, 0, 30, day=25, month=10))

    assert post.channel.ads == [["1"]]


def test_a_digest_in_quiet_hours_is_told_after_them_however_long_that_is():
    post = a_reader(a_post(), digest_at=23 * 60, quiet=(22 * 60, 7 * 60))
    finds(post, "1", when=at(23, 30, day=18))

    drained(post, at(7, 0, 30, day=20))

    assert post.channel.ads == [["1"]]


@pytest.mark.parametrize("how", [{"club_seconds": 7_200}, {"digest_at": 18 * 60}, {"quiet": (0, 18 * 60)}], ids=str)
def test_a_kind_that_is_of_use_for_an_hour_is_told_within_an_hour_of_its_time(how):
    post = a_reader(a_post(kinds=ONE_HOUR), **how)
    finds(post, "1", when=at(14, 30))
    (box,) = post.mailboxes.due(0, FOREVER, 10)

    drained(post, box.due_at + 30_000)

    assert post.channel.ads == [["1"]]


def test_a_digest_that_fails_has_the_retries_of_any_message_and_is_too_old_a_day_after_its_time():
    post = a_reader(a_post(outage()), digest_at=18 * 60)
    finds(post, "1", "2", when=at(18, 1))
    drained(post, at(18, day=20))
    post.mailboxes.change_destination(ME, lambda each: replace(each, disabled="holiday"))
    drained(post, at(17, 59, day=21))
    assert post.mailboxes.counts() == {"telegram": Counts(2, 0)}

    drained(post, at(18, 20, day=21))

    assert {row.dead_reason for row in post.mailboxes.dead(ME)} == {"expired"}


@pytest.mark.parametrize("how", [{"digest_at": 18 * 60}, {"quiet": (0, 18 * 60)}], ids=str)
def test_what_several_scrapes_found_is_told_in_the_order_in_which_it_was_found(how):
    post = a_reader(a_post(threshold=1), **how)
    for hour in range(4):
        finds(post, *(f"{hour}{n}" for n in range(4)), when=at(9 + hour))

    drained(post, at(18) + 1_000)

    told = [ad for message in post.channel.ads for ad in message]
    assert told == [f"{hour}{n}" for hour in range(4) for n in range(4)]


def test_watches_pause_for_a_destination_that_refuses_messages_also_when_it_has_a_digest():
    post = a_reader(a_post(), digest_at=18 * 60, disabled="the mail came back")

    finds(post, "1", when=at(9))

    (watch,) = post.watches.of(a_search_id())
    assert watch.paused == "the mail came back"


def test_what_is_urgent_and_waits_for_its_retry_does_not_wait_for_the_morning_with_what_is_not():
    post = a_reader(a_post(outage(), refused(OutcomeKind.RENDER)))
    finds(post, "1", when=at(21, 59))
    post.mailboxes.change_destination(ME, lambda each: replace(each, quiet=(22 * 60, 7 * 60)))
    post.mailboxes.enqueue(a_destination(), (replace(an_alert(), created=at(22), next_attempt_at=at(22)),), now=at(22))
    drained(post, at(22, 1))
    assert len(post.channel.sent) == 2

    drained(post, at(22, 4))

    assert [message.notifications[0].kind for message in post.channel.sent[1:]] == ["operator_alert"] * 2


def test_an_hour_of_digests_costs_no_write_however_much_waits():
    post = a_reader(a_post(), digest_at=18 * 60)
    finds(post, *(str(n) for n in range(60)), when=at(9))
    run_drain(post)
    epoch = post.mailboxes.head(ME).epoch

    for minute in range(60):
        drained(post, at(10, minute))

    assert (post.mailboxes.head(ME).epoch, post.mailboxes.head(ME).waiting) == (epoch, 60)
    assert [at(18) <= box.due_at < at(18, 1) for box in post.mailboxes.due(0, FOREVER, 10)] == [True]
