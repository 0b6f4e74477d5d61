"""How long a far side asks to be left alone."""

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from lago.domain.ids import EpochMs

_LONGEST_MS = 24 * 3_600_000


def retry_after_ms(headers: Mapping[str, str], now: EpochMs) -> int | None:
    """What a Retry-After header asks for, seconds or a date (RFC 9110, 10.2.3), in ms; None without a usable one.

    `headers` has lower-case names. Never negative and never above a day: a far side cannot silence a watch for a year.
    """
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        # The digits are counted before they are read: Python refuses to convert thousands of them.
        return min(int(value) * 1000, _LONGEST_MS) if len(value) < 10 else _LONGEST_MS
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # the second for a time or a zone of more digits than a C integer has
        return None
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max(round(aware.timestamp() * 1000) - now, 0), _LONGEST_MS)
