"""A time in the past as people give it: how long ago, or when. Pure."""

import re
from datetime import datetime

from lago.domain.ids import EpochMs
from lago.domain.time_zone import HOME_ZONE, zone_of
from lago.errors import BadInputError

_SPAN = re.compile(r"([0-9]{1,5})\s*(min|m|h|d)")
_UNITS = {"min": 60_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_LONGEST = 40
"""Characters: a time to the microsecond with its zone, and room to spare."""


def read_since(given: object, now: EpochMs, field: str = "since") -> EpochMs:
    """So long ago, or an ISO 8601 time; one without a zone is in the marketplace's, a day begins there.

    Raises BadInputError, naming `field`.
    """
    text = given.strip() if isinstance(given, str) and len(given) <= _LONGEST else ""
    if ago := _SPAN.fullmatch(text):
        return EpochMs(max(0, now - int(ago[1]) * _UNITS[ago[2]]))
    try:
        at = datetime.fromisoformat(text)
        zoned = at if at.tzinfo else at.replace(tzinfo=zone_of(HOME_ZONE))
        return EpochMs(max(0, int(zoned.timestamp() * 1000)))
    except (ValueError, OverflowError):
        raise BadInputError(field, given, "90min, 6h, 3d, or a time such as 2026-11-29 or 2026-11-29T18:00Z") from None
