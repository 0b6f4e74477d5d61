"""What two workers and a person do to one mailbox at the wrong moment."""

import pytest
from botocore.exceptions import ClientError
from msgspec.structs import replace

from lago.domain.ids import EpochMs
from lago.domain.mailbox import Settlement
from lago.domain.outcome import Outcome, OutcomeKind
from lago.errors import ConflictError
from lago.store import mailboxes, queue_writes
from lago.store.connection import connection
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import HEAD, QueueItem
from lago.store.queue_reads import Counts
from tests.builders import ME, NOW, a_destination, a_row, an_event
from tests.fakes.sending import MINUTE, a_post, gate, outage, refused
from tests.store.steps import FOREVER, due, found, just_before, run_drain, run_notify, watching
from tests.store.test_killed_at_every_write import Reaper


def a_queue() -> MailboxStore:
    queue = MailboxStore(shards=1)
    queue.put_destination(a_destination())
    return queue


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


@pytest.mark.parametrize(
    "emptied",
    [
        lambda queue, rows: queue.cancel(a_destination(), rows),
        lambda queue, rows: queue.acknowledge(a_destination(), [row.id for row in rows]),
    ],
    ids=["all cancelled", "acknowledged late"],
)
def test_a_mailbox_that_others_emptied_leaves_the_index(emptied):
    post = a_post(outage())
    watching(post)
    found(an_event())
    run_notify(post)
    emptied(post.mailboxes, post.mailboxes.waiting(ME, 10))

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


def test_of_two_that_queue_at_once_the_later_time_does_not_hide_the_earlier():
    queue, urgent, held = a_queue(), a_row(), a_row(an_event("2"))
    other = MailboxStore(shards=1)

    just_before(mailboxes, "write_rows", lambda: other.enqueue(a_destination(), (urgent,), now=NOW))
    queue.enqueue(a_destination(), (replace(held, next_attempt_at=EpochMs(NOW + 24 * 60 * MINUTE)),), now=NOW)

    assert queue.head(ME).waiting == 2
    assert list(queue.due(0, NOW, 10)) == [(ME, NOW)]


def test_a_destination_that_works_again_does_not_hide_what_arrives_just_then():
    queue, urgent, held = a_queue(), a_row(), a_row(an_event("2"))
    queue.change_destination(ME, lambda each: replace(each, disabled="holiday"))
    queue.enqueue(a_destination(), (replace(held, next_attempt_at=EpochMs(NOW + 24 * 60 * MINUTE)),), now=NOW)
    other = MailboxStore(shards=1)

    just_before(mailboxes, "transaction", lambda: other.enqueue(a_destination(), (urgent,), now=NOW))
    queue.change_destination(ME, lambda each: replace(each, disabled=""))

    assert list(queue.due(0, NOW, 10)) == [(ME, NOW)]


def test_a_drain_that_looks_at_a_disabled_destination_does_not_put_off_what_is_enabled_just_then():
    post = a_post()
    watching(post)
    post.mailboxes.enqueue(a_destination(), (a_row(),), now=NOW)
    post.mailboxes.change_destination(ME, lambda each: replace(each, disabled="holiday"))

    def enabled():
        MailboxStore(shards=1).change_destination(ME, lambda each: replace(each, disabled=""))

    just_before(post.mailboxes, "record", enabled)
    run_drain(post)
    post.clock.now += MINUTE
    run_drain(post)

    assert post.channel.ads == [["910000001"]]


def test_a_channel_that_another_gave_just_now_is_not_overwritten_under_what_was_queued_for_it():
    queue, other = MailboxStore(shards=1), MailboxStore(shards=1)
    by_mail = replace(a_destination(), channel="email", address="me@example.org")

    def another_is_first():
        other.put_destination(by_mail)
        other.enqueue(by_mail, (a_row(),), now=NOW)

    just_before(mailboxes, "transaction", another_is_first)
    with pytest.raises(ConflictError):
        queue.put_destination(a_destination())

    assert queue.head(ME).destination == by_mail
    assert queue.counts() == {"email": Counts(1, 0)}
