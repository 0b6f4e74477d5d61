"""willhaben's three ways to write a time, read into epoch milliseconds."""

from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo

from lago.domain.ids import EpochMs

_EARLIEST = 946_684_800_000  # 2000-01-01: willhaben began that year
_LATEST = 4_102_444_800_000  # 2100-01-01


@cache
def _vienna() -> ZoneInfo:
    return ZoneInfo("Europe/Vienna")


def published(milliseconds: str, wall_clock: str) -> EpochMs | None:
    """When an ad came to the top: `PUBLISHED` in ms, else `PUBLISHED_String`.

    The string ends in Z but is Vienna's wall time: one capture shows both for the same moment, two hours apart.
    """
    is_number = milliseconds.isascii() and milliseconds.isdigit() and len(milliseconds) < 16
    exact = _plausible(int(milliseconds)) if is_number else None
    return _read(wall_clock.removesuffix("Z")) if exact is None else exact


def with_offset(text: str) -> EpochMs | None:
    """A time such as 2026-01-29T16:59:00+0100 (no colon in the offset); Vienna's wall time where it has no offset."""
    return _read(text)


def _read(text: str) -> EpochMs | None:
    try:
        moment = datetime.fromisoformat(text)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=_vienna())
        return _plausible(round(aware.timestamp() * 1000))
    except (ValueError, OverflowError):
        return None


def _plausible(value: int) -> EpochMs | None:
    return EpochMs(value) if _EARLIEST <= value < _LATEST else None
