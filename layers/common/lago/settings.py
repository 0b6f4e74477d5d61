"""How settings are read from the environment: once, at import, with errors that name the variable."""

import os
import re
from collections.abc import Mapping
from math import isfinite

from msgspec.structs import replace

from lago.domain.event import EventKind
from lago.domain.ids import Milliseconds
from lago.domain.kinds import HOUR, KINDS, KindPolicy, Preset
from lago.domain.redact import shown
from lago.errors import SettingError
from lago.http import HttpSettings

Environment = Mapping[str, str]

LONGEST_EXPIRY_HOURS = 720
_KIND_POLICY = re.compile(r"([a-z_]+)=(alert|patient):([0-9]{1,4})", re.ASCII)


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
        raise SettingError(f"{name}: got {shown(raw)}, expected a number from {low:g} to {high:g}")
    return value


def whole(environment: Environment, name: str, default: int, *, low: int, high: int) -> int:
    """A whole number between `low` and `high`, both included."""
    value = number(environment, name, default, low=low, high=high)
    if value != int(value):
        raise SettingError(f"{name}: got {shown(environment[name])}, expected a whole number from {low} to {high}")
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


def kind_policies(environment: Environment = os.environ) -> Mapping[EventKind, KindPolicy]:
    """What is agreed for each kind, with what KIND_POLICIES changes. Raises SettingError.

    `price_drop=patient:48` retries it patiently and gives it up after 48 hours; several are separated by commas.
    """
    name, kinds = "KIND_POLICIES", dict(KINDS)
    for part in filter(None, environment.get(name, "").replace(" ", "").split(",")):
        match = _KIND_POLICY.fullmatch(part)
        kind = next((kind for kind in kinds if match is not None and kind == match[1]), None)
        if match is None or kind is None or not 1 <= int(match[3]) <= LONGEST_EXPIRY_HOURS:
            raise SettingError(
                f"{name}: got {shown(part, 40)}, expected kind=alert:HOURS or kind=patient:HOURS with one of "
                f"{', '.join(kinds)} and 1 to {LONGEST_EXPIRY_HOURS} hours"
            )
        preset: Preset = "patient" if match[2] == "patient" else "alert"
        kinds[kind] = replace(kinds[kind], preset=preset, expiry=Milliseconds(int(match[3]) * HOUR))
    return kinds


def queue_shards(environment: Environment = os.environ) -> int:
    """How many shards the mailboxes are spread over."""
    return whole(environment, "QUEUE_SHARDS", 1, low=1, high=16)


def search_shards(environment: Environment = os.environ) -> int:
    """How many shards the searches are spread over."""
    return whole(environment, "SEARCH_SHARDS", 1, low=1, high=3)
