"""What queues are known to suffer from, each symptom by its name. On the queue in memory, which keeps the contract."""

from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from msgspec.structs import replace

from lago.courier import Candidate
from lago.domain.backoff import ALERT
from lago.domain.ids import DestinationId, EpochMs, Milliseconds
from lago.domain.mailbox import Head, Settlement, dead, settle
from lago.domain.outcome import OutcomeKind
from lago.domain.watch import Filters
from lago.drain import DrainReport, drain
from lago.ports import Counts, DueMailbox
from lago.store.queue_items import shard_name
from tests.builders import ME, NOW, a_destination, a_row, an_event
from tests.fakes.sending import MINUTE, Post, a_post, gate, outage, refused

LEASE = Milliseconds(60_000)


def a_queue(*outcomes, destinations: int = 0) -> Post:
    post = a_post(*outcomes, in_memory=True)
    post.mailboxes.put_destination(a_destination())
    for n in range(destinations):
        post.mailboxes.put_destination(a_destination(f"chat{n}", address=str(n)))
    return post


def run_drain(post: Post, budget: int = 20_000) -> DrainReport:
    return drain(
        mailboxes=post.mailboxes,
        sender=post.sender,
        clock=post.clock,
        batch=50,
        budget=Milliseconds(budget),
        deadline=post.deadline,
    )


def claim(post: Post, *rows):
    now = post.clock()
    head = post.mailboxes.head(ME)
    return post.mailboxes.claim(head, [row.id for row in rows], now=now, lease_until=EpochMs(now + LEASE))


def test_a_reaper_that_overwrites_a_finished_message():
    post, row = a_queue(), a_row()
    post.mailboxes.enqueue(a_destination(), (row,), now=NOW)
    slow = claim(post, row)
    post.clock.now += 61_000
    late = claim(post, row)
    post.mailboxes.record(slow, Settlement(done=(row.id,)), new=False, next_row_at=None, now=post.clock())

    failed = Settlement(kept=(dead(row, "outage", post.clock()),), failures=1)
    post.mailboxes.record(late, failed, new=False, next_row_at=None, now=post.clock())

    assert post.mailboxes.row(ME, row.id) is None
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_fifty_that_fail_and_one_fresh():
    post = a_queue(destinations=51)
    post.channel.before_send = lambda message: post.channel.outcomes.append(
        refused(OutcomeKind.DELIVERED) if message.notifications[0].destination == "chat50" else outage()
    )
    for n in range(51):
        destination = a_destination(f"chat{n}", address=str(n))
        post.mailboxes.enqueue(destination, (a_row(destination=f"chat{n}", created=NOW + n),), now=EpochMs(NOW + n))

    post.clock.now += 1_000
    run_drain(post)

    assert post.mailboxes.head(DestinationId("chat50")).waiting == 0
    assert post.mailboxes.counts() == {"telegram": Counts(50, 0)}


def test_a_long_backlog_does_not_keep_a_fresh_message_of_another_from_its_drain(monkeypatch):
    monkeypatch.setattr("lago.drain.THREADS", 1)
    post = a_queue(destinations=1)
    backlog = tuple(a_row(an_event(str(n)), created=NOW + n, alone=True) for n in range(50))
    post.mailboxes.enqueue(a_destination(), backlog, now=NOW)
    post.mailboxes.enqueue(a_destination("chat0"), (a_row(destination="chat0", created=NOW + 1_000),), now=NOW)

    post.clock.now += 2_000
    run_drain(post)

    sent = [message.notifications[0].destination for message in post.channel.sent]
    assert sent.count("chat0") == 1
    assert sent.count(ME) > 15, "what is left of the time is the backlog's"


@pytest.mark.parametrize("left", [0, 1, 500, 1_000, 3_000])
def test_a_function_with_almost_no_time_left_starts_nothing_and_loses_nothing(left: int):
    post, row = a_queue(), a_row()
    deadline = EpochMs(post.clock() + left)
    every = (Filters(),)

    tally = post.sender.deliver(ME, [Candidate(row, every)], deadline=deadline)
    post.sender.drain(ME, soft=EpochMs(NOW + 20_000), deadline=deadline)

    assert (post.channel.sent, tally.queued) == ([], 1)
    assert (post.mailboxes.row(ME, row.id).spent, post.mailboxes.head(ME).lease_until) == (0, None)


def test_the_same_event_delivered_three_times_by_an_asynchronous_invoke():
    post, row = a_queue(), a_row()
    every = (Filters(),)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: post.sender.deliver(ME, [Candidate(row, every)], deadline=post.deadline), range(3)))
    post.clock.now += MINUTE
    run_drain(post)

    assert len(post.channel.sent) == 1
    assert post.mailboxes.counts().get("telegram", Counts(0, 0)) == Counts(0, 0)


def test_a_thousand_snoozes_leave_the_attempts_unchanged():
    post, row = a_queue(*[gate(MINUTE)] * 1_000), a_row()
    post.mailboxes.enqueue(a_destination(), (row,), now=NOW)

    for _ in range(1_000):
        run_drain(post)
        post.clock.now += MINUTE
        fresh = post.mailboxes.row(ME, row.id)
        if fresh is None or fresh.died:
            break  # after a day it has outlived its use, which is not for its attempts

    found = post.mailboxes.row(ME, row.id)
    assert (found.attempts, found.lost) == (0, 0)
    assert len(post.channel.sent) == 1_000 or found.dead_reason == "expired"


def test_a_thousand_gated_and_one_due():
    post = a_queue(destinations=1_001)
    for n in range(1_000):
        gated = a_destination(f"chat{n}", address=str(n))
        post.mailboxes.enqueue(gated, (a_row(destination=f"chat{n}"),), now=EpochMs(NOW + 10 * MINUTE))
    post.mailboxes.enqueue(a_destination("chat1000"), (a_row(destination="chat1000"),), now=NOW)

    run_drain(post)

    assert [message.notifications[0].destination for message in post.channel.sent] == ["chat1000"]


def test_a_bad_request_is_not_tried_for_ever():
    post = a_queue(*[refused(OutcomeKind.MESSAGE)] * 10)
    post.mailboxes.enqueue(a_destination(), (a_row(),), now=NOW)

    for _ in range(10):
        run_drain(post)
        post.clock.now += MINUTE

    assert len(post.channel.sent) == 1
    assert post.mailboxes.counts() == {"telegram": Counts(0, 1)}


def test_ten_thousand_attempts_keep_the_item_under_four_kilobytes():
    head, row = Head(destination=a_destination()), a_row(an_event(title="x" * 120))
    outcome = replace(gate(MINUTE), reason="HTTP 429: " + "🎁" * 122)

    for n in range(10_000):
        settlement = settle(
            head,
            (row,),
            outcome,
            policy=lambda _: ALERT,
            spacing=Milliseconds(0),
            now=EpochMs(NOW + n * MINUTE),
            random=lambda: 0.5,
        )
        (row,) = settlement.kept

    assert len(msgspec.msgpack.encode(row)) < 4_096


def test_the_same_chat_in_order_over_shards():
    shards = {shard_name(DestinationId(f"chat{n}"), 8) for n in range(200)}
    assert len(shards) == 8
    assert len({shard_name(ME, 8) for _ in range(10)}) == 1

    post = a_queue()
    rows = tuple(a_row(an_event(str(n)), created=NOW + n) for n in range(3))
    post.mailboxes.enqueue(a_destination(), rows[::-1], now=NOW)
    post.clock.now += MINUTE
    run_drain(post)

    assert post.channel.ads == [["0"], ["1"], ["2"]]


def test_an_index_that_lags_makes_nothing_look_overdue(monkeypatch):
    post = a_queue()
    post.mailboxes.enqueue(a_destination(), (a_row(),), now=NOW)
    long_ago = DueMailbox(ME, EpochMs(NOW - 20 * 60 * MINUTE))
    monkeypatch.setattr(post.mailboxes, "due", lambda *_: iter([long_ago]))

    report = run_drain(post)

    assert (len(post.channel.sent), report.oldest_due_ms) == (1, 0)


def test_what_could_not_be_sent_though_it_was_due_looks_as_old_as_it_is():
    post, row = a_queue(), a_row()
    post.mailboxes.enqueue(a_destination(), (row,), now=NOW)
    post.clock.now += 20 * MINUTE
    claim(post, row)

    assert run_drain(post).oldest_due_ms == 20 * MINUTE
