"""Which schemas wrote an item, and whether this version may read it.

A version reads what it writes itself, all that is older, and what the next schema writes, as far as it understands it:
a deploy and its rollback both work while old and new code run side by side. What is newer than that is left alone.

    schema   what it brought
    1        all that carries no mark
    2        the mark; digests, a destination's revision, test messages, the operator's memory by signs

A change that needs a higher number is made in three deploys; docs/operations.md has the rules (ADR 14).
"""

import zlib
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from lago.errors import NewerItemError

SCHEMA = 2
"""What this version writes."""
AHEAD = 1
"""How many schemas further an item may be that this version still reads."""
_UNMARKED = 1


class Marked(Protocol):
    """A stored item as it was read."""

    schemas: Any
    """The schemas that wrote it; None for what was written before there were marks."""


def mark() -> Set[float]:
    """What an item is marked with when it is written."""
    return {SCHEMA}


def schema_of(item: Marked) -> int:
    """The newest schema that wrote a part of it."""
    return int(max(item.schemas or {_UNMARKED}))


@contextmanager
def decoding(item: Marked) -> Iterator[None]:
    """Around the decoding of an item. Raises NewerItemError when this version cannot read it."""
    if schema_of(item) > SCHEMA + AHEAD:
        raise NewerItemError(f"an item of schema {schema_of(item)}: this version reads up to {SCHEMA + AHEAD}")
    try:
        yield
    except (msgspec.DecodeError, zlib.error) as error:
        raise NewerItemError(f"an item of schema {schema_of(item)} that this version does not understand") from error


def unknown(item: Marked, data: bytes, known: type[Struct]) -> Mapping[str, object]:
    """The fields of a JSON object that only the next version knows, to be written back as they are."""
    if schema_of(item) <= SCHEMA:
        return {}
    fields: dict[str, object] = msgspec.json.decode(data)
    return {name: value for name, value in fields.items() if name not in known.__struct_fields__}
