"""A worker dies, or its store fails, in the middle: what that costs, and that nothing is lost."""

import pytest
from msgspec.structs import replace

from lago.domain.backoff import ALERT
from lago.store.queue_reads import Counts
from tests.builders import ME, NOW, a_destination, a_query, a_row, a_watch, an_event
from tests.fakes.sending import MINUTE, WorkerKilledError, a_post, outage
from tests.store.steps import announced, due, found, killed, outbox, run_drain, run_notify, unavailable, watching


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
    log, post.deliveries.log = post.deliveries.log, killed
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
    record, post.mailboxes.record = post.mailboxes.record, killed
    post.clock.now += 16 * MINUTE
    with pytest.raises(WorkerKilledError):
        run_drain(post)
    post.mailboxes.record = record

    post.clock.now += 2 * MINUTE
    run_drain(post)

    assert len(post.channel.sent) == 6
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_a_crash_costs_one_attempt_wherever_it_is_noticed():
    post = a_post()
    watching(post)
    dispatches = []

    def crash(_message):
        dispatches.append(post.clock())
        raise WorkerKilledError

    post.channel.before_send = crash
    found(an_event())
    for _ in range(40):
        for run in (run_notify, run_drain):
            try:
                run(post)
            except WorkerKilledError:
                post.clock.now += 61_000
        post.clock.now += MINUTE

    assert len(dispatches) == ALERT.attempts
    assert post.mailboxes.counts() == {"telegram": Counts(0, 1)}


def test_with_one_attempt_in_all_a_crash_is_a_dead_letter_and_nothing_waits():
    post = a_post(WorkerKilledError(), policy=replace(ALERT, attempts=1))
    watching(post)
    found(an_event())
    with pytest.raises(WorkerKilledError):
        run_notify(post)
    post.clock.now += 61_000

    run_notify(post)

    assert post.mailboxes.counts() == {"telegram": Counts(0, 1)}
    assert post.mailboxes.head(ME).waiting == 0
    assert due(post) == []


def test_what_was_in_the_air_stays_suspected_while_other_rows_are_sent():
    post = a_post(WorkerKilledError())
    watching(post)
    found(an_event("1"))
    with pytest.raises(WorkerKilledError):
        run_notify(post)
    post.mailboxes.enqueue(a_destination(), (a_row(an_event("2")),), now=post.clock())
    post.clock.now += 61_000
    run_drain(post)
    assert post.channel.ads == [["1"], ["2"]]

    run_notify(post)

    (row,) = post.mailboxes.waiting(ME, 5)
    assert (row.notification.event.ad, row.lost, row.alone) == ("1", 1, True)
    assert post.mailboxes.head(ME).suspects == ()


def test_a_suspect_that_never_comes_again_holds_up_no_other_message():
    post = a_post(WorkerKilledError())
    watching(post)
    found(an_event("1"))
    with pytest.raises(WorkerKilledError):
        run_notify(post)
    post.clock.now += 61_000
    post.watches.remove(a_watch())
    run_notify(post)

    post.watches.add(a_query(), a_watch(created=NOW + 1))
    announced(a_watch())
    found(an_event("2", found=NOW + 2))
    report = run_notify(post)

    assert report.tally.delivered == 1


def test_a_recovery_that_dies_before_it_redrove_is_noticed_again():
    post = a_post(*[outage()] * 6)
    watching(post)
    found(an_event("1"))
    run_notify(post)
    for _ in range(32):
        post.clock.now += MINUTE
        run_drain(post)
    found(an_event("2", found=post.clock.now))
    redrive, post.mailboxes.redrive = post.mailboxes.redrive, killed
    run_notify(post)
    post.clock.now += 20 * MINUTE
    with pytest.raises(WorkerKilledError):
        run_drain(post)
    post.mailboxes.redrive = redrive

    found(an_event("3", found=post.clock.now))
    for _ in range(5):
        post.clock.now += MINUTE
        run_notify(post)
        run_drain(post)

    assert ["1"] in post.channel.ads[6:]
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_a_store_that_fails_before_the_send_costs_no_attempt():
    post = a_post()
    watching(post)
    found(an_event())
    told, post.deliveries.told = post.deliveries.told, unavailable
    assert run_notify(post).failed == 1
    post.deliveries.told = told

    report = run_notify(post)

    assert (report.tally.delivered, report.cleared) == (1, True)
    assert post.mailboxes.counts() == {}


def test_a_waiting_row_whose_delivery_could_not_be_logged_is_not_sent_again():
    post = a_post(outage())
    watching(post)
    found(an_event())
    run_notify(post)
    post.clock.now += MINUTE
    log, post.deliveries.log = post.deliveries.log, unavailable
    assert run_drain(post).failed == 1
    post.deliveries.log = log

    for _ in range(3):
        post.clock.now += MINUTE
        run_drain(post)

    assert len(post.channel.sent) == 2
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}
    assert due(post) == []
