"""A stack that comes back from a backup loses nothing and tells nothing again, however old the backup is."""

import boto3
import pytest
from msgspec.structs import replace

from lago.domain.ids import EpochMs, Milliseconds, WatchId
from lago.domain.mailbox import Settlement, dead
from lago.domain.search import Health
from lago.errors import StoreUnavailableError
from lago.ports import Counts
from lago.scrape import ScrapeSettings, scrape_shard
from lago.store.connection import connection
from lago.store.deliveries import DeliveryStore
from lago.store.mailboxes import MailboxStore
from lago.store.searches import CycleStore, SearchStore, SourceStore
from lago.store.watches import WatchStore
from lago_cli.errors import StackError
from tests.builders import (
    ME,
    NOW,
    WILLHABEN,
    a_cursor,
    a_destination,
    a_query,
    a_row,
    a_search_id,
    a_watch,
    an_event,
)
from tests.fakes.market import Market, an_ad
from tests.fakes.sending import MINUTE, Post, a_post, outage
from tests.store import written
from tests.store.backups import BACKUP, LOST, a_restorer, bring_back, lose_the_stack, restored
from tests.store.steps import found, run_drain, run_notify, watching

HOUR = 60 * MINUTE


def cycle(post: Post, market: Market) -> None:
    """Drain, scrape and notify, as every minute."""
    post.clock.now += MINUTE
    run_drain(post)
    scrape_shard(
        0,
        searches=SearchStore(),
        sources={WILLHABEN: market},
        health=SourceStore(),
        cycles=CycleStore(),
        hand_over=lambda _: None,
        settings=ScrapeSettings(threads=1, full_every=Milliseconds(2 * MINUTE)),
        clock=post.clock,
        random=lambda: 0.5,
    )
    run_notify(post)


def a_stack_that_watches(post: Post, market: Market) -> None:
    """It has its baseline, and has told that the watch is live."""
    post.mailboxes.put_destination(a_destination())
    post.watches.add(a_query(), a_watch())
    cycle(post, market)
    assert post.channel.ads == [["live"]]


def told(post: Post) -> list[tuple[str, str]]:
    """The kind and the ad of each notification that was sent."""
    return [
        (each.kind, getattr(each.event, "ad", "")) for message in post.channel.sent for each in message.notifications
    ]


def a_week_later(tables_anew) -> tuple[Post, Market]:
    """A stack that was lost after a week of ads and price drops; its tables are a week old, and so is its log."""
    market = Market(*(an_ad(n, published=BACKUP - HOUR - n * MINUTE, price=500) for n in range(10)), rows=5)
    before = a_post()
    before.clock.now = BACKUP
    a_stack_that_watches(before, market)
    market.publish(an_ad(50, published=BACKUP + MINUTE))
    cycle(before, market)
    assert told(before)[1:] == [("new_ad", "50")]
    lose_the_stack(tables_anew)

    market.publish(*(an_ad(100 + n, published=BACKUP + (n + 1) * 4 * HOUR) for n in range(41)))
    for n in range(10):
        market.change(n, price=400)
    market.publish(*(an_ad(200 + n, published=LOST + (n + 1) * 10 * MINUTE) for n in range(3)))
    after = a_post()
    after.clock.now = NOW
    return after, market


# nothing is told again


def test_after_a_backup_that_is_a_week_old_only_what_came_since_the_loss_is_told_and_once(tables_anew):
    post, market = a_week_later(tables_anew)

    restored(told_until=LOST)
    for _ in range(5):
        cycle(post, market)

    assert told(post) == [("new_ad", "200"), ("new_ad", "201"), ("new_ad", "202")]
    assert post.mailboxes.counts() == {}


def test_without_such_a_restore_the_week_is_told_again(tables_anew):
    post, market = a_week_later(tables_anew)
    written.fill({name.removeprefix("old-"): items for name, items in _old_tables().items()})

    cycle(post, market)

    assert len(told(post)) > 40


def test_what_came_five_minutes_before_the_loss_is_told_unless_the_log_says_it_was(tables_anew):
    market = Market(an_ad(1, published=BACKUP - HOUR), rows=5)
    before = a_post()
    before.clock.now = BACKUP
    a_stack_that_watches(before, market)
    DeliveryStore(400).log(ME, (an_event("61", price=100),), EpochMs(LOST))
    lose_the_stack(tables_anew)
    market.publish(an_ad(60, published=LOST - 4 * MINUTE), an_ad(61, published=LOST - 3 * MINUTE))
    post = a_post()

    restored(told_until=LOST)
    cycle(post, market)

    assert told(post) == [("new_ad", "60")]


def test_a_price_that_falls_after_the_restore_is_told(tables_anew):
    post, market = a_week_later(tables_anew)
    restored(told_until=LOST)
    cycle(post, market)
    post.channel.sent.clear()

    market.change(202, price=50)
    cycle(post, market)

    assert told(post) == [("price_drop", "202")]


def test_a_search_that_took_stock_after_that_time_tells_nothing_older_than_itself(tables_anew):
    began = replace(a_cursor(), began=EpochMs(LOST), newest=EpochMs(LOST))
    WatchStore(1).add(a_query(), a_watch())
    SearchStore().commit(_search(), cursor=began, events=(), announced=frozenset({WatchId("w1")}), now=NOW)
    lose_the_stack(tables_anew)

    restored(told_until=BACKUP)

    cursor = _search().cursor
    assert cursor is not None
    assert (cursor.began, cursor.newest, cursor.window) == (LOST, LOST, ())


# searches and watches


def test_a_search_forgets_what_it_was_doing_and_keeps_whom_it_owes_a_beginning(tables_anew):
    watches, searches = WatchStore(1), SearchStore()
    watches.add(a_query(), a_watch())
    watches.add(a_query(), a_watch("w2", paused="on holiday"))
    searches.commit(_search(), cursor=a_cursor(), events=(an_event(),), announced=frozenset({WatchId("w1")}), now=NOW)
    searches.set_health(
        a_search_id(), Health(kind="search", reason="gone", failures=9, since=NOW, retry_at=EpochMs(NOW + HOUR))
    )
    CycleStore().begin(0, NOW, Milliseconds(HOUR))
    lose_the_stack(tables_anew)

    report = restored(told_until=LOST)

    search = _search()
    assert (search.outbox, search.outbox_id, search.health, search.watches) == ((), None, None, 2)
    assert search.awaiting == {"w2"}
    assert sorted(watch.paused for watch in watches.all()) == ["", "on holiday"]
    assert CycleStore().begin(0, NOW, Milliseconds(HOUR)) is not None
    assert (report.watches, report.searches) == (2, 1)


def test_a_search_that_never_took_stock_does_so(tables_anew):
    WatchStore(1).add(a_query(), a_watch())
    lose_the_stack(tables_anew)
    market, post = Market(an_ad(1, published=NOW + MINUTE)), a_post()

    restored("watches", "searches", told_until=LOST)
    post.mailboxes.put_destination(a_destination())
    cycle(post, market)

    assert told(post) == [("watch_live", "")]


def test_a_search_without_a_backup_is_made_of_its_watch(tables_anew):
    WatchStore(1).add(a_query(), replace(a_watch(), created=EpochMs(LOST)))
    lose_the_stack(tables_anew)

    report = restored("watches", told_until=BACKUP)

    search = _search()
    assert (search.query, search.watches, search.awaiting) == (a_query(), 1, frozenset())
    assert search.cursor is not None
    assert search.cursor.began == LOST
    assert report.unread == []


def test_a_watch_whose_address_says_another_search_is_named(tables_anew):
    WatchStore(1).add(a_query(), a_watch())
    lose_the_stack(tables_anew)

    report = restored("watches", query_of=lambda _: a_query("velo"))

    assert report.unread == ["w1"]
    assert SearchStore().in_shard(0) == []


def test_searches_are_counted_anew_where_a_table_alone_came_back():
    watches = WatchStore(1)
    for name in ("w1", "w2"):
        watches.add(a_query(), a_watch(name))
    kept = _search().cursor
    boto3.client("dynamodb").delete_item(TableName="watches", Key={"search": {"S": a_search_id()}, "id": {"S": "w2"}})
    bring_back({})

    report = restored("watches", told_until=LOST)

    assert (_search().watches, _search().cursor) == (1, kept)
    assert (report.watches, report.searches) == (0, 1)


def test_a_search_that_nobody_watches_any_more_retires():
    WatchStore(1).add(a_query(), a_watch())
    boto3.client("dynamodb").delete_item(TableName="watches", Key={"search": {"S": a_search_id()}, "id": {"S": "w1"}})

    restored("no table")

    assert _search().watches == 0
    assert SearchStore().retire(_search())


def test_searches_that_were_spread_over_other_shards_are_refused_before_anything_is_written(tables_anew):
    WatchStore(1).add(a_query("velo"), a_watch(keyword="velo"))
    lose_the_stack(tables_anew)
    assert a_query("velo").search_id(7) != a_search_id("velo")

    with pytest.raises(StackError, match="SearchShards"):
        a_restorer(search_shards=7).look()


# the queue


def test_a_mailbox_is_restored_without_claim_and_gate_and_its_figures_are_counted_anew(tables_anew):
    queue = MailboxStore(1)
    away = replace(a_destination(), quiet=(60, 120), club_seconds=600)
    queue.put_destination(away)
    rows = [a_row(an_event(str(n)), created=BACKUP) for n in range(3)]
    queue.enqueue(away, tuple(rows), now=EpochMs(BACKUP))
    claim = queue.claim(queue.head(ME), [rows[0].id], now=EpochMs(BACKUP), lease_until=EpochMs(BACKUP + MINUTE))
    letter = dead(rows[0], "message", EpochMs(BACKUP))
    failed = Settlement(kept=(letter,), failures=4, gate_until=EpochMs(NOW + HOUR))
    queue.record(claim, failed, new=False, next_row_at=None, now=EpochMs(BACKUP))
    queue.claim(queue.head(ME), [rows[1].id], now=EpochMs(BACKUP), lease_until=EpochMs(NOW + HOUR))
    recent = a_row(an_event("9"), created=LOST + 1)
    queue.enqueue(away, (recent,), now=EpochMs(LOST + 1))
    lose_the_stack(tables_anew)

    report = restored(told_until=LOST)

    head = queue.head(ME)
    assert head is not None
    assert head.destination == away
    assert (head.lease_until, head.in_flight, head.failures, head.gate_until) == (None, (), 0, 0)
    assert (head.waiting, head.dead, queue.counts()) == (1, 3, {"telegram": Counts(1, 3)})
    assert [row.id for row in queue.waiting(ME, 10)] == [recent.id]
    died_of = {row.notification.event.ad: row.dead_reason for row in queue.dead(ME)}
    assert died_of == {"0": "message", "1": "expired", "2": "expired"}
    assert [box.destination for box in queue.due(0, NOW, 10)] == [ME]
    assert (report.destinations, report.waiting, report.dead, report.expired) == (1, 1, 1, 2)


def test_what_waited_can_be_redriven_and_is_not_told_when_it_was(tables_anew):
    post = a_post(outage(), outage())
    watching(post)
    found(an_event("1"), an_event("2"))
    run_notify(post)
    DeliveryStore(400).log(ME, (an_event("1"),), NOW)
    lose_the_stack(tables_anew)
    post = a_post()
    post.clock.now = NOW + HOUR

    restored(told_until=NOW + MINUTE, now=NOW + HOUR)
    run_drain(post)
    assert post.channel.sent == []
    post.mailboxes.redrive(a_destination(), post.mailboxes.dead(ME), now=EpochMs(post.clock.now))
    run_drain(post)

    assert told(post) == [("new_ad", "2")]


def test_a_dead_letter_does_not_come_back_by_itself_when_its_destination_recovers(tables_anew):
    queue = MailboxStore(1)
    queue.put_destination(a_destination())
    letter = dead(a_row(an_event("1"), created=BACKUP), "outage", EpochMs(BACKUP))
    queue.enqueue(a_destination(), (letter,), now=EpochMs(BACKUP))
    WatchStore(1).add(a_query(), a_watch())
    lose_the_stack(tables_anew)
    post = a_post(outage())
    restored(told_until=LOST)

    queue.enqueue(a_destination(), (a_row(an_event("2")),), now=NOW)
    for _ in range(4):
        post.clock.now += MINUTE
        run_drain(post)

    assert told(post) == [("new_ad", "2"), ("new_ad", "2")]
    assert [row.notification.event.ad for row in queue.dead(ME)] == ["1"]


def test_rows_whose_mailbox_is_not_in_the_backup_are_left_out_and_counted(tables_anew):
    queue = MailboxStore(1)
    queue.put_destination(a_destination())
    queue.enqueue(a_destination(), (a_row(),), now=NOW)
    boto3.client("dynamodb").delete_item(
        TableName="notification_queue", Key={"mailbox": {"S": ME}, "id": {"S": "head"}}
    )
    lose_the_stack(tables_anew)

    report = restored()

    assert (report.orphans, report.destinations) == (1, 0)
    assert queue.counts() == {}


# the log


def test_the_log_is_restored_as_it_was_but_for_what_has_expired(tables_anew):
    DeliveryStore(400).log(ME, (an_event("1"), an_event("2", price=None)), EpochMs(BACKUP))
    DeliveryStore(1).log(ME, (an_event("3"),), EpochMs(BACKUP))
    before = written.dump()["deliveries"]
    lose_the_stack(tables_anew)

    report = restored()

    assert written.dump()["deliveries"] == before[:2]
    assert report.deliveries == 2


def test_an_entry_that_is_there_already_is_newer_and_stays(tables_anew):
    log = DeliveryStore(400)
    log.log(ME, (an_event("1", price=500), an_event("2")), EpochMs(BACKUP))
    lose_the_stack(tables_anew)
    log.log(ME, (an_event("1", price=300),), NOW)

    report = restored()

    assert log.told(ME, (an_event("1"),))[an_event("1").subject].price == 300
    assert (report.deliveries, report.there) == (1, 1)


def test_entries_that_find_no_room_are_written_after_a_pause(tables_anew, monkeypatch):
    _log_of(60)
    lose_the_stack(tables_anew)
    write = connection().client.batch_write_item
    waits: list[int] = []
    refused = iter((2, 1))

    def throttled(RequestItems):  # noqa: N803 - DynamoDB's own name
        left = next(refused, 0)
        now = {table: asked[left:] for table, asked in RequestItems.items()}
        write(RequestItems=now)
        return {"UnprocessedItems": {table: asked[:left] for table, asked in RequestItems.items() if left}}

    monkeypatch.setattr(connection().client, "batch_write_item", throttled)

    report = restored(sleep=waits.append)

    assert (report.deliveries, len(written.dump()["deliveries"])) == (60, 60)
    assert waits == [100, 200]


def test_a_table_that_takes_nothing_is_an_error_at_last(tables_anew, monkeypatch):
    _log_of(1)
    lose_the_stack(tables_anew)
    monkeypatch.setattr(
        connection().client, "batch_write_item", lambda **asked: {"UnprocessedItems": asked["RequestItems"]}
    )

    with pytest.raises(StoreUnavailableError):
        restored()


def _log_of(entries: int) -> None:
    DeliveryStore(400).log(ME, [an_event(str(n)) for n in range(entries)], EpochMs(BACKUP))


def _search():
    search = SearchStore().get(a_search_id())
    assert search is not None
    return search


def _old_tables() -> written.Tables:
    client = boto3.client("dynamodb")
    names = [name for name in client.list_tables()["TableNames"] if name.startswith("old-")]
    return {name: [written.plain(item) for item in client.scan(TableName=name)["Items"]] for name in names}
