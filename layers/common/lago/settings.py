"""How settings are read from the environment: once, at import, with errors that name the variable."""

import os
from collections.abc import Mapping
from math import isfinite

from lago.domain.ids import Milliseconds
from lago.errors import SettingError
from lago.http import HttpSettings

Environment = Mapping[str, str]


def text(environment: Environment, name: str, default: str | None = None) -> str:
    """The variable's value; without a default it must be there and not empty."""
    value = environment.get(name, "").strip()
    if value:
        return value
    if default is None:
        raise SettingError(f"{name} is not set")
    return default


def number(environment: Environment, name: str, default: float, *, low: float, high: float) -> float:
    """A number between `low` and `high`, both included."""
    raw = environment.get(name, "").strip()
    try:
        value = float(raw) if raw else default
    except ValueError:
        value = float("nan")
    if not isfinite(value) or not low <= value <= high:
        raise SettingError(f"{name}: got {raw!r}, expected a number from {low:g} to {high:g}")
    return value


def whole(environment: Environment, name: str, default: int, *, low: int, high: int) -> int:
    """A whole number between `low` and `high`, both included."""
    value = number(environment, name, default, low=low, high=high)
    if value != int(value):
        raise SettingError(f"{name}: got {environment[name]!r}, expected a whole number from {low} to {high}")
    return int(value)


def milliseconds(environment: Environment, name: str, default: float, *, low: float, high: float) -> Milliseconds:
    """A setting in seconds, as milliseconds."""
    return Milliseconds(int(1000 * number(environment, name, default, low=low, high=high)))


def http_settings(environment: Environment = os.environ) -> HttpSettings:
    """The HTTP client's limits."""
    return HttpSettings(
        connect_seconds=number(environment, "HTTP_CONNECT_SECONDS", 5, low=0.1, high=30),
        read_seconds=number(environment, "HTTP_READ_SECONDS", 10, low=0.1, high=30),
        keepalive_seconds=number(environment, "HTTP_KEEPALIVE_SECONDS", 300, low=1, high=3600),
        max_connections=whole(environment, "HTTP_MAX_CONNECTIONS", 4, low=1, high=20),
    )


def queue_shards(environment: Environment = os.environ) -> int:
    """How many shards the mailboxes are spread over."""
    return whole(environment, "QUEUE_SHARDS", 1, low=1, high=16)


def search_shards(environment: Environment = os.environ) -> int:
    """How many shards the searches are spread over."""
    return whole(environment, "SEARCH_SHARDS", 1, low=1, high=3)
