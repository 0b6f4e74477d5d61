"""`make bench-cost`: what each kind of work costs, in DynamoDB units and in dollars, against its budget.

Units are read from ReturnConsumedCapacity of an emulator that accounts for items, indexes and transactions (ministack);
nothing is estimated from code. Fails when a budget is exceeded. Prices are those of `lago cost`, before any free tier.
"""

import logging
import os
import socket
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


PORT = _free_port()
os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",
    AWS_REGION="eu-central-1",
    AWS_DEFAULT_REGION="eu-central-1",
    AWS_ENDPOINT_URL=f"http://127.0.0.1:{PORT}",
    SEARCHES_TABLE="searches",
    WATCHES_TABLE="watches",
    QUEUE_TABLE="notification_queue",
    DELIVERIES_TABLE="deliveries",
)

from msgspec.structs import replace

from bench.meter import Meter, Units
from lago.domain.event import PENDING_EVENTS
from lago.domain.ids import AdId, DestinationId, EpochMs, Milliseconds, Minor, WatchId
from lago.domain.mailbox import Settlement, dead
from lago.domain.search import Cursor, KnownAd
from lago.drain import drain
from lago.notify import notify
from lago.operator_alerts import OperatorAlerts
from lago.operator_signs import DrainSigns
from lago.store.connection import connection
from lago.store.dead_letters import DeadLetterStore
from lago.store.operator import OperatorStore
from lago.store.searches import CycleStore, SearchStore, SourceStore
from lago_cli import prices
from scripts.local_stack.cloud import Cloud
from tests.builders import NOW, a_destination, a_query, a_row, a_search_id, a_watch, an_event
from tests.fakes.sending import MINUTE, Post, a_post, outage
from tests.tables import create_tables


class Line(NamedTuple):
    """One budget line of the design and what was measured."""

    work: str
    units: Units
    wru_budget: float | None
    rru_budget: float | None

    @property
    def kept(self) -> bool:
        """Whether both budgets hold."""
        return not (
            (self.wru_budget is not None and self.units.wru > self.wru_budget)
            or (self.rru_budget is not None and self.units.rru > self.rru_budget)
        )


def _cursor() -> Cursor:
    """A search that has read its default two pages of 30 for a while: as full as its window gets."""
    dice = Random(1)
    ids = sorted((dice.randrange(1_890_000_000, 1_910_000_000) for _ in range(120)), reverse=True)
    prices = [Minor(dice.choice([dice.randrange(500, 400_000), 100 * dice.randrange(5, 4_000)])) for _ in ids]
    window = tuple(KnownAd(AdId(str(id_)), price, price) for id_, price in zip(ids, prices, strict=True))
    return Cursor(began=NOW, newest=NOW, highest_id=ids[0], window=window, fingerprint="0123456789abcdef", total=12_345)


def _find(post: Post, *events: object, announced: frozenset[WatchId] = frozenset()) -> None:
    """What a scrape commits."""
    (search,) = SearchStore().in_shard(0)
    SearchStore().commit(search, cursor=_cursor(), events=events, announced=announced, now=EpochMs(post.clock()))  # type: ignore[arg-type]


def _notify(post: Post) -> None:
    report = notify(
        a_search_id(), searches=SearchStore(), watches=post.watches, sender=post.sender, deadline=post.deadline
    )
    assert report.cleared


def _drain(post: Post, signs: DrainSigns | None = None) -> None:
    report = drain(
        mailboxes=post.mailboxes,
        sender=post.sender,
        clock=post.clock,
        batch=50,
        budget=Milliseconds(20_000),
        deadline=post.deadline,
    )
    if signs is not None:
        signs.begin()
        signs.look(dead=report.dead, pending=report.pending)


def _ads(first: int, count: int) -> list[object]:
    title = "Rennrad Nordwind 56 cm, Shimano 105, wenig gefahren"
    return [
        an_event(str(1_910_000_000 + first + n), title=title, seller_name="Rad und Tat GmbH", coordinates=(48.2, 16.37))
        for n in range(count)
    ]


def measure() -> list[Line]:
    """Every budget line of the design, on one table full of what a working stack holds."""
    post = a_post()
    post.mailboxes.put_destination(a_destination())
    post.watches.add(a_query(), a_watch())
    _find(post, announced=frozenset({a_watch().id}))
    meter = Meter(connection().client)
    lines = []

    with meter.reading() as unchanged:
        SearchStore().in_shard(0)
    lines.append(Line("a search that did not change", unchanged(), 0, 0.5))

    with meter.reading() as one:
        _find(post, *_ads(1, 1))
        _notify(post)
    lines.append(Line("one new ad, delivered at once", one(), 8, 5))

    post.clock.now += MINUTE
    with meter.reading() as club:
        _find(post, *_ads(10, 5))
        _notify(post)
    lines.append(Line("five new ads, delivered at once in one club", club(), 16, None))

    post.clock.now += MINUTE
    post.channel.outcomes = [outage()]
    with meter.reading() as failed:
        _find(post, *_ads(20, 1))
        _notify(post)
        post.clock.now += MINUTE
        _drain(post)
    assert post.mailboxes.counts()["telegram"].pending == 0
    more = Units(failed().wru - one().wru, failed().rru - one().rru)
    lines.append(Line("failing once, then delivered: more than at once", more, 20, 8))

    with meter.reading() as idle:
        _drain(post)
    lines.append(Line("a drain with nothing due, counts included", idle(), 0, 1))

    _fill(post)
    with meter.reading() as history:
        _drain(post)
    lines.append(Line("... with 100 dead letters and 50 mailboxes not yet due", history(), 0, 1))

    lines += _operator(post, meter)
    lines += _disabled(post, meter)

    with meter.reading() as lease:
        cycle = CycleStore().begin(0, EpochMs(post.clock()), Milliseconds(58_000))
        assert cycle is not None
        SourceStore().health(a_query().source)
        CycleStore().end(cycle, EpochMs(post.clock()))
    lines.append(Line("beside the searches, once a cycle: lease and record", lease(), None, None))

    _find(post, *_ads(100, PENDING_EVENTS))
    with meter.reading() as full:
        SearchStore().in_shard(0)
    lines.append(Line(f"a search whose outbox is full ({PENDING_EVENTS} ads), a cycle", full(), 0, 10))
    return lines


def _operator(post: Post, meter: Meter) -> list[Line]:
    """Who runs Lago is told through a destination: looked for when something changed, and once an hour."""
    operator = a_destination("operator", address="9")
    post.mailboxes.put_destination(operator)
    signs = DrainSigns(
        OperatorAlerts(operator.id, mailboxes=post.mailboxes, memory=OperatorStore(), clock=post.clock),
        mailboxes=post.mailboxes,
        letters=DeadLetterStore(post.mailboxes),
        clock=post.clock,
    )
    _drain(post, signs)  # queues what is to be told of the dead letters
    _drain(post, signs)  # sends it
    _drain(post, signs)
    with meter.reading() as same:
        _drain(post, signs)
    post.clock.now += 61 * MINUTE
    _drain(post, signs)  # sends what the others wait for, too
    with meter.reading() as hour:
        post.clock.now += 60 * MINUTE
        _drain(post, signs)
    return [
        Line("a drain with an operator to be told, and nothing changed", same(), 0, 1),
        Line("... once an hour, with 20 dead letters looked at and 52 destinations", hour(), 0, 80),
    ]


def _disabled(post: Post, meter: Meter) -> list[Line]:
    """A message waits for a destination that was disabled, until it dies of old age."""
    gone = a_destination("gone", address="8")
    post.mailboxes.put_destination(gone)
    post.mailboxes.enqueue(gone, (a_row(destination=gone.id, created=post.clock()),), now=EpochMs(post.clock()))
    post.mailboxes.change_destination(gone.id, lambda before: replace(before, disabled="on holiday"))
    with meter.reading() as day:
        for _ in range(25 * 60):
            post.clock.now += MINUTE
            _drain(post)
    head = post.mailboxes.head(DestinationId("gone"))
    assert head is not None
    assert (head.waiting, head.dead) == (0, 1)
    return [Line("a message to a disabled destination: a day until it is dead", day(), 500, 2_000)]


def _fill(post: Post) -> None:
    """History and what is not yet due: a drain's reads must not grow with either."""
    far = EpochMs(post.clock() + 3_600_000)
    for n in range(50):
        other = a_destination(f"other{n}", address=str(n))
        post.mailboxes.put_destination(other)
        post.mailboxes.enqueue(other, (a_row(destination=other.id),), now=far)
    for n in range(100):
        row = a_row(an_event(str(n)))
        post.mailboxes.enqueue(a_destination(), (row,), now=post.clock())
        head = post.mailboxes.head(a_destination().id)
        assert head is not None
        claim = post.mailboxes.claim(head, [row.id], now=post.clock(), lease_until=far)
        buried = Settlement(kept=(dead(row, "message", post.clock()),))
        post.mailboxes.record(claim, buried, new=False, next_row_at=None, now=post.clock())


MINUTES = 43_200


def month(lines: list[Line]) -> list[tuple[str, float]]:
    """20 searches every minute, 250 ms apart at 256 MB, 100 notifications a day, for a month, in US dollars."""
    by_work = {line.work: line.units for line in lines}
    one = next(units for work, units in by_work.items() if work.startswith("one new ad"))
    idle = next(units for work, units in by_work.items() if work.startswith("a drain with nothing"))
    lease = next(units for work, units in by_work.items() if work.startswith("beside the searches"))
    sent = 100 * 30
    # 20 items of a search's size are read in one query: its sum is rounded up to 4 KB once
    searches_rru = 20 * 2 / 4 * 0.5
    scrape_seconds, drain_seconds, notify_seconds = 20 * 0.25 + 0.5, 0.1, 0.5
    lambda_gb_s = 0.25 * (MINUTES * (scrape_seconds + drain_seconds) + sent * notify_seconds)
    wru = MINUTES * (lease.wru + idle.wru) + sent * one.wru
    rru = MINUTES * (lease.rru + idle.rru + searches_rru) + sent * one.rru
    express_gb_s = (scrape_seconds + drain_seconds + 0.2) * prices.EXPRESS_GB
    return [
        ("DynamoDB writes", wru * prices.WRITE_UNIT.dollars),
        ("DynamoDB reads", rru * prices.READ_UNIT.dollars),
        ("Lambda time", lambda_gb_s * prices.LAMBDA_GB_SECOND["arm64"].dollars),
        ("Lambda requests", (2 * MINUTES + sent) * prices.LAMBDA_REQUEST.dollars),
        ("EventBridge Scheduler", MINUTES * prices.SCHEDULE.dollars),
        (
            "Step Functions Express",
            MINUTES * (prices.EXPRESS_REQUEST.dollars + express_gb_s * prices.EXPRESS_GB_SECOND.dollars),
        ),
        ("CloudWatch Logs (25 lines of 500 bytes a cycle)", MINUTES * 25 * 500 / 1e9 * prices.LOG_GB.dollars),
    ]


def main() -> int:
    """Print both tables; 1 when a budget is exceeded."""
    logging.getLogger("lago").addHandler(logging.NullHandler())
    with tempfile.TemporaryDirectory() as home:
        cloud = Cloud(
            program=ROOT / ".venv" / "cloud" / "bin" / "ministack",
            port=PORT,
            state=Path(home),
            log=Path(home) / "cloud.log",
            root=Path(home),
        )
        try:
            create_tables(cloud.url)
            lines = measure()
        finally:
            cloud.kill()
    print(f"{'work':72} {'WRU':>6} {'budget':>7} {'RRU':>6} {'budget':>7}")
    for line in lines:
        wru = "-" if line.wru_budget is None else f"{line.wru_budget:g}"
        rru = "-" if line.rru_budget is None else f"{line.rru_budget:g}"
        mark = "" if line.kept else "  EXCEEDED"
        print(f"{line.work:72} {line.units.wru:6g} {wru:>7} {line.units.rru:6g} {rru:>7}{mark}")
    costs = month(lines)
    total = sum(cost for _, cost in costs)
    print("\na month of 20 searches every minute and 100 notifications a day, list prices in US dollars")
    for name, cost in costs:
        print(f"{name:72} {cost:6.2f}")
    print(f"{'in all, beside CloudWatch metric and alarm fees (budget 2.00)':72} {total:6.2f}")
    return 0 if all(line.kept for line in lines) and total < 2 else 1


if __name__ == "__main__":
    sys.exit(main())
