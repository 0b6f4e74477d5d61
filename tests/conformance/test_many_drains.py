"""Several drains at once over many due messages, with a far side that fails every third: each message ends once."""

import math
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier

import pytest
from msgspec.structs import replace

from lago.courier import Courier, DeliverySettings
from lago.delivery import Sender
from lago.domain.backoff import ALERT
from lago.domain.ids import DestinationId, EpochMs, Milliseconds, NotificationId, WatchId
from lago.domain.kinds import DAY, Policies
from lago.domain.mailbox import Head, Row
from lago.domain.outcome import OutcomeKind
from lago.drain import DrainReport, drain
from lago.ports import Counts, Deliveries, Mailboxes, Searches, Watches
from lago.store.deliveries import DeliveryStore
from lago.store.mailboxes import MailboxStore
from lago.store.searches import SearchStore
from lago.store.watches import WatchStore
from tests.builders import NOW, a_destination, a_query, a_row, a_search_id, a_watch, an_event
from tests.conformance.engines import DYNAMODB_LOCAL
from tests.conformance.far_side import LATENCY, FarSide, StandingClock
from tests.contracts.mailboxes_base import FOREVER
from tests.fakes.deliveries import FakeDeliveries
from tests.fakes.mailboxes import FakeMailboxes
from tests.fakes.searches import FakeSearches
from tests.fakes.sending import FakeSecrets
from tests.fakes.watches import FakeWatches

MINUTE = 60_000
SHARDS = 4
ONE_BY_ONE = 10
"""A threshold that no mailbox exceeds: each message is one send."""
MOST_ROUNDS = 300


@dataclass
class Stores:
    """What one drain talks to: handles of its own where a process would have them."""

    mailboxes: Mailboxes
    deliveries: Deliveries
    watches: Watches
    searches: Searches


class FarMailboxes(FakeMailboxes):
    """As far away as a database: between reading a head and the claim, others get their turn."""

    def head(self, destination: DestinationId) -> Head | None:
        found = super().head(destination)
        time.sleep(LATENCY)
        return found


def in_memory() -> Callable[[], Stores]:
    stores = Stores(FarMailboxes(SHARDS), FakeDeliveries(), FakeWatches(), FakeSearches())
    return lambda: stores


def on_dynamodb() -> Stores:
    return Stores(MailboxStore(SHARDS), DeliveryStore(400), WatchStore(), SearchStore())


@dataclass
class Day:
    """Drains that run together, minute by minute, until nothing waits any more."""

    stores: Callable[[], Stores]
    drains: int
    chats: int
    per_chat: int
    club_threshold: int
    far: FarSide
    clock: StandingClock = field(default_factory=StandingClock)
    reports: list[DrainReport] = field(default_factory=list)
    rounds: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.here = self.stores()
        self.rows: dict[DestinationId, tuple[Row, ...]] = {}
        for n in range(self.chats):
            chat = DestinationId(f"chat-{n}")
            self.here.mailboxes.put_destination(a_destination(chat, address=str(n)))
            self.here.watches.add(a_query(), a_watch(f"w-{chat}", destinations=(chat,)))
            self.rows[chat] = tuple(_row(chat, n) for n in range(self.per_chat))
            self.here.mailboxes.enqueue(a_destination(chat), self.rows[chat], now=NOW)

    def sender(self) -> tuple[Mailboxes, Sender]:
        """What a Drain function makes of its own."""
        stores = self.stores()
        courier = Courier(
            mailboxes=stores.mailboxes,
            deliveries=stores.deliveries,
            watches=stores.watches,
            channels={"telegram": self.far},
            secrets=FakeSecrets(),
            settings=DeliverySettings(
                policies=Policies(alert=ALERT), lease=Milliseconds(MINUTE), club_threshold=self.club_threshold
            ),
            clock=self.clock,
            sleep=self.clock.sleep,
            random=lambda: 0.5,
        )
        return stores.mailboxes, Sender(courier, stores.searches)

    def run(self) -> None:
        started = time.perf_counter()
        drains = [self.sender() for _ in range(self.drains)]
        together = Barrier(self.drains)

        def one(drain_: tuple[Mailboxes, Sender]) -> DrainReport:
            together.wait()
            mailboxes, sender = drain_
            return drain(
                mailboxes=mailboxes,
                sender=sender,
                clock=self.clock,
                batch=50,
                budget=Milliseconds(20_000),
                deadline=EpochMs(self.clock() + MINUTE),
            )

        with ThreadPoolExecutor(self.drains) as pool:
            while self._next_minute():
                self.rounds += 1
                assert self.rounds <= MOST_ROUNDS, "it does not end"
                self.reports += pool.map(one, drains)
        self.seconds = time.perf_counter() - started

    def _next_minute(self) -> bool:
        """Go on to when something is due; false when nothing waits."""
        queue = self.here.mailboxes
        due = [box for shard in range(SHARDS) for box in queue.due(shard, FOREVER, self.chats)]
        if not due:
            return False
        if all(queue.head(box.destination).destination.disabled for box in due):
            self.clock.now += DAY + MINUTE  # what waits for a chat that blocked us waits in vain
        else:
            minutes = math.ceil((min(box.due_at for box in due) - NOW) / MINUTE)
            self.clock.now = max(self.clock.now, NOW + minutes * MINUTE)
        return True

    def letters(self) -> dict[NotificationId, Row]:
        """The dead letters."""
        return {row.id: row for chat in self.rows for row in self.here.mailboxes.dead(chat)}

    def total(self, figure: str) -> int:
        return sum(getattr(report.tally, figure) for report in self.reports)

    def figures(self, where: str) -> str:
        """A line for the documentation."""
        answers = self.far.answers
        sends = answers.total()
        reasons = Counter(str(letter.dead_reason) for letter in self.letters().values())
        return (
            f"{self.drains} drains at once, {where}, {self.chats * self.per_chat:,} messages for {self.chats:,} chats "
            f"({'one by one' if self.club_threshold == ONE_BY_ONE else 'in clubs'}): {self.seconds:.1f} s, "
            f"{sends:,} sends ({sends / self.seconds:,.0f} a second) in {self.rounds} rounds; "
            f"{sum(map(len, self.far.told.values())):,} messages delivered once; answers "
            f"{', '.join(f'{kind.value} {count:,}' for kind, count in sorted(answers.items()))}; dead "
            f"{', '.join(f'{reason} {count:,}' for reason, count in sorted(reasons.items()))}"
        )


def _row(chat: DestinationId, n: int) -> Row:
    row = a_row(an_event(str(n)), destination=chat, created=NOW - 60 + n)
    return replace(row, notification=replace(row.notification, watches=(WatchId(f"w-{chat}"),)))


def assert_each_ended_once(day: Day) -> None:
    """Delivered exactly once or dead with the right reason, charged for what it was to be charged for."""
    letters, far = day.letters(), day.far
    for row in (row for rows in day.rows.values() for row in rows):
        heard, letter = far.heard[row.id], letters.get(row.id)
        if letter is None:
            assert heard[-1] is OutcomeKind.DELIVERED
            assert heard.count(OutcomeKind.DELIVERED) == 1
            continue
        assert OutcomeKind.DELIVERED not in heard
        assert letter.lost == 0
        match letter.dead_reason:
            case "message":
                assert heard[-1] is OutcomeKind.MESSAGE
            case "outage" | "ambiguous":
                assert heard[-1].value == letter.dead_reason
                assert far.charged[row.id] == ALERT.attempts * (letter.generation + 1)
            case reason:
                assert (reason, row.notification.destination in far.blocked) == ("expired", True)


def assert_all_is_counted_and_at_rest(day: Day) -> None:
    queue, letters = day.here.mailboxes, day.letters()
    delivered = sum(len(told) for told in day.far.told.values())
    assert queue.counts() == {"telegram": Counts(0, len(letters))}
    assert delivered + len(letters) == day.chats * day.per_chat
    assert (day.total("delivered"), day.total("queued"), day.total("cancelled")) == (delivered, 0, 0)
    assert day.total("ambiguous") == day.far.answers[OutcomeKind.AMBIGUOUS]
    assert {report.failed for report in day.reports} == {0}
    for chat, rows in day.rows.items():
        head = queue.head(chat)
        assert (head.waiting, head.due_at, head.lease_until, head.in_flight, head.suspects) == (0, None, None, (), ())
        assert bool(head.destination.disabled) is (chat in day.far.blocked)
        assert bool(day.here.watches.get(a_search_id(), WatchId(f"w-{chat}")).paused) is (chat in day.far.blocked)
        told = day.here.deliveries.told(chat, [row.notification.event for row in rows])
        assert len(told) == len(day.far.told[chat])


def assert_order_was_kept(day: Day) -> None:
    """But for what came back from the dead after others had gone on."""
    for chat, rows in day.rows.items():
        order = {row.id: place for place, row in enumerate(rows)}
        places = [order[id_] for id_ in day.far.told[chat] if day.far.charged[id_] < ALERT.attempts]
        assert places == sorted(places)


@pytest.mark.parametrize("club_threshold", [ONE_BY_ONE, 3], ids=["one by one", "in clubs"])
@pytest.mark.parametrize("drains", [2, 4])
def test_ten_thousand_messages_in_memory_end_once_each(drains: int, club_threshold: int, record_property) -> None:
    day = Day(in_memory(), drains, chats=1_000, per_chat=10, club_threshold=club_threshold, far=FarSide(seed=drains))

    day.run()

    assert day.far.broken == []
    assert_each_ended_once(day)
    assert_all_is_counted_and_at_rest(day)
    if club_threshold == ONE_BY_ONE:
        assert_order_was_kept(day)
    record_property("figures", day.figures("in memory"))


@pytest.mark.parametrize("engine", [DYNAMODB_LOCAL], indirect=True)
@pytest.mark.parametrize("drains", [2, 4])
def test_three_hundred_messages_on_amazons_engine_end_once_each(drains: int, tables: str, record_property) -> None:
    # six for each chat: this engine takes ten writes in a transaction, and a mailbox is buried in one
    day = Day(on_dynamodb, drains, chats=50, per_chat=6, club_threshold=ONE_BY_ONE, far=FarSide(seed=drains))

    day.run()

    assert day.far.broken == []
    assert_each_ended_once(day)
    assert_all_is_counted_and_at_rest(day)
    assert_order_was_kept(day)
    record_property("figures", day.figures(DYNAMODB_LOCAL))
