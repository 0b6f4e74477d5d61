"""What one version of the code makes of the tables: a program that runs with the package of any version on its path.

    PYTHONPATH=CHECKOUT/layers/common:CHECKOUT python tests/store/written.py VERB < TABLES.json > OUT.json

`write` prints the tables of a stack that has done a bit of everything; `read` prints what this version reads in the
tables of standard input; `use` works on them as a stack does, and prints them as they are then. `write` of an older
version made tests/samples/items_v1.json. So it calls what all versions have, and nothing else.
"""

import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import msgspec
from moto import mock_aws
from msgspec.structs import replace

from tests.tables import NAMES, create_tables

Tables = dict[str, list[dict[str, Any]]]
"""Raw items by table."""

HOUR = 3_600_000


def sample(schema: int) -> Any:
    """What a version of that schema wrote, as `items` by table, and what it read in them, as `read`."""
    return json.loads((Path(__file__).parents[1] / "samples" / f"items_v{schema}.json").read_text())


def plain(value: Any) -> Any:
    """An item as JSON can say it: bytes in base64."""
    match value:
        case bytes():
            return b64encode(value).decode()
        case dict():
            return {key: plain(each) for key, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
        case _:
            return value


def raw(value: Any) -> Any:
    """An attribute or item as boto3 takes it."""
    match value:
        case {"B": str(data)}:
            return {"B": b64decode(data)}
        case dict():
            return {key: raw(each) for key, each in value.items()}
        case list():
            return [raw(each) for each in value]
        case _:
            return value


def fill(tables: Tables) -> None:
    """Put the items into their tables."""
    client = boto3.client("dynamodb")
    for name, items in tables.items():
        for item in items:
            client.put_item(TableName=name, Item=raw(item))


def dump() -> Tables:
    """The tables as they are."""
    client = boto3.client("dynamodb")
    found = {}
    for name in NAMES.values():
        items = client.scan(TableName=name)["Items"]
        found[name] = sorted((_sorted(plain(item)) for item in items), key=json.dumps)
    return found


def _sorted(item: dict[str, Any]) -> dict[str, Any]:
    for value in item.values():
        for kind in ("SS", "NS"):
            if kind in value:
                value[kind].sort()
    return dict(sorted(item.items()))


def write() -> None:
    """Do a bit of everything."""
    from lago.domain.ids import AdId, EpochMs, Milliseconds, Minor, SourceName, WatchId  # noqa: PLC0415
    from lago.domain.mailbox import Attempt, Settlement, dead  # noqa: PLC0415
    from lago.domain.search import Cursor, Health, KnownAd  # noqa: PLC0415
    from lago.domain.watch import Filters  # noqa: PLC0415
    from lago.store.deliveries import DeliveryStore  # noqa: PLC0415
    from lago.store.mailboxes import MailboxStore  # noqa: PLC0415
    from lago.store.searches import CycleStore, SearchStore, SourceStore  # noqa: PLC0415
    from lago.store.watches import WatchStore  # noqa: PLC0415
    from tests import builders as a  # noqa: PLC0415

    watches, searches, queue, now = WatchStore(1), SearchStore(), MailboxStore(1), a.NOW
    filters = Filters(exclude_words=("defekt",), price_to=Minor(50_000), drop_percent=5.0)
    me = replace(a.a_destination(), quiet=(1320, 420), club_seconds=600, credentials="/lago/x/telegram-bot-token")
    queue.put_destination(me)
    queue.put_destination(a.a_destination("gone", address="1002"))
    watches.add(a.a_query(), a.a_watch(filters=filters, near=(48.2, 16.4)))
    watches.add(a.a_query(), a.a_watch("w2", destinations=("me", "gone")))
    watches.add(a.a_query("velo"), a.a_watch("w3", keyword="velo", paused="on holiday"))
    window = (
        KnownAd(AdId("910000007"), Minor(10_000), Minor(9_000)),
        KnownAd(AdId("910000003"), None, None),
        KnownAd(AdId("910000001"), Minor(0), Minor(0)),
    )
    cursor = Cursor(began=now, newest=EpochMs(now - 1), highest_id=910000007, window=window, fingerprint="f", total=3)
    found = a.an_event(title="Rad <b> 🚲", seller_name="Anna", coordinates=(48.2, 16.37))
    cheaper = a.an_event("910000007", kind="price_drop", price=9_000, old_price=10_000)
    (search,) = [each for each in searches.in_shard(0) if each.id == a.a_search_id()]
    announced = frozenset({WatchId("w1")})
    events = (a.a_live_event(), found, cheaper)
    searches.commit(search, cursor=cursor, events=events, announced=announced, now=now)
    health = Health(kind="search", reason="an ignored filter", failures=2, since=now, retry_at=EpochMs(now + HOUR))
    searches.set_health(a.a_search_id("velo"), health)
    watches.count_missed(a.a_watch("w3", keyword="velo"), (now,))
    SourceStore().set_health(SourceName("willhaben"), replace(health, kind="blocked", reason="HTTP 403"))
    cycle = CycleStore().begin(0, now, Milliseconds(60_000))
    assert cycle is not None
    CycleStore().end(cycle, EpochMs(now + 1_000))

    history = (Attempt(now, "outage", "HTTP 502"),)
    rows = (
        a.a_row(found, attempts=1, history=history),
        a.a_row(cheaper),
        a.a_row(a.an_event("910000009", price=None), alone=True, lost=1),
    )
    queue.enqueue(me, rows, now=now)
    head = queue.head(me.id)
    assert head is not None
    claim = queue.claim(head, [rows[1].id], now=now, lease_until=EpochMs(now + 60_000))
    buried = Settlement(kept=(dead(rows[1], "outage", EpochMs(now + 5)),), delivered=1, failures=3)
    queue.record(claim, buried, new=False, next_row_at=now, now=now)
    gone = queue.head(a.a_destination("gone").id)
    assert gone is not None
    claim = queue.claim(gone, [], now=now, lease_until=EpochMs(now + 60_000))
    queue.record(claim, Settlement(disabled="blocked by the user"), new=False, next_row_at=None, now=now)
    log = DeliveryStore(400)
    log.log(me.id, (a.a_live_event(), a.an_event("1"), a.an_event("2", price=None)), now)
    _tell_operator(now)


def _tell_operator(now: Any) -> None:
    from lago.domain import operator  # noqa: PLC0415
    from lago.store.operator import OperatorStore  # noqa: PLC0415

    store = OperatorStore()
    if hasattr(operator, "decide"):
        sign = operator.Sign(key="dead-letters", text="1 dead letter", over="No dead letter is left.", mark=1)
        told = operator.decide(store.told(), ("dead-letters",), (sign,), now).told
        told = replace(told, version=told.version + 1)
    else:
        told = operator.alerted(store.told(), "1 dead letter", now)  # type: ignore[attr-defined] # of schema 1
    assert store.put(told)


def read() -> Any:
    """All that this version reads, in builtins."""
    from lago.domain.ids import EpochMs, SourceName  # noqa: PLC0415
    from lago.store.deliveries import DeliveryStore  # noqa: PLC0415
    from lago.store.mailboxes import MailboxStore  # noqa: PLC0415
    from lago.store.operator import OperatorStore  # noqa: PLC0415
    from lago.store.searches import CycleStore, SearchStore, SourceStore  # noqa: PLC0415
    from lago.store.watches import WatchStore  # noqa: PLC0415
    from tests import builders as a  # noqa: PLC0415

    queue = MailboxStore(1)
    names = sorted(queue.destinations())
    events = (a.a_live_event(), a.an_event("1"), a.an_event("2"), a.an_event("3"))
    found = {
        "searches": {each.id: each for each in SearchStore().in_shard(0)},
        "watches": {each.id: each for each in WatchStore(1).all()},
        "heads": {name: queue.head(name) for name in names},
        "waiting": {name: queue.waiting(name, 10) for name in names},
        "dead": {name: queue.dead(name) for name in names},
        "listed": queue.dead_letters(10),
        "counts": queue.counts(),
        "due": [box.destination for box in queue.due(0, EpochMs(a.NOW + HOUR), 10)],
        "told": DeliveryStore(400).told(a.ME, events),
        "source": SourceStore().health(SourceName("willhaben")),
        "cycles": CycleStore().last(),
        "operator": OperatorStore().told().version,
    }
    return msgspec.to_builtins(found, str_keys=True)


def use() -> None:
    """Go on with the tables as a stack does: a commit, a claim that fails, a verdict, a redrive, a resumed watch."""
    from lago.domain.ids import AdId, EpochMs  # noqa: PLC0415
    from lago.domain.mailbox import Settlement  # noqa: PLC0415
    from lago.store.mailboxes import MailboxStore  # noqa: PLC0415
    from lago.store.searches import SearchStore  # noqa: PLC0415
    from lago.store.watches import WatchStore  # noqa: PLC0415
    from tests import builders as a  # noqa: PLC0415

    queue, searches, now = MailboxStore(1), SearchStore(), EpochMs(a.NOW + HOUR)
    search = searches.get(a.a_search_id())
    assert search is not None
    assert search.cursor is not None
    assert search.outbox_id is not None
    searches.clear_outbox(search.id, search.outbox_id)
    known = (*search.cursor.window, replace(search.cursor.window[0], id=AdId("910000011")))
    event = a.an_event("910000011", found=now)
    searches.commit(
        search, cursor=replace(search.cursor, window=known), events=(event,), announced=frozenset(), now=now
    )
    searches.set_health(a.a_search_id("velo"), None)
    WatchStore(1).set_paused(a.a_watch("w3", keyword="velo"), "")
    for row in queue.dead(a.ME):
        queue.redrive(a.a_destination(), (row,), now=now)
    head = queue.head(a.ME)
    assert head is not None
    first, *_ = queue.waiting(a.ME, 10)
    claim = queue.claim(head, [first.id], now=now, lease_until=EpochMs(now + 60_000))
    verdict = Settlement(kept=(replace(first, attempts=first.attempts + 1),), disabled="blocked", address="-1001")
    queue.record(claim, verdict, new=False, next_row_at=now, now=now)


def work(verb: str, tables: Tables) -> Any:
    """What the verb makes of the tables."""
    fill(tables)
    does: dict[str, Callable[[], Any]] = {"write": write, "read": read, "use": use}
    answer = does[verb]()
    return dump() if answer is None else answer


def main() -> None:
    """Run one verb on tables in memory."""
    (verb,) = sys.argv[1:]
    tables = json.load(sys.stdin) if verb != "write" else {}
    with mock_aws():
        create_tables()
        json.dump(work(verb, tables), sys.stdout, indent=1, sort_keys=True)
        sys.stdout.write("\n")


if __name__ == "__main__":
    main()
