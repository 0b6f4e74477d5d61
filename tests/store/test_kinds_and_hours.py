"""Kinds with their own agreements, quiet hours, clubs, and news that is told late."""

from datetime import datetime
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import replace

from lago.domain.event import OperatorAlert
from lago.domain.ids import AdId, EpochMs, Minor, NotificationId
from lago.domain.kinds import KINDS, KindPolicy
from lago.domain.mailbox import Row
from lago.domain.notification import Notification, notification_id
from lago.domain.outcome import OutcomeKind
from lago.domain.search import KnownAd
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import QueueItem
from lago.store.queue_reads import Counts
from lago.store.searches import SearchStore
from tests.builders import ME, NOW, a_cursor, a_destination, a_live_event, a_row, a_search_id, an_event
from tests.fakes.sending import MINUTE, Post, a_post, outage, refused
from tests.store.steps import found, run_drain, run_notify, watching

EVENING = int(datetime(2026, 11, 18, 22, 30, tzinfo=ZoneInfo("Europe/Vienna")).timestamp() * 1000)
MORNING = int(datetime(2026, 11, 19, 7, 0, tzinfo=ZoneInfo("Europe/Vienna")).timestamp() * 1000)


def at_night(post: Post) -> None:
    post.clock.now = EVENING
    post.mailboxes.put_destination(replace(a_destination(), quiet=(22 * 60, 7 * 60)))


def an_alert(text: str = "a letter died") -> Row:
    event = OperatorAlert(key="dead", found=NOW, text=text)
    notification = Notification(
        id=notification_id(ME, event), destination=ME, event=event, watches=(), label="", search_url=""
    )
    return Row(notification=notification, created=NOW, next_attempt_at=NOW)


def test_what_is_found_at_night_is_told_in_the_morning_in_order():
    post = a_post()
    watching(post)
    at_night(post)
    found(an_event("1", found=EVENING), an_event("2", found=EVENING))
    run_notify(post)
    assert post.mailboxes.counts() == {"telegram": Counts(2, 0)}

    post.clock.now = MORNING - MINUTE
    run_drain(post)
    assert post.channel.sent == []
    post.clock.now = MORNING + MINUTE
    run_drain(post)

    assert post.channel.ads == [["1"], ["2"]]


def test_a_night_of_waiting_is_written_once_not_every_minute():
    post = a_post()
    watching(post)
    at_night(post)
    found(an_event("1", found=EVENING))
    run_notify(post)
    run_drain(post)
    epoch = post.mailboxes.head(ME).epoch

    for _ in range(5):
        post.clock.now += MINUTE
        run_drain(post)

    assert post.mailboxes.head(ME).epoch == epoch


def test_whoever_makes_a_watch_at_night_hears_that_it_is_live():
    post = a_post()
    watching(post)
    at_night(post)
    found(a_live_event("w1", found=EVENING))

    report = run_notify(post)

    assert report.tally.delivered == 1


def test_a_retry_that_falls_into_the_night_waits_for_the_morning_too():
    post = a_post(outage())
    watching(post)
    post.mailboxes.put_destination(replace(a_destination(), quiet=(22 * 60, 7 * 60)))
    post.clock.now = EVENING - 31 * MINUTE
    found(an_event("1", found=post.clock.now))
    run_notify(post)

    post.clock.now = EVENING
    run_drain(post)
    assert len(post.channel.sent) == 1
    post.clock.now = MORNING
    run_drain(post)

    assert len(post.channel.sent) == 2


def test_what_is_found_within_a_club_interval_is_one_message():
    post = a_post()
    watching(post)
    post.mailboxes.put_destination(replace(a_destination(), club_seconds=600))
    start = post.clock.now = NOW - NOW % 600_000 + 1_000
    found(an_event("1", found=start))
    run_notify(post)
    post.clock.now += MINUTE
    found(an_event("2", found=post.clock.now))
    run_notify(post)
    assert post.channel.sent == []

    post.clock.now = start + 600_000
    run_drain(post)

    assert post.channel.ads == [["1", "2"]]


def test_a_day_of_finds_is_one_digest_and_what_is_urgent_does_not_wait_for_it():
    post = a_post()
    watching(post)
    post.mailboxes.put_destination(replace(a_destination(), digest_at=18 * 60))
    digest = int(datetime(2026, 11, 19, 18, 0, tzinfo=ZoneInfo("Europe/Vienna")).timestamp() * 1000)
    post.clock.now = digest - 8 * 60 * MINUTE
    found(a_live_event("w1", found=post.clock.now))
    run_notify(post)
    assert len(post.channel.sent) == 1
    for number in ("1", "2"):
        found(an_event(number, found=post.clock.now))
        run_notify(post)
        post.clock.now += 60 * MINUTE
        run_drain(post)

    post.clock.now = digest + 1_000
    run_drain(post)

    assert post.channel.ads == [["live"], ["1", "2"]]


def test_what_waits_for_its_digest_writes_nothing_until_then():
    post = a_post()
    watching(post)
    post.mailboxes.put_destination(replace(a_destination(), digest_at=18 * 60))
    found(an_event("1"))
    run_notify(post)
    epoch = post.mailboxes.head(ME).epoch

    for _ in range(5):
        post.clock.now += MINUTE
        run_drain(post)

    assert post.mailboxes.head(ME).epoch == epoch


def test_mail_is_retried_patiently_whatever_it_says():
    post = a_post(*[outage()] * 10, channel_name="email")
    watching(post)
    post.mailboxes.put_destination(replace(a_destination(), channel="email", address="me@example.org"))
    found(an_event("1"))
    run_notify(post)

    for _ in range(600):
        run_drain(post)
        post.clock.now += MINUTE

    assert len(post.channel.sent) == 10


def test_a_kind_that_must_not_come_twice_is_dead_when_no_answer_comes():
    once = {**KINDS, "operator_alert": KindPolicy(resend=False, urgent=True)}
    post = a_post(refused(OutcomeKind.AMBIGUOUS), kinds=once)
    post.mailboxes.put_destination(a_destination())
    post.mailboxes.enqueue(a_destination(), (an_alert(),), now=NOW)

    run_drain(post)

    (letter,) = post.mailboxes.dead_letters(10)
    assert (letter.dead_reason, letter.attempts) == ("ambiguous", 1)


def test_an_alert_to_the_operator_is_retried_ten_times_patiently():
    post = a_post(*[outage()] * 10)
    post.mailboxes.put_destination(a_destination())
    post.mailboxes.enqueue(a_destination(), (an_alert(),), now=NOW)

    for _ in range(600):
        run_drain(post)
        post.clock.now += MINUTE

    assert len(post.channel.sent) == 10
    assert post.mailboxes.counts() == {"telegram": Counts(0, 1)}


def test_a_row_of_a_kind_that_this_version_does_not_know_waits_uncharged_and_holds_up_no_other():
    post = a_post()
    watching(post)
    known = an_event("1")
    post.mailboxes.enqueue(a_destination(), (an_alert(),), now=NOW)
    future = QueueItem(ME, an_alert().id)
    future.update([QueueItem.row.set(msgspec.msgpack.encode({"notification": {"event": ["telepathy", 1]}}))])
    found(known)
    run_notify(post)

    run_drain(post)

    assert post.channel.ads == [["1"]]
    assert post.mailboxes.counts() == {"telegram": Counts(1, 0)}
    assert list(MailboxStore(1).due(0, EpochMs(post.clock.now), 10)) == []
    assert [box.destination for box in MailboxStore(1).due(0, EpochMs(post.clock.now + 5 * MINUTE), 10)] == [ME]


def test_an_alert_that_is_sent_late_shows_the_latest_known_price():
    post = a_post(outage())
    watching(post)
    found(an_event("1", price=65_000))
    run_notify(post)
    store = SearchStore()
    cursor = replace(a_cursor(), window=(KnownAd(AdId("1"), Minor(65_000), Minor(59_000)),))
    store.commit(store.get(a_search_id()), cursor=cursor, events=(), announced=frozenset(), now=NOW)

    post.clock.now += 3 * MINUTE
    run_drain(post)

    assert post.channel.sent[-1].notifications[0].event.price == 59_000
    told = post.deliveries.told(ME, [an_event("1")])
    assert [each.price for each in told.values()] == [59_000]


def test_the_same_alert_twice_is_one_message():
    first, second = an_alert(), an_alert("the same, said otherwise")

    assert first.id == second.id == NotificationId(first.id)


def of_the_future(ad: str, at: EpochMs = NOW) -> Row:
    """Stored as a newer version does with a kind that only it knows."""
    row = a_row(an_event(ad), created=at)
    future = [QueueItem.row.set(msgspec.msgpack.encode({"notification": {"event": ["telepathy", 1]}}))]
    MailboxStore(1).enqueue(a_destination(), (row,), now=NOW)
    QueueItem(ME, row.id).update(future)
    return row


def test_rows_of_an_unknown_kind_hold_up_no_other_however_many_they_are():
    post = a_post()
    watching(post)
    for n in range(60):
        of_the_future(f"9{n}", EpochMs(NOW - 60 + n))
    found(an_event("1"))
    run_notify(post)

    run_drain(post)

    assert post.channel.ads == [["1"]]
    assert post.mailboxes.counts() == {"telegram": Counts(60, 0)}


def test_what_a_newer_version_left_in_the_air_waits_for_it_uncharged_and_holds_up_no_other():
    post = a_post()
    watching(post)
    strange = of_the_future("9")
    post.mailboxes.claim(post.mailboxes.head(ME), [strange.id], now=NOW, lease_until=EpochMs(NOW + MINUTE))
    found(an_event("1"))
    run_notify(post)

    post.clock.now += 2 * MINUTE
    run_drain(post)

    assert post.channel.ads == [["1"]]
    assert post.mailboxes.counts() == {"telegram": Counts(1, 0)}


def test_a_gate_that_a_drain_finds_closed_is_waited_for_as_long_as_it_asks():
    post = a_post(outage())
    watching(post)
    post.mailboxes.enqueue(a_destination(), (a_row(),), now=NOW)
    run_drain(post)
    gate_until = post.mailboxes.head(ME).gate_until
    QueueItem(ME, "head").update([QueueItem.due_at.set(NOW)])

    run_drain(post)

    assert post.mailboxes.head(ME).due_at == gate_until == NOW + MINUTE
