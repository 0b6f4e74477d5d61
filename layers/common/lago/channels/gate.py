"""How long a far side that asked to be left alone is left alone."""

from lago.domain.ids import Milliseconds

SHORTEST = Milliseconds(1_000)
LONGEST = Milliseconds(24 * 3_600_000)
"""Flood waits of several hours happen; more than a day is an error of the far side."""
DEFAULT = Milliseconds(30_000)
"""For an answer that names no time."""


def gate(asked_ms: float | None, default: Milliseconds = DEFAULT) -> Milliseconds:
    """What was asked for, between a second and a day; `default` for no number."""
    if asked_ms is None or asked_ms != asked_ms:  # noqa: PLR0124 (not a number)
        return default
    return Milliseconds(int(max(SHORTEST, min(asked_ms, LONGEST))))
