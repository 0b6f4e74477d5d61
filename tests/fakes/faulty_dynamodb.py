"""A shim on the DynamoDB client: what can go wrong between the product and its tables, at a write of one's choice."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Literal

from botocore.exceptions import ReadTimeoutError

from lago.store.connection import connection

WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")

Fault = Literal["throttled", "conflict", "timeout before", "timeout after"]


class FaultyDynamoDb:
    """Counts the writes of the product's client, and lets the `at`-th go wrong, `times` in a row.

    throttled        refused, as a table does that is asked too fast; nothing is written
    conflict         refused, since another transaction is at the same items; nothing is written
    timeout before   no answer, nothing is written
    timeout after    no answer, but it was written
    """

    def __init__(self, at: int | None = None, fault: Fault = "throttled", times: int = 1) -> None:
        self.writes, self.served = 0, 0
        self._at, self._fault, self._times = at, fault, times

    @contextmanager
    def installed(self) -> Iterator["FaultyDynamoDb"]:
        events = connection().client.meta.events
        events.register_first("before-call.dynamodb.*", self._before)
        events.register("after-call.dynamodb.*", self._after)
        try:
            yield self
        finally:
            events.unregister("before-call.dynamodb.*", self._before)
            events.unregister("after-call.dynamodb.*", self._after)

    def _before(self, model: Any, **_: Any) -> tuple[Any, dict[str, Any]] | None:
        if model.name not in WRITES:
            return None
        self.writes += 1
        if not self._hits():
            return None
        match self._fault:
            case "timeout before":
                self.served += 1
                raise ReadTimeoutError(endpoint_url="https://dynamodb")
            case "throttled":
                self.served += 1
                return _refusal("ProvisionedThroughputExceededException")
            case "conflict":
                self.served += 1
                if model.name != "TransactWriteItems":
                    return _refusal("TransactionConflictException")
                return _refusal("TransactionCanceledException", [{"Code": "TransactionConflict"}])
            case "timeout after":
                return None

    def _after(self, model: Any, **_: Any) -> None:
        if model.name in WRITES and self._fault == "timeout after" and self._hits():
            self.served += 1
            raise ReadTimeoutError(endpoint_url="https://dynamodb")

    def _hits(self) -> bool:
        return self._at is not None and self._at <= self.writes < self._at + self._times


def _refusal(code: str, reasons: list[dict[str, str]] | None = None) -> tuple[Any, dict[str, Any]]:
    parsed: dict[str, Any] = {"Error": {"Code": code, "Message": "refused"}, "ResponseMetadata": {}}
    if reasons:
        parsed["CancellationReasons"] = reasons
    return SimpleNamespace(status_code=400), parsed
