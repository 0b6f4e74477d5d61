"""The restored tables, read only: that each is what it is said to be, and all in it can be read.

Import it only when the tables' names are in the environment.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError
from msgspec import Struct

from lago.domain.ids import DestinationId
from lago.domain.mailbox import Row
from lago.errors import BadInputError, NewerItemError
from lago.store.connection import Table, connection
from lago.store.deliveries import DeliveryItem
from lago.store.queue_items import DIRECTORY, HEAD, QueueItem, head_of, row_of
from lago.store.schema import SCHEMA, schema_of
from lago.store.searches import META, SearchItem, search_of
from lago.store.watches import WatchItem, watch_of

PAGE = 400
"""Items a read brings: as many are in memory at a time."""

_KEYS: Mapping[type[Table], tuple[str, str]] = {
    SearchItem: ("shard", "id"),
    WatchItem: ("search", "id"),
    QueueItem: ("mailbox", "id"),
    DeliveryItem: ("destination", "ad"),
}

Raw = dict[str, Any]


class Backup[M: Table]:
    """One restored table. Every method may raise the AWS library's errors, or BadInputError for what it holds."""

    def __init__(self, option: str, name: str, model: type[M]) -> None:
        """`option` is what the person named the table with, for messages."""
        self.option, self.name, self._model = option, name, model

    def check(self) -> None:
        """Raises BadInputError when it is not there, not ready, one of the stack's own or another kind of table."""
        if self.name in {model.Meta.table_name for model in _KEYS}:
            raise self._wrong("a restored table, not the stack's own")
        table = self._described()
        if table is None:
            raise self._wrong("a table of this account and region")
        if table["TableStatus"] != "ACTIVE":
            raise self._wrong(f"a table that is ready: this one is {table['TableStatus'].lower()} yet")
        keys = {each["KeyType"]: each["AttributeName"] for each in table["KeySchema"]}
        if (keys.get("HASH"), keys.get("RANGE")) != _KEYS[self._model]:
            raise self._wrong(f"a table with the keys {' and '.join(_KEYS[self._model])}")

    def contents(self) -> Iterator[tuple[Raw, M]]:
        """All items, raw and read, page by page. Raises BadInputError for one that this version does not read whole."""
        pages = connection().client.get_paginator("scan")
        for page in pages.paginate(TableName=self.name, ConsistentRead=True, PaginationConfig={"PageSize": PAGE}):
            for raw in page["Items"]:
                yield raw, self._read(raw)

    def partition(self, value: str) -> Iterator[M]:
        """The items of one partition."""
        pages = connection().client.get_paginator("query")
        for page in pages.paginate(
            TableName=self.name,
            ConsistentRead=True,
            KeyConditionExpression="#p = :p",
            ExpressionAttributeNames={"#p": _KEYS[self._model][0]},
            ExpressionAttributeValues={":p": {"S": value}},
            PaginationConfig={"PageSize": PAGE},
        ):
            yield from (self._read(raw) for raw in page["Items"])

    def broken(self, item: M) -> BadInputError:
        """For an item that cannot be what it should."""
        names = _KEYS[self._model]
        key = " / ".join(str(getattr(item, name)) for name in names)
        return self._wrong(f"a table of Lago's: its item {key} cannot be read")

    def _described(self) -> Raw | None:
        try:
            table: Raw = connection().client.describe_table(TableName=self.name)["Table"]
        except ClientError as error:
            if error.response["Error"]["Code"] != "ResourceNotFoundException":
                raise
            return None
        return table

    def _read(self, raw: Raw) -> M:
        item = self._model.from_raw_data(raw)
        if schema_of(item) > SCHEMA:
            raise self._wrong(f"what this version wrote, or an older one: use the `lago` of schema {schema_of(item)}")
        return item

    def _wrong(self, expected: str) -> BadInputError:
        return BadInputError(self.option, self.name, expected)


class Mailboxes(Struct, kw_only=True):
    """What is in a restored queue: mailboxes by name, and rows whose mailbox is not there."""

    names: list[DestinationId]
    orphans: int = 0


def searches(backup: Backup[SearchItem]) -> dict[str, SearchItem]:
    """The searches by id, each checked."""
    found: dict[str, SearchItem] = {}
    for _, item in backup.contents():
        if item.shard == META:
            continue
        try:
            search = search_of(item)
        except (NewerItemError, TypeError):  # TypeError: an attribute that every search has is missing
            raise backup.broken(item) from None
        found[search.id] = item
    return found


def watches(backup: Backup[WatchItem]) -> Iterator[WatchItem]:
    """The watches, each checked."""
    for _, item in backup.contents():
        try:
            watch = watch_of(item)
        except (NewerItemError, TypeError):
            raise backup.broken(item) from None
        if (watch.search, watch.id) != (item.search, item.id):
            raise backup.broken(item)
        yield item


def mailboxes(backup: Backup[QueueItem]) -> Mailboxes:
    """The mailboxes, and every row checked."""
    heads, rows = [], []
    for _, item in backup.contents():
        if item.mailbox == DIRECTORY or "#" in item.mailbox:
            continue  # made anew from what is restored
        try:
            if item.id == HEAD and item.destination is not None:
                heads.append(head_of(item).destination.id)
            elif item.row is not None and (row := row_of(item)).id == item.id:
                rows.append(row.notification.destination)
            else:
                raise backup.broken(item)
        except NewerItemError:
            raise backup.broken(item) from None
    return Mailboxes(names=sorted(heads), orphans=sum(name not in set(heads) for name in rows))


def rows(backup: Backup[QueueItem], mailbox: DestinationId) -> Iterator[Row]:
    """The rows of one mailbox, waiting or dead."""
    for item in backup.partition(mailbox):
        if item.id != HEAD:
            yield row_of(item)


def deliveries(backup: Backup[DeliveryItem]) -> Iterator[tuple[Raw, DeliveryItem]]:
    """The log's entries, raw and read, each checked."""
    for raw, item in backup.contents():
        if item.kind is None or item.told_at is None or item.expires_at is None:
            raise backup.broken(item)
        yield raw, item
