"""Anything may happen to one mailbox, in any order: a found event is told, waits, is dead or cancelled, never nowhere.

Hypothesis plays the world: scrapes, wake-ups, drains, people, clocks, a far side that misbehaves, a store that fails or
a process that dies at any call. What the far side received is known only to this test.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import hypothesis.strategies as st
import pytest
from botocore.exceptions import ReadTimeoutError
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from lago.domain.ids import NotificationId
from lago.domain.mailbox import Head, Row
from lago.domain.notification import Destination, Message, notification_id
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.errors import ConflictError, StoreUnavailableError
from lago.store.connection import connection
from lago.store.queue_items import HEAD, QueueItem, row_of
from lago.store.queue_reads import Counts
from tests.builders import ME, a_destination, a_query, a_search_id, a_watch, an_event
from tests.fakes.sending import MINUTE, FakeChannel, Post, WorkerKilledError, a_post, gate, outage, refused
from tests.store.steps import announced, found, outbox, run_drain, run_notify

pytestmark = pytest.mark.proof

OUTCOMES: dict[str, Outcome] = {
    "delivers": DELIVERED,
    "moves": Outcome(kind=OutcomeKind.DELIVERED, address="-100200"),
    "loses the answer": refused(OutcomeKind.AMBIGUOUS),
    "hangs": refused(OutcomeKind.AMBIGUOUS),
    "is down": outage(),
    "is busy": gate(90_000),
    "refuses": refused(OutcomeKind.MESSAGE),
    "breaks": refused(OutcomeKind.RENDER),
    "blocks": refused(OutcomeKind.DESTINATION, "blocked"),
}
RECEIVED = ("delivers", "moves", "loses the answer")
HOW: list[dict[str, Any]] = [
    {"digest_at": None, "club_seconds": 0},
    {"digest_at": 18 * 60},
    {"club_seconds": 600},
    {"disabled": "holiday"},
    {"disabled": ""},
]
DURING = ("a wake-up", "a drain", "a slow minute", "death before", "death after")
"""What happens in the middle of a send that is then delivered."""
ACTS = st.lists(st.sampled_from([*OUTCOMES, *DURING]), max_size=4)
FAULTS = ("down", "answer lost", "killed", "killed after")
OTHERS = ("a wake-up", "a drain", "a cancellation", "an acknowledgement")
"""What another worker, or a person, does just before the n-th call of the store."""
DISTURBANCES = st.none() | st.tuples(st.integers(1, 20), st.sampled_from([*FAULTS, *OTHERS]))

Disturbance = tuple[int, str] | None


class FarSide(FakeChannel):
    """Does as the acts say, then delivers; counts what it received."""

    def __init__(self, world: "QueueMachine") -> None:
        super().__init__()
        self.world = world
        self.acts: list[str] = []
        self.received: Counter[NotificationId] = Counter()
        self.in_doubt: Counter[NotificationId] = Counter()
        """How often it was received in a run in which something broke, so that it may come again."""
        self.sending = False

    def send(self, destination: Destination, secret: str, message: Message) -> Outcome:
        assert not self.sending, "two senders at a time"
        act = self.acts.pop(0) if self.acts else "delivers"
        ids = [each.id for each in message.notifications]
        self.world.in_run += ids
        if act == "death before":
            raise WorkerKilledError
        if act in DURING:
            self._meanwhile(act)
        if act in RECEIVED or act in DURING:
            self.received.update(ids)
        if act in ("death after", "loses the answer", "a slow minute"):
            self.world.disturbed = True
        if act == "death after":
            raise WorkerKilledError
        return OUTCOMES.get(act, DELIVERED)

    def _meanwhile(self, act: str) -> None:
        acts, self.acts = self.acts, []
        if act == "a slow minute":
            self.world.post.clock.now += 61_000  # the lease is over: a second sender is right to start
        else:
            self.sending = True
        self.world.others_do("a wake-up" if act == "a wake-up" else "a drain")
        self.acts, self.sending = acts, False


class QueueMachine(RuleBasedStateMachine):
    """One destination, one search, at most one watch at a time."""

    tables_anew: Callable[[], None]

    def __init__(self) -> None:
        super().__init__()
        type(self).tables_anew()
        self.far = FarSide(self)
        self.post: Post = a_post(channel=self.far)
        self.ads, self.watch_ids = count(1), count(1)
        self.committed: set[NotificationId] = set()
        self.unwanted: set[NotificationId] = set()
        """What was found for a watch that is removed or paused by now: nobody has to hear of it."""
        self.watch = a_watch("w0")
        self.watched = False
        self.stale: Head | None = None
        self.in_run: list[NotificationId] = []
        self.disturbed = False

    @initialize()
    def a_person_watches(self) -> None:
        self.post.mailboxes.put_destination(a_destination())
        self.watch_again()

    # the world

    @precondition(lambda self: self.watched)
    @rule(new=st.integers(1, 6))
    def a_scrape_finds(self, new: int) -> None:
        if len(outbox()) + new > 100:
            return
        events = [an_event(str(next(self.ads)), found=self.post.clock.now) for _ in range(new)]
        found(*events)
        self.committed |= {notification_id(ME, event) for event in events}

    @rule(acts=ACTS, at=DISTURBANCES)
    def a_wake_up(self, acts: list[str], at: Disturbance) -> None:
        with self._run(acts, at):
            run_notify(self.post)

    @rule(acts=ACTS, at=DISTURBANCES)
    def a_drain(self, acts: list[str], at: Disturbance) -> None:
        with self._run(acts, at):
            run_drain(self.post)

    @rule(passed=st.sampled_from([1_000, 30_000, 61_000, 2 * MINUTE, 17 * MINUTE, 25 * 60 * MINUTE]))
    def time_passes(self, passed: int) -> None:
        self.post.clock.now += passed

    @rule()
    def a_worker_reads_the_head(self) -> None:
        self.stale = self.post.mailboxes.head(ME)

    @precondition(lambda self: self.stale is not None)
    @rule()
    def a_worker_with_an_old_head_claims_and_dies(self) -> None:
        assert self.stale is not None
        now = self.post.clock()
        before = self.head
        with suppress(ConflictError):
            self.post.mailboxes.claim(
                self.stale, (), now=now, lease_until=now + MINUTE, suspects=self.stale.suspects_beside((), now)
            )
            assert (before.epoch, before.waiting) == (self.stale.epoch, self.stale.waiting)
            assert not before.leased(now)

    @rule()
    def an_old_sender_acknowledges(self) -> None:
        known = [id_ for id_ in self.rows() if self.far.received[id_]]
        self.post.mailboxes.acknowledge(self.head.destination, known)

    # a person

    @rule()
    def dead_letters_are_redriven(self) -> None:
        rows = [row for row in self.rows().values() if row.died is not None]
        assert self.post.mailboxes.redrive(self.head.destination, rows, now=self.post.clock()) == len(rows)

    @rule()
    def the_destination_is_set_up_again(self) -> None:
        self.post.mailboxes.put_destination(a_destination())
        self.post.watches.set_paused(self.watch, "")

    @rule(how=st.sampled_from(HOW))
    def a_person_says_how_it_is_told(self, how: dict[str, Any]) -> None:
        self.post.mailboxes.change_destination(ME, lambda each: replace(each, **how))

    @precondition(lambda self: self.watched)
    @rule(cancels=st.booleans())
    def the_watch_is_removed(self, cancels: bool) -> None:
        self.post.watches.remove(self.watch)
        self.watched = False
        self.unwanted |= self.committed
        if cancels:
            self.cancel_all()

    def cancel_all(self) -> None:
        waiting = [row for row in self.rows().values() if row.died is None]
        self.post.mailboxes.cancel(self.head.destination, waiting)

    @precondition(lambda self: not self.watched)
    @rule()
    def watch_again(self) -> None:
        self.watch = a_watch(f"w{next(self.watch_ids)}", created=self.post.clock.now)
        self.post.watches.add(a_query(), self.watch)
        announced(self.watch)
        self.watched = True

    # what always holds

    @property
    def head(self) -> Head:
        head = self.post.mailboxes.head(ME)
        assert head is not None
        return head

    def rows(self) -> dict[NotificationId, Row]:
        return {NotificationId(item.id): row_of(item) for item in QueueItem.query(ME) if item.id != HEAD}

    @invariant()
    def every_event_is_told_or_waits_or_is_dead_or_cancelled(self) -> None:
        pending = {notification_id(ME, event) for event in outbox()}
        nowhere = self.committed - self.far.received.keys() - self.rows().keys() - pending - self.unwanted
        assert not nowhere

    @invariant()
    def nothing_is_told_again_unless_something_broke(self) -> None:
        assert all(times <= 1 + self.far.in_doubt[id_] for id_, times in self.far.received.items())

    @invariant()
    def counters_equal_the_rows(self) -> None:
        died = [row.died is not None for row in self.rows().values()]
        counted = self.post.mailboxes.counts().get("telegram", Counts(0, 0))
        assert counted == Counts(died.count(False), died.count(True))
        assert self.head_or_none() is None or self.head.waiting == counted.pending

    def head_or_none(self) -> Head | None:
        return self.post.mailboxes.head(ME)

    @invariant()
    def a_mailbox_in_which_something_waits_is_looked_at_in_time(self) -> None:
        waiting = [row.next_attempt_at for row in self.rows().values() if row.died is None]
        if not waiting:
            return
        head = self.head
        assert head.due_at is not None
        rest = 17 * MINUTE if head.destination.disabled else 0
        assert head.due_at <= max(self.post.clock() + rest, head.gate_until, min(waiting))

    def teardown(self) -> None:
        """Whatever happened: once everybody behaves, all is settled within hours, or with its digest."""
        if self.head_or_none() is None:
            return
        self.the_destination_is_set_up_again()
        for _ in range(120):
            self.post.clock.now += 17 * MINUTE
            self.a_wake_up([], None)
            self.a_drain([], None)
            if not outbox() and self.head.due_at is None:
                break
        head = self.head
        assert (outbox(), head.waiting, head.due_at) == ((), 0, None)
        assert self.unwanted.issuperset(head.in_flight), "whose outbox still came was charged"
        self.every_event_is_told_or_waits_or_is_dead_or_cancelled()
        self.nothing_is_told_again_unless_something_broke()
        self.counters_equal_the_rows()

    # how it is run

    def others_do(self, what: str) -> None:
        with suppress(StoreUnavailableError, WorkerKilledError):
            match what:
                case "a wake-up":
                    run_notify(self.post)
                case "a drain":
                    run_drain(self.post)
                case "a cancellation" if not self.watched:
                    self.cancel_all()
                case "an acknowledgement":
                    self.an_old_sender_acknowledges()

    @contextmanager
    def _run(self, acts: list[str], at: Disturbance) -> Iterator[None]:
        self.far.acts, self.in_run, self.disturbed = list(acts), [], False
        pending = {notification_id(ME, event) for event in outbox()}
        with self._disturbing(at), suppress(StoreUnavailableError, WorkerKilledError):
            yield
        if self.disturbed:
            self.far.in_doubt.update(set(self.in_run))
        if any(watch.paused for watch in self.post.watches.of(a_search_id())):
            self.unwanted |= pending  # its destination is blocked: what comes is counted as missed, not told

    @contextmanager
    def _disturbing(self, at: Disturbance) -> Iterator[None]:
        """At the n-th call of the store, once: a fault, before or after it was applied, or what others do then."""
        calls = count(1)
        nth, kind = at or (0, "")
        after = kind in ("answer lost", "killed after")
        pending = False

        def strike() -> None:
            if kind in OTHERS:
                self.others_do(kind)
                return
            self.disturbed = True
            if kind.startswith("killed"):
                raise WorkerKilledError
            raise ReadTimeoutError(endpoint_url="https://dynamodb")

        def before_call(**_: object) -> None:
            nonlocal pending
            if next(calls) == nth:
                pending = after
                if not after:
                    strike()

        def after_call(**_: object) -> None:
            nonlocal pending
            if pending:
                pending = False
                strike()

        events = connection().client.meta.events
        events.register_first("before-call.dynamodb.*", before_call)
        events.register("after-call.dynamodb.*", after_call)
        try:
            yield
        finally:
            events.unregister("before-call.dynamodb.*", before_call)
            events.unregister("after-call.dynamodb.*", after_call)


def test_whatever_happens_nothing_is_lost_stranded_or_doubled(tables_anew):
    QueueMachine.tables_anew = staticmethod(tables_anew)
    run_state_machine_as_test(
        QueueMachine,
        settings=settings(
            max_examples=20,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
