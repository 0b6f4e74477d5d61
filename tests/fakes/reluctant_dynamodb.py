"""Shims on the DynamoDB client: answers that are allowed, rare, and easily taken for less or more than they are."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from lago.store.connection import connection

OK = SimpleNamespace(status_code=200)
MARK = {"S": "-"}


@contextmanager
def empty_pages() -> Iterator[None]:
    """Every query brings one item a page, and an empty page that is not the last one before each."""

    served = 0

    def before(params: dict[str, Any], **_: Any) -> tuple[Any, dict[str, Any]] | None:
        nonlocal served
        asked = json.loads(params["body"])
        start = asked.pop("ExclusiveStartKey", {})
        if "empty" not in start:
            served += 1
            # pynamodb asks on only from a key that names the table's own
            behind = {"mailbox": MARK, "shard": MARK, "search": MARK, "empty": MARK} | start
            return OK, {"Items": [], "Count": 0, "ScannedCount": 0, "LastEvaluatedKey": behind}
        if real := {name: value for name, value in start.items() if value != MARK}:
            asked["ExclusiveStartKey"] = real
        params["body"] = json.dumps(asked | {"Limit": 1}).encode()
        return None

    with _hooked("before-call.dynamodb.Query", before):
        yield
    assert served, "nothing was queried"


class UnprocessedKeys:
    """Of every batch that is read, no more than `served` keys are answered, the first `times` times."""

    def __init__(self, *, served: int = 0, times: int = 1_000_000) -> None:
        self.asked: list[int] = []
        """How many keys each request was for."""
        self._served, self._times = served, times
        self._left: dict[str, Any] = {}

    @contextmanager
    def installed(self) -> Iterator["UnprocessedKeys"]:
        with (
            _hooked("before-call.dynamodb.BatchGetItem", self._before),
            _hooked("after-call.dynamodb.BatchGetItem", self._after),
        ):
            yield self

    def _before(self, params: dict[str, Any], **_: Any) -> tuple[Any, dict[str, Any]] | None:
        asked = json.loads(params["body"])
        ((table, wanted),) = asked["RequestItems"].items()
        keys = wanted["Keys"]
        self.asked.append(len(keys))
        self._left = {}
        if len(self.asked) > self._times:
            return None
        if not self._served:
            return OK, {"Responses": {}, "UnprocessedKeys": asked["RequestItems"]}
        if keys[self._served :]:
            self._left = {table: wanted | {"Keys": keys[self._served :]}}
        asked["RequestItems"] = {table: wanted | {"Keys": keys[: self._served]}}
        params["body"] = json.dumps(asked).encode()
        return None

    def _after(self, parsed: dict[str, Any], **_: Any) -> None:
        parsed["UnprocessedKeys"] |= self._left


@contextmanager
def _hooked(event: str, hook: Any) -> Iterator[None]:
    events = connection().client.meta.events
    register = events.register_first if event.startswith("before") else events.register
    register(event, hook)
    try:
        yield
    finally:
        events.unregister(event, hook)
