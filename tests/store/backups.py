"""Backups as AWS restores them: the tables' items under other names, while the stack's own tables are new."""

from collections.abc import Callable
from typing import Any

import boto3

from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.notification import Destination
from lago.domain.query import Query
from lago.store.deliveries import DeliveryItem
from lago.store.queue_items import QueueItem
from lago.store.searches import SearchItem
from lago.store.watches import WatchItem
from lago_cli.restore_store import Given, Report, Restorer
from lago_cli.restore_tables import Backup
from tests.builders import NOW, a_query
from tests.store import written
from tests.tables import NAMES

BACKUP = NOW - 7 * 86_400_000
"""When the backup was made."""
LOST = NOW - 3_600_000
"""When the stack was lost."""

KEYS = {
    "searches": ("shard", "id"),
    "watches": ("search", "id"),
    "notification_queue": ("mailbox", "id"),
    "deliveries": ("destination", "ad"),
}
OPTIONS = {"searches": "searches", "watches": "watches", "queue": "notification_queue", "deliveries": "deliveries"}


def lose_the_stack(tables_anew: Callable[[], None]) -> None:
    """What the tables held is in the tables `old-…`; the stack's own are new and empty."""
    kept = written.dump()
    tables_anew()
    bring_back(kept)


def bring_back(kept: written.Tables) -> None:
    """What a restore from a backup makes: tables without the indexes, under other names."""
    client = boto3.client("dynamodb")
    for name in NAMES.values():
        hash_key, range_key = KEYS[name]
        client.create_table(
            TableName=f"old-{name}",
            KeySchema=[
                {"AttributeName": hash_key, "KeyType": "HASH"},
                {"AttributeName": range_key, "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in (hash_key, range_key)],
            BillingMode="PAY_PER_REQUEST",
        )
    written.fill({f"old-{name}": items for name, items in kept.items()})


def given(*options: str) -> Given:
    """The restored tables of these options; all of them when none is named."""
    wanted = options or tuple(OPTIONS)

    def backup(option: str, model: Any) -> Any:
        return Backup(f"--{option}", f"old-{OPTIONS[option]}", model) if option in wanted else None

    return Given(
        searches=backup("searches", SearchItem),
        watches=backup("watches", WatchItem),
        queue=backup("queue", QueueItem),
        deliveries=backup("deliveries", DeliveryItem),
    )


def a_restorer(
    *options: str,
    told_until: int = NOW,
    now: int = NOW,
    search_shards: int = 1,
    query_of: Callable[[str], Query] = lambda _: a_query(),
    without_secret: Callable[[Destination], Destination] = lambda destination: destination,
    sleep: Callable[[Milliseconds], None] = lambda _: None,
) -> Restorer:
    return Restorer(
        given(*options),
        told_until=EpochMs(told_until),
        search_shards=search_shards,
        queue_shards=1,
        now=EpochMs(now),
        sleep=sleep,
        query_of=query_of,
        without_secret=without_secret,
    )


def restored(*options: str, **more: Any) -> Report:
    """Restore them, and say what was."""
    restorer = a_restorer(*options, **more)
    restorer.restore(lambda _: None)
    return restorer.report
