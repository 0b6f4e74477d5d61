"""The tables: keys, indexes, what is kept and what wakes Notify."""

from typing import Any

import pytest

from tests.infra.stack import Properties, Stack

TABLES = ("SearchesTable", "WatchesTable", "QueueTable", "DeliveriesTable")
STACK = Stack()


def keys(described: Properties) -> dict[str, str]:
    return {key["KeyType"]: key["AttributeName"] for key in described["KeySchema"]}


def attribute_types(table: Properties) -> dict[str, str]:
    return {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}


@pytest.mark.parametrize(
    ("name", "hash_key", "range_key"),
    [
        ("SearchesTable", "shard", "id"),
        ("WatchesTable", "search", "id"),
        ("QueueTable", "mailbox", "id"),
        ("DeliveriesTable", "destination", "ad"),
    ],
)
def test_every_table_has_the_keys_that_the_store_uses(name: str, hash_key: str, range_key: str) -> None:
    table = STACK.properties(name)

    assert keys(table) == {"HASH": hash_key, "RANGE": range_key}
    assert attribute_types(table)[hash_key] == attribute_types(table)[range_key] == "S"


def test_the_queue_finds_what_waits_what_is_due_and_what_is_dead() -> None:
    table = STACK.properties("QueueTable")
    indexes: dict[str, Any] = {
        index["IndexName"]: (keys(index), index["Projection"])
        for index in table["LocalSecondaryIndexes"] + table["GlobalSecondaryIndexes"]
    }

    assert indexes == {
        "waiting": ({"HASH": "mailbox", "RANGE": "next_attempt_at"}, {"ProjectionType": "ALL"}),
        "due": ({"HASH": "due_shard", "RANGE": "due_at"}, {"ProjectionType": "KEYS_ONLY"}),
        "dead": ({"HASH": "dead_shard", "RANGE": "died_at"}, {"ProjectionType": "ALL"}),
    }
    assert [index["IndexName"] for index in table["LocalSecondaryIndexes"]] == ["waiting"]
    assert [attribute_types(table)[name] for name in ("next_attempt_at", "due_at", "died_at")] == ["N", "N", "N"]


def test_only_the_delivery_log_forgets() -> None:
    expiring = {name: STACK.properties(name).get("TimeToLiveSpecification") for name in TABLES}

    assert expiring.pop("DeliveriesTable") == {"AttributeName": "expires_at", "Enabled": True}
    assert set(expiring.values()) == {None}


def test_only_the_searches_have_a_stream() -> None:
    streams = {name: STACK.properties(name).get("StreamSpecification") for name in TABLES}

    assert streams.pop("SearchesTable") == {"StreamViewType": "NEW_IMAGE"}
    assert set(streams.values()) == {None}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_costs_by_use_and_can_be_taken_back_to_any_second(name: str) -> None:
    table = STACK.properties(name)

    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


@pytest.mark.parametrize("name", TABLES)
def test_tables_outlive_their_stack_unless_it_is_a_local_one(name: str) -> None:
    kept, local = STACK.resources[name], Stack(TableRetention="Delete").resources[name]

    # RetainExceptOnCreate: a first deployment that fails leaves no empty tables behind
    assert (kept["DeletionPolicy"], kept["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert (local["DeletionPolicy"], local["UpdateReplacePolicy"]) == ("Delete", "Delete")
