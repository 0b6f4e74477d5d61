"""How a destination is told, as a person gives it: checked, and refused under the name that it was given by."""

import re
from zoneinfo import ZoneInfo

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from lago.domain.ids import DestinationId
from lago.domain.notification import Destination
from lago.errors import BadInputError

LONGEST_REASON = 200

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", re.ASCII)
_RESERVED = "directory"
"""The queue's table keeps the list of destinations under this name."""
_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", re.ASCII)
_NONE = "none"


class Options(Struct, frozen=True, kw_only=True):
    """What is to change; what is unset stays as it is. Times are minutes of the day in the destination's time zone."""

    time_zone: str | UnsetType = UNSET
    quiet: tuple[int, int] | UnsetType | None = UNSET
    club_seconds: int | UnsetType = UNSET
    digest_at: int | UnsetType | None = UNSET

    def applied(self, destination: Destination) -> Destination:
        """The destination with these options."""
        changes = {name: value for name in self.__struct_fields__ if (value := getattr(self, name)) is not UNSET}
        return replace(destination, **changes)


AS_THEY_ARE = Options()


def read_id(field: str, given: str) -> DestinationId:
    """An id that can be typed after `--to`, and that no other item of the queue's table has. Raises BadInputError."""
    if not _ID.fullmatch(given) or given == _RESERVED:
        expected = "at most 40 letters, digits, dots, hyphens and underscores, a letter or a digit first"
        raise BadInputError(field, given, f"{expected}, and not {_RESERVED!r}" if given == _RESERVED else expected)
    return DestinationId(given)


def read_time_zone(field: str, given: str) -> str:
    """A time zone's IANA name. Raises BadInputError."""
    try:
        return ZoneInfo(given.strip()).key
    except (LookupError, ValueError, OSError):  # unknown; not a zone's name; a directory of zones
        raise BadInputError(field, given, "a time zone's name such as Europe/Vienna") from None


def read_quiet(field: str, given: str) -> tuple[int, int] | None:
    """Quiet hours, from and until; None for "none". Raises BadInputError.

    >>> read_quiet("--quiet", "22:00-7:30")
    (1320, 450)
    """
    if given.strip().lower() == _NONE:
        return None
    start, _, end = given.partition("-")
    begins, ends = _minutes(start), _minutes(end)
    if begins is None or ends is None or begins == ends:
        raise BadInputError(field, given, "two different times of the day such as 22:00-07:00, or none")
    return begins, ends


def read_club(field: str, seconds: int) -> int:
    """A club interval. Raises BadInputError."""
    if seconds != 0 and not 60 <= seconds <= 7_200:
        raise BadInputError(field, seconds, "0 (tell at once), or from 60 to 7200 seconds")
    return seconds


def read_digest(field: str, given: str) -> int | None:
    """When a day's finds are told together; None for "none". Raises BadInputError.

    >>> read_digest("--digest", "18:00")
    1080
    """
    if given.strip().lower() == _NONE:
        return None
    minutes = _minutes(given)
    if minutes is None:
        raise BadInputError(field, given, "a time of the day such as 18:00, or none")
    return minutes


def read_reason(field: str, given: str) -> str:
    """Why a destination is disabled: it is shown in lists. Raises BadInputError."""
    if not (given.isprintable() and 1 <= len(given.strip()) <= LONGEST_REASON):
        raise BadInputError(field, given, f"why, in 1 to {LONGEST_REASON} printable characters")
    return given.strip()


def quiet_text(destination: Destination) -> str | None:
    """Quiet hours as `read_quiet` reads them; None without any."""
    if destination.quiet is None:
        return None
    return "-".join(map(_clock, destination.quiet))


def digest_text(destination: Destination) -> str | None:
    """The time of the digest as `read_digest` reads it; None without one."""
    return None if destination.digest_at is None else _clock(destination.digest_at)


def _minutes(given: str) -> int | None:
    match = _TIME.fullmatch(given.strip())
    return None if match is None else int(match[1]) * 60 + int(match[2])


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
