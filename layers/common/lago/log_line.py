"""A log entry as one line of JSON, private: the one place where it is decided what never gets into the log.

A destination is its owner's name for a chat or a mailbox, so it shows as a digest, which still tells lines of the same
one apart (`lago.domain.redact.hashed`). Texts lose addresses and whatever looks like a secret, also in tracebacks.
"""

import json
from collections.abc import Mapping
from typing import Any

from lago.correlation import subject
from lago.domain.redact import hashed, masked

_DESTINATIONS = frozenset({"destination", "destinations"})
_NOISE = frozenset({"function_arn", "function_memory_size", "sampling_rate", "stack_trace"})
"""Said on every line by Powertools, or twice; each costs what a line costs."""


def line(entry: Mapping[str, Any]) -> str:
    """The entry with what the work is about, private, as compact JSON."""
    told = {key: value for key, value in entry.items() if key not in _NOISE}
    about = {key: value for key, value in subject().items() if key not in told}
    return json.dumps(_private(told | about), default=_text, separators=(",", ":"), ensure_ascii=False)


def _private(value: Any, *, is_destination: bool = False) -> Any:
    match value:
        case str():
            return hashed(value) if is_destination else masked(value)
        case Mapping():
            return {
                key: _private(inner, is_destination=is_destination or key in _DESTINATIONS)
                for key, inner in value.items()
            }
        case list() | tuple() | set() | frozenset():
            return [_private(inner, is_destination=is_destination) for inner in value]
    return value


def _text(value: object) -> str:
    """What JSON has no word for."""
    return masked(str(value))
