"""What two workers, a person and a failing store do to one mailbox at the wrong moment."""

import pytest
from botocore.exceptions import ClientError
from msgspec.structs import replace

from lago.domain.backoff import ALERT
from lago.domain.ids import EpochMs
from lago.domain.mailbox import Settlement
from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.watch import Filters
from lago.errors import StoreUnavailableError
from lago.store import mailboxes, queue_writes
from lago.store.connection import connection
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import HEAD, QueueItem
from lago.store.queue_reads import Counts
from tests.builders import ME, NOW, a_destination, a_query, a_row, a_search_id, a_watch, an_event
from tests.fakes.sending import MINUTE, Post, WorkerKilledError, a_post, gate, outage, refused
from tests.store.test_delivery_paths import announced, found, outbox, run_drain, run_notify, watching
from tests.store.test_killed_at_every_write import Reaper

FOREVER = EpochMs(NOW + 10**12)


def a_queue() -> MailboxStore:
    queue = MailboxStore(shards=1)
    queue.put_destination(a_destination())
    return queue


def just_before(target, name: str, interruption) -> None:
    """Something else happens once, just before `target` does this."""
    method = getattr(target, name)

    def interrupted(*args, **kwargs):
        setattr(target, name, method)
        interruption()
        return method(*args, **kwargs)

    setattr(target, name, interrupted)


def unavailable(*_args, **_kwargs):
    raise StoreUnavailableError("DynamoDB: ThrottlingException")


def due(post: Post | MailboxStore) -> list[str]:
    queue = post.mailboxes if isinstance(post, Post) else post
    return [box.destination for box in queue.due(0, FOREVER, 10)]


def test_a_row_that_arrives_just_as_the_last_one_is_settled_is_not_stranded():
    queue, first, second = a_queue(), a_row(), a_row(an_event("2"))
    queue.enqueue(a_destination(), (first,), now=NOW)
    claim = queue.claim(queue.head(ME), [first.id], now=NOW, lease_until=EpochMs(NOW + 60_000))
    done = Settlement(done=(first.id,))
    settling = MailboxStore(shards=1)

    just_before(mailboxes, "write_rows", lambda: settling.record(claim, done, new=False, next_row_at=None, now=NOW))
    queue.enqueue(a_destination(), (second,), now=NOW)

    assert queue.head(ME).waiting == 1
    assert due(queue) == [ME]


def test_a_write_that_meets_others_on_the_shared_counter_goes_through():
    queue = a_queue()
    others = iter(range(7))

    def busy(**_):
        if next(others, None) is not None:
            response = {
                "Error": {"Code": "TransactionCanceledException", "Message": "busy"},
                "CancellationReasons": [{"Code": "None"}, {"Code": "None"}, {"Code": "TransactionConflict"}],
            }
            raise ClientError(response, "TransactWriteItems")

    events = connection().client.meta.events
    events.register("before-call.dynamodb.TransactWriteItems", busy)
    try:
        assert queue.enqueue(a_destination(), (a_row(),), now=NOW) == 1
    finally:
        events.unregister("before-call.dynamodb.TransactWriteItems", busy)

    assert queue.counts() == {"telegram": Counts(1, 0)}


def test_a_send_is_settled_however_fast_rows_arrive_meanwhile(monkeypatch):
    queue, first = a_queue(), a_row()
    queue.enqueue(a_destination(), (first,), now=NOW)
    claim = queue.claim(queue.head(ME), [first.id], now=NOW, lease_until=EpochMs(NOW + 60_000))
    write = queue_writes.write_rows
    arrivals = (a_row(an_event(str(n))) for n in range(2, 100))

    def write_too_late(*args, **kwargs):
        monkeypatch.setattr(mailboxes, "write_rows", write)
        queue.enqueue(a_destination(), (next(arrivals),), now=NOW)
        monkeypatch.setattr(mailboxes, "write_rows", write_too_late)
        write(*args, **kwargs)

    monkeypatch.setattr(mailboxes, "write_rows", write_too_late)

    assert queue.record(claim, Settlement(done=(first.id,)), new=False, next_row_at=None, now=NOW)

    head = queue.head(ME)
    assert head.lease_until is None
    assert head.waiting == len(queue.waiting(ME, 100)) > 0
    assert due(queue) == [ME]


def test_a_mailbox_whose_rows_were_all_cancelled_leaves_the_index():
    post = a_post(outage())
    watching(post)
    found(an_event())
    run_notify(post)
    post.mailboxes.cancel(a_destination(), post.mailboxes.waiting(ME, 10))

    post.clock.now += MINUTE
    run_drain(post)

    assert due(post) == []


def test_a_mailbox_that_a_late_acknowledgement_emptied_leaves_the_index():
    post = a_post(outage())
    watching(post)
    found(an_event())
    run_notify(post)
    post.mailboxes.acknowledge(a_destination(), [row.id for row in post.mailboxes.waiting(ME, 10)])

    post.clock.now += MINUTE
    run_drain(post)

    assert due(post) == []


def test_a_mailbox_that_is_listed_before_its_gate_is_listed_again_when_it_opens():
    post = a_post(gate(60 * MINUTE))
    watching(post)
    found(an_event())
    run_notify(post)
    opens = post.mailboxes.head(ME).gate_until
    # as when a row arrives just before the gate is recorded
    QueueItem(ME, HEAD).update([QueueItem.due_at.set(post.clock())])

    run_drain(post)

    assert post.mailboxes.head(ME).due_at == opens


def test_a_drain_that_finds_its_mailbox_timed_already_writes_nothing():
    post = a_post(refused(OutcomeKind.RENDER))
    watching(post)
    found(an_event())
    run_notify(post)
    post.clock.now += 10_000

    with Reaper().watching() as reaper:
        post.sender.drain(ME, soft=FOREVER, deadline=FOREVER)  # as a lagging index would have it

    assert reaper.writes == 0


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


def test_a_letter_redriven_days_later_is_sent_not_expired():
    post = a_post(refused(OutcomeKind.MESSAGE))
    watching(post)
    found(an_event())
    run_notify(post)
    post.clock.now += 3 * 24 * 60 * MINUTE

    post.mailboxes.redrive(a_destination(), post.mailboxes.dead_letters(10), now=post.clock())
    run_drain(post)

    assert len(post.channel.sent) == 2
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_letters_redriven_together_keep_their_order():
    post = a_post(*[refused(OutcomeKind.MESSAGE)] * 3)
    watching(post)
    found(*(an_event(str(n)) for n in range(1, 4)))
    run_notify(post)
    post.clock.now += MINUTE

    assert post.mailboxes.redrive(a_destination(), post.mailboxes.dead(ME), now=post.clock()) == 3
    run_drain(post)

    assert post.channel.ads[3:] == [["1"], ["2"], ["3"]]


def test_a_refused_club_is_tried_in_the_order_it_was_found():
    post = a_post(refused(OutcomeKind.MESSAGE))
    watching(post)
    found(*(an_event(str(n)) for n in range(1, 9)))
    post.clock.now += MINUTE

    run_notify(post)
    run_drain(post)

    assert post.channel.ads[1:] == [[str(n)] for n in range(1, 9)]


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


def killed(*_args, **_kwargs):
    raise WorkerKilledError


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


def test_a_claim_that_the_store_used_up_is_returned_before_anything_is_sent():
    post = a_post()
    watching(post)
    found(an_event())
    told = post.deliveries.told

    def slowly(*args):
        post.clock.now += 55_000
        return told(*args)

    post.deliveries.told = slowly
    run_notify(post)

    assert post.channel.sent == []
    (row,) = post.mailboxes.waiting(ME, 5)
    assert (row.attempts, row.lost) == (0, 0)


@pytest.mark.parametrize(
    "verdict",
    [
        refused(OutcomeKind.DESTINATION, "blocked"),
        Outcome(kind=OutcomeKind.DELIVERED, address="-100200"),
        Outcome(kind=OutcomeKind.OUTAGE, address="-100200"),
    ],
    ids=["blocked", "moved", "moved in an outage"],
)
def test_what_is_said_of_the_old_address_leaves_a_new_one_alone(verdict):
    post = a_post(verdict)
    watching(post)
    new = a_destination(address="77")
    post.channel.before_send = lambda _: post.mailboxes.put_destination(new)
    found(an_event())

    run_notify(post)

    head = post.mailboxes.head(ME)
    assert head.destination == new
    assert head.lease_until is None


def test_a_message_goes_to_the_address_that_holds_under_the_claim():
    post = a_post()
    watching(post)
    addresses = []
    send = post.channel.send

    def noting(destination, secret, message):
        addresses.append(destination.address)
        return send(destination, secret, message)

    post.channel.send = noting
    just_before(post.mailboxes, "claim", lambda: post.mailboxes.put_destination(a_destination(address="77")))
    found(an_event())

    run_notify(post)

    assert addresses == ["77"]


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
