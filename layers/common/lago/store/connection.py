"""One DynamoDB client for all tables, and the one place where its errors become Lago's.

pynamodb gives every model class a botocore client of its own; each costs a cold start some 40 ms of CPU at full speed
and seven times that at 256 MB, so the models here share one. pynamodb's default time-outs (15 s to connect, 30 s to
read, 3 retries) would outlive a function.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import batched
from time import sleep
from typing import Any

from pynamodb.attributes import NumberSetAttribute
from pynamodb.connection import Connection
from pynamodb.connection.table import TableConnection
from pynamodb.exceptions import DoesNotExist, PynamoDBException, TransactWriteError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

from lago.errors import ConflictError, SettingError, StoreUnavailableError
from lago.store.schema import mark

CONNECT_SECONDS = 2
READ_SECONDS = 4
RETRIES = 2
TRIES = 4
"""How often a write is tried that meets transactions on the same item."""
KEYS_AT_ONCE = 100
"""Keys a batch may ask for: DynamoDB's own limit."""
PAUSES = (0.05, 0.1, 0.2)
"""Seconds before keys are asked for again of which none was answered: DynamoDB wants growing ones."""

_CONDITION = "ConditionalCheckFailed"
_BUSY = "TransactionConflict"


def table_name(variable: str) -> str:
    """The table that the environment variable names. Raises SettingError: models bind their table at import."""
    name = os.environ.get(variable, "")
    if not name:
        raise SettingError(f"{variable} is not set: it names a DynamoDB table of the stack")
    return name


@cache
def connection() -> Connection:
    """The client that all models share."""
    return Connection(
        region=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
        connect_timeout_seconds=CONNECT_SECONDS,
        read_timeout_seconds=READ_SECONDS,
        max_retry_attempts=RETRIES,
    )


class Table(Model):
    """Base of the models: a pynamodb model on the shared client, each item marked with the schemas that wrote it.

    What is stored whole is marked here; an update that writes an encoded part adds `marked()`. The marks are a set, as
    DynamoDB can add to a set unread, but not take the greater of two numbers: an older version must not lower it.
    """

    schemas = NumberSetAttribute(attr_name="v", null=True, default_for_new=mark)

    @classmethod
    def marked(cls) -> Action:
        """Part of an update that writes an encoded part of an item."""
        return cls.schemas.add(mark())

    @classmethod
    def _get_connection(cls) -> TableConnection:
        table = super()._get_connection()
        if table.connection is not connection():
            with suppress(ValueError):  # another model of the same table brought its keys before
                connection().add_meta_table(table.connection.get_meta_table(table.table_name))
            table.connection = connection()
        return table


@contextmanager
def translated() -> Iterator[None]:
    """Library errors out, Lago's in: ConflictError for a condition that did not hold, else StoreUnavailableError."""
    try:
        yield
    except PynamoDBException as error:
        code = _code(error)
        if _failed_condition(error):
            raise ConflictError(code) from error
        raise StoreUnavailableError(f"DynamoDB: {code}") from error


def find[M: Table](model: type[M], hash_key: str, range_key: str, *, consistent: bool = False) -> M | None:
    """The item under that key, or None. Raises StoreUnavailableError."""
    with translated():
        try:
            return model.get(hash_key, range_key, consistent_read=consistent)
        except DoesNotExist:
            return None


def find_all[M: Table](model: type[M], keys: Iterable[tuple[str, str]]) -> list[M]:
    """The items under these keys, those that exist, read consistently. Raises StoreUnavailableError.

    DynamoDB answers a part when it is asked too fast, and names the rest (`UnprocessedKeys`). pynamodb would ask for it
    at once and for ever; here it is asked for again while it gets less, else after pauses, and given up at last.
    """
    found: list[M] = []
    with translated():
        table = model._get_connection()
        meta = table.get_meta_table()
        wanted = [{meta.hash_keyname: key[0], meta.range_keyname: key[1]} for key in dict.fromkeys(keys)]
        for chunk in batched(wanted, KEYS_AT_ONCE, strict=False):
            left: Sequence[Any] = chunk
            pauses = iter(PAUSES)
            while left:
                answer = table.batch_get_item(left, consistent_read=True)
                found += [model.from_raw_data(item) for item in answer["Responses"].get(table.table_name, ())]
                asked, left = len(left), answer["UnprocessedKeys"].get(table.table_name, {}).get("Keys", ())
                if len(left) == asked:
                    pause = next(pauses, None)
                    if pause is None:
                        raise StoreUnavailableError("DynamoDB: keys are left unprocessed, again and again")
                    sleep(pause)
    return found


@contextmanager
def transaction(token: str | None = None) -> Iterator[TransactWrite]:
    """All writes inside or none. Raises ConflictError or StoreUnavailableError, never a library error."""
    with translated(), TransactWrite(connection=connection(), client_request_token=token) as writes:
        yield writes


def retried[T](attempts: int, write: Callable[[], T]) -> T:
    """Run `write` again when it met another transaction on the same items: nothing was written then."""
    for _ in range(attempts - 1):
        try:
            return write()
        except StoreUnavailableError as error:
            if not _met_another(error.__cause__):
                raise
    return write()


def update[M: Table](item: M, actions: list[Action], condition: Condition) -> M:
    """Update one item, again when it met a transaction, and return it as it is then. Raises ConflictError."""

    def write() -> None:
        with translated():
            item.update(actions, condition=condition)

    retried(TRIES, write)
    return item


def _code(error: PynamoDBException) -> str:
    """What went wrong. pynamodb's own property fails where botocore's `response` is None (a read time-out)."""
    response = getattr(error.cause, "response", None) or {}
    return str(response.get("Error", {}).get("Code") or type(error.cause).__name__)


def _failed_condition(error: PynamoDBException) -> bool:
    if isinstance(error, TransactWriteError):
        return any(reason and reason.code == _CONDITION for reason in error.cancellation_reasons)
    return _code(error) == "ConditionalCheckFailedException"


def _met_another(error: BaseException | None) -> bool:
    if not isinstance(error, TransactWriteError):  # a plain write that met a transaction
        return isinstance(error, PynamoDBException) and _code(error) == "TransactionConflictException"
    return any(reason and reason.code == _BUSY for reason in error.cancellation_reasons)
