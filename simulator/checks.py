"""Reads JSON bodies of the control API field by field, and says which field is wrong."""

from collections.abc import Collection, Mapping
from decimal import Decimal, InvalidOperation

Body = Mapping[str, object]


class BadControlError(Exception):
    """A control request that makes no sense: `field` names the part, the message what was expected."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(f"{field}: {message}")


class NoSuchThingError(Exception):
    """The control request names an ad, fault or path that is not there."""


def only(body: Body, fields: Collection[str]) -> None:
    """Raise BadControlError for the first field that nobody reads."""
    for field in body:
        if field not in fields:
            raise BadControlError(field, f"unknown field; known are {', '.join(sorted(fields))}")


def text(body: Body, field: str, default: str = "") -> str:
    """A string, kept as it is."""
    value = body.get(field)
    if value is None:
        return default
    if not isinstance(value, str):
        raise BadControlError(field, f"expected a text, got {value!r}")
    return value


def flag(body: Body, field: str, *, default: bool = False) -> bool:
    """True or false."""
    value = body.get(field)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise BadControlError(field, f"expected true or false, got {value!r}")
    return value


def whole(body: Body, field: str, default: int | None = None, least: int | None = None) -> int | None:
    """A whole number of at least `least`, or `default` when absent."""
    value = body.get(field)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        expected = "a whole number" if least is None else f"a whole number from {least}"
        raise BadControlError(field, f"expected {expected}, got {value!r}")
    return value


def seconds(body: Body, field: str, default: float) -> float:
    """A number of seconds from 0 to a day."""
    value = body.get(field)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 86_400:
        raise BadControlError(field, f"expected seconds from 0 to 86400, got {value!r}")
    return float(value)


def strings(body: Body, field: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """A list of strings."""
    value = body.get(field)
    if value is None:
        return default
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadControlError(field, f"expected a list of texts, got {value!r}")
    return tuple(value)


def euros(body: Body, field: str) -> int | None:
    """A price in euros (number, or text with a dot) as cents; None where the ad names none."""
    value = body.get(field)
    if value is None:
        return None
    expected = f"expected euros from 0 with at most two decimals, or null, got {value!r}"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadControlError(field, expected)
    try:
        cents = Decimal(str(value)) * 100
        if cents < 0 or cents != cents.to_integral_value():
            raise BadControlError(field, expected)
    except InvalidOperation as error:
        raise BadControlError(field, expected) from error
    return int(cents)


def mapping(body: Body, field: str) -> dict[str, object]:
    """A JSON object, empty when absent."""
    value = body.get(field)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadControlError(field, f"expected an object, got {value!r}")
    return value
