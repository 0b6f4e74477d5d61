"""What requests to DynamoDB consume, in its own units."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}


class Units(NamedTuple):
    """Write and read request units."""

    wru: float
    rru: float


class Meter:
    """Adds up the capacity that every request of the product's DynamoDB client consumed.

    The emulator counts writes by size, but every read as one of 4 KB, and one of nothing as none: reads are counted
    here, by what came back (no query of the product filters what it reads).
    """

    def __init__(self, client: Any) -> None:
        """`client` is botocore's."""
        self.wru = self.rru = 0.0
        self._asked = threading.local()
        events = client.meta.events
        events.register("provide-client-params.dynamodb.*", self._ask)
        events.register("after-call.dynamodb.*", self._add)

    def _ask(self, params: dict[str, Any], **_: object) -> dict[str, Any]:
        self._asked.params = params
        return params | {"ReturnConsumedCapacity": "INDEXES"}

    def _add(self, parsed: dict[str, Any], model: Any, **_: object) -> None:
        if model.name in WRITES:
            consumed = parsed.get("ConsumedCapacity", [])
            self.wru += sum(each["CapacityUnits"] for each in (consumed if isinstance(consumed, list) else [consumed]))
            return
        params = self._asked.params
        if "RequestItems" not in params:
            items = parsed.get("Items", [parsed["Item"]] if "Item" in parsed else [])
            self.rru += _read_units(sum(map(_size, items)), consistent=params.get("ConsistentRead", False))
            return
        for table, asked in params["RequestItems"].items():
            found = [_size(item) for item in parsed["Responses"].get(table, ())]
            missing = [0] * (len(asked["Keys"]) - len(found))
            consistent = asked.get("ConsistentRead", False)
            self.rru += sum(_read_units(size, consistent=consistent) for size in (*found, *missing))

    @contextmanager
    def reading(self) -> Iterator[Callable[[], Units]]:
        """What was consumed inside the block, once it is over."""
        before = Units(self.wru, self.rru)
        after: list[Units] = []
        yield lambda: after[0]
        after.append(Units(self.wru - before.wru, self.rru - before.rru))


def _read_units(size: int, *, consistent: bool) -> float:
    """What a read of so many bytes costs: by started 4 KB, the first of them also for nothing."""
    return max(1, -(-size // 4096)) * (1.0 if consistent else 0.5)


def _size(item: dict[str, Any]) -> int:
    """Bytes of an item as DynamoDB counts them ("DynamoDB item sizes and formats"), near enough."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: dict[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "B":
            return len(content)
        case "N":
            return len(content) // 2 + 2
        case "NS" | "SS":
            return sum(map(len, content))
        case "M":
            return 3 + len(content) + _size(content)
        case "L":
            return 3 + sum(1 + _value_size(each) for each in content)
        case _:
            return 1
