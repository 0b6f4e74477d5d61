"""Fills the stack's tables from restored ones. What is there already stays as it is, so it may stop and go on anywhere.

Rows go in as rows of a working stack do, in transactions with their mailbox and its counter: figures are exact at any
moment. Import it only when the tables' names are in the environment.
"""

from collections.abc import Callable, Collection, Iterator
from itertools import batched
from typing import Any

import msgspec
from msgspec import Struct

from lago.domain.ids import DestinationId, EpochMs, Milliseconds, SearchId, Sleep
from lago.domain.mailbox import Row
from lago.domain.notification import Destination
from lago.domain.query import Query
from lago.domain.watch import Watch
from lago.errors import BadInputError, ConflictError, StoreUnavailableError
from lago.store.codec import decode_cursor, encode_cursor
from lago.store.connection import TRIES, connection, find, find_all, translated
from lago.store.deliveries import DeliveryItem
from lago.store.mailboxes import CHUNK, MailboxStore
from lago.store.queue_items import HEAD, QueueItem, head_of
from lago.store.searches import SearchItem, key, search_of
from lago.store.watches import WatchItem, watch_of
from lago_cli import restore_tables
from lago_cli.errors import StackError
from lago_cli.restore_rules import cursor_from, row_from
from lago_cli.restore_tables import Backup

AT_ONCE = 25
"""Entries of the log that a request writes: DynamoDB's own limit for a batch."""
PAUSES = (100, 200, 400, 800, 1_600, 3_200)
"""Milliseconds before entries are written again that DynamoDB had no room for."""


class Given(Struct, frozen=True, kw_only=True):
    """The restored tables, as far as they were given."""

    searches: Backup[SearchItem] | None
    watches: Backup[WatchItem] | None
    queue: Backup[QueueItem] | None
    deliveries: Backup[DeliveryItem] | None

    def check(self) -> None:
        """Raises BadInputError for a table that is not what it is said to be."""
        for backup in (self.searches, self.watches, self.queue, self.deliveries):
            if backup is not None:
                backup.check()


class Report(Struct, kw_only=True):
    """What was restored. `expired` are the dead letters that were waiting; `there` is what was there already.

    `orphans` are rows of mailboxes that are not in the backup, `unread` watches whose search could not be made.
    """

    deliveries: int = 0
    destinations: int = 0
    waiting: int = 0
    dead: int = 0
    expired: int = 0
    watches: int = 0
    searches: int = 0
    there: int = 0
    orphans: int = 0
    unread: list[str] = []
    needs_secret: list[str] = []


class Restorer:
    """Restores into the stack's own tables. Methods may raise StoreUnavailableError, and the AWS library's errors."""

    def __init__(
        self,
        given: Given,
        *,
        told_until: EpochMs,
        search_shards: int,
        queue_shards: int,
        now: EpochMs,
        sleep: Sleep,
        query_of: Callable[[str], Query],
        without_secret: Callable[[Destination], Destination],
    ) -> None:
        """`query_of` reads a search's address; `without_secret` disables a destination that lost its secret."""
        self._given, self._told_until, self._now, self._sleep = given, told_until, now, sleep
        self._search_shards, self._queue = search_shards, MailboxStore(queue_shards)
        self._query_of, self._without_secret = query_of, without_secret
        self.report = Report()

    def filled(self) -> list[str]:
        """Which of the stack's tables hold something that a restore would mix with."""
        searches: Iterator[object] = (
            each for shard in range(self._search_shards) for each in SearchItem.query(str(shard), limit=1)
        )
        with translated():
            found = {
                "searches": next(searches, None),
                "watches": next(iter(WatchItem.scan(limit=1)), None),
                "queue": next(iter(self._queue.destinations()), None),
                "deliveries": next(iter(DeliveryItem.scan(limit=1)), None),
            }
        return [name for name, something in found.items() if something is not None]

    def look(self) -> None:
        """Read all that was given, and count what there is to restore. Raises BadInputError; writes nothing."""
        given, report = self._given, self.report
        if given.deliveries:
            report.deliveries = sum(self._is_of_use(item) for _, item in restore_tables.deliveries(given.deliveries))
        if given.queue:
            found = restore_tables.mailboxes(given.queue)
            report.destinations, report.orphans = len(found.names), found.orphans
            for name in found.names:
                for row in restore_tables.rows(given.queue, name):
                    self._count(row, row_from(row, told_until=self._told_until, now=self._now))
        if given.watches:
            items = list(restore_tables.watches(given.watches))
            report.watches, report.searches = len(items), len({item.search for item in items})
        if given.searches:
            self._check_shards(restore_tables.searches(given.searches))

    def restore(self, step: Callable[[str], None]) -> None:
        """Restore all that was given. First the log and last the searches: what is not yet there is not yet read."""
        self.report = Report()
        given = self._given
        if given.deliveries:
            step("deliveries")
            self._deliveries(given.deliveries)
        if given.queue:
            step("destinations and what waits for them")
            self._mailboxes(given.queue)
        if given.watches:
            step("watches")
            self._watches(given.watches)
        step("searches")
        self._searches({} if given.searches is None else restore_tables.searches(given.searches))

    def _is_of_use(self, item: DeliveryItem) -> bool:
        return int(item.expires_at) > self._now // 1000

    def _deliveries(self, backup: Backup[DeliveryItem]) -> None:
        entries = ((raw, item) for raw, item in restore_tables.deliveries(backup) if self._is_of_use(item))
        for chunk in batched(entries, AT_ONCE, strict=False):
            there = {
                (each.destination, each.ad) for each in find_all(DeliveryItem, (_place(item) for _, item in chunk))
            }
            absent = [raw for raw, item in chunk if _place(item) not in there]
            self._put(DeliveryItem.Meta.table_name, absent)
            self.report.deliveries += len(absent)
            self.report.there += len(there)

    def _put(self, table: str, items: list[dict[str, Any]]) -> None:
        left: Any = [{"PutRequest": {"Item": item}} for item in items]
        pauses = iter(PAUSES)
        while left:
            answer = connection().client.batch_write_item(RequestItems={table: left})
            left = answer.get("UnprocessedItems", {}).get(table, [])
            if left:
                pause = next(pauses, None)
                if pause is None:
                    raise StoreUnavailableError("DynamoDB: entries are left unprocessed, again and again")
                self._sleep(Milliseconds(pause))

    def _mailboxes(self, backup: Backup[QueueItem]) -> None:
        found = restore_tables.mailboxes(backup)
        self.report.orphans = found.orphans
        for name in found.names:
            if self._queue.head(name) is None:
                (head,) = (head_of(item) for item in backup.partition(name) if item.id == HEAD)
                destination = self._without_secret(head.destination)
                if destination != head.destination:
                    self.report.needs_secret.append(name)
                self._queue.put_destination(destination)
                self.report.destinations += 1
            else:
                self.report.there += 1
            self._rows(name, restore_tables.rows(backup, name))

    def _rows(self, name: DestinationId, found: Iterator[Row]) -> None:
        head = self._queue.head(name)
        if head is None:
            raise ConflictError(f"the destination {name} was removed meanwhile")
        for chunk in batched(found, CHUNK, strict=False):
            there = self._queue.known(name, (row.id for row in chunk))
            rows = tuple(row_from(row, told_until=self._told_until, now=self._now) for row in chunk)
            self._queue.enqueue(head.destination, rows, now=self._now)
            self.report.there += len(there)
            for before, row in zip(chunk, rows, strict=True):
                if row.id not in there:
                    self._count(before, row)

    def _count(self, before: Row, row: Row) -> None:
        if row.died is None:
            self.report.waiting += 1
        elif before.died is not None:
            self.report.dead += 1
        else:
            self.report.expired += 1

    def _watches(self, backup: Backup[WatchItem]) -> None:
        for item in restore_tables.watches(backup):
            try:
                with translated():
                    item.save(condition=WatchItem.id.does_not_exist())
            except ConflictError:
                self.report.there += 1
            else:
                self.report.watches += 1

    def _searches(self, backup: dict[str, SearchItem]) -> None:
        """Each search that has watches, with as many as it has."""
        self._check_shards(backup)
        with translated():
            watches = [watch_of(item) for item in WatchItem.scan(consistent_read=True)]
        by_search: dict[SearchId, list[Watch]] = {}
        for watch in sorted(watches, key=lambda each: (each.search, each.created)):
            by_search.setdefault(watch.search, []).append(watch)
        for search, theirs in by_search.items():
            self._search(theirs, backup.get(search))
        self._abandon(by_search.keys())

    def _abandon(self, watched: Collection[str]) -> None:
        """A search that nobody watches retires with the next cycle."""
        for shard in range(self._search_shards):
            with translated():
                for item in list(SearchItem.query(str(shard), consistent_read=True)):
                    if item.id not in watched and item.watches != 0:
                        item.update([SearchItem.watches.set(0)], condition=SearchItem.watches == item.watches)

    def _search(self, watches: list[Watch], backup: SearchItem | None) -> None:
        """The search of these watches, the oldest of them first."""
        place = key(watches[0].search)
        for _ in range(TRIES):
            there = find(SearchItem, *place, consistent=True)
            made = self._made(watches, backup) if there is None else None
            try:
                with translated():
                    if there is not None and there.watches == len(watches):
                        self.report.there += 1
                        return
                    if there is not None:
                        counted = SearchItem.watches.set(len(watches))
                        there.update([counted], condition=SearchItem.watches == there.watches)
                    elif made is not None:
                        made.save(condition=SearchItem.id.does_not_exist())
                    else:
                        self.report.unread += [watch.id for watch in watches]
                        return
            except ConflictError:
                continue
            self.report.searches += 1
            return
        raise ConflictError("a search was changed by others again and again")

    def _made(self, watches: list[Watch], backup: SearchItem | None) -> SearchItem | None:
        """The search as its backup has it, else as the address of its watch says; None when that is not understood."""
        item = SearchItem(*key(watches[0].search), watches=len(watches))
        if backup is not None:
            item.source, item.path, item.params = backup.source, backup.path, backup.params
            item.awaiting = (backup.awaiting or set()).intersection(watch.id for watch in watches) or None
            if backup.cursor is not None:  # without one it takes stock, as it would have
                item.cursor = encode_cursor(cursor_from(self._told_until, decode_cursor(backup.cursor).began))
            return item
        try:
            query = self._query_of(watches[0].url)
        except BadInputError:
            return None
        if query.search_id(self._search_shards) != watches[0].search:
            return None
        item.source, item.path, item.params = query.source, query.path, msgspec.json.encode(query.params)
        item.cursor = encode_cursor(cursor_from(self._told_until, watches[0].created))
        return item

    def _check_shards(self, backup: dict[str, SearchItem]) -> None:
        """Raises StackError where the searches were spread otherwise: they would not be found."""
        for item in backup.values():
            search = search_of(item)
            if search.query.search_id(self._search_shards) != search.id:
                raise StackError(
                    f"The searches of the backup are not spread over {self._search_shards} shards as the stack's are: "
                    "deploy the stack anew with the SearchShards of the lost one."
                )


def _place(item: DeliveryItem) -> tuple[str, str]:
    return item.destination, item.ad
