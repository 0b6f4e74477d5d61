"""Values that a person typed, checked one by one; a wrong one is a BadInputError that says what would be right."""

import re
from urllib.parse import parse_qs
from zoneinfo import ZoneInfo

from lago.domain.ids import DestinationId, Minor
from lago.errors import BadInputError
from lago_cli.text import plain

_AMOUNT = re.compile(r"[0-9]{1,9}(?:[.,][0-9]{1,2})?")
"""Not 1.200: an Austrian means a thousand by it, a programmer one."""
_HOURS = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])-([01]?[0-9]|2[0-3]):([0-5][0-9])")
_NONE = "none"
_TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]+")
_DESTINATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def euros(option: str, text: str | None) -> Minor | None:
    """An amount in euros as cents. Raises BadInputError.

    >>> euros("--price-to", "1200,50")
    120050
    """
    if text is None:
        return None
    amount = text.strip().removeprefix("€").strip()
    if not _AMOUNT.fullmatch(amount):
        raise BadInputError(option, text, "an amount in euros such as 500 or 19.90, without thousands separators")
    whole, _, cents = amount.replace(",", ".").partition(".")
    return Minor(int(whole) * 100 + int(cents.ljust(2, "0")))


def is_address(wanted: str) -> bool:
    """Whether the person pasted an address rather than a keyword."""
    text = wanted.strip().lower()
    return "://" in text or text.startswith(("www.", "willhaben.at/", "/iad/", "iad/"))


def label(name: str | None, wanted: str) -> str:
    """The person's own name for the watch; else the keyword, or what an address says of itself."""
    if name is not None:
        if not plain(name):
            raise BadInputError("--name", name, "some visible text")
        return plain(name, 80)
    return plain(_said_by(wanted) if is_address(wanted) else wanted, 80)


def _said_by(address: str) -> str:
    """The keyword of a pasted address, else the last words of its path.

    >>> _said_by("https://www.willhaben.at/iad/immobilien/mietwohnungen/mietwohnung-angebote?areaId=900")
    'mietwohnung angebote'
    """
    path, _, query = address.partition("?")
    keyword = " ".join(parse_qs(query.partition("#")[0]).get("keyword", []))
    last = path.rstrip("/").rpartition("/")[2]
    return keyword if plain(keyword) else re.sub(r"[-_]+[0-9]*$|[-_]+", " ", last) or "willhaben"


def words(option: str, given: list[str] | None) -> tuple[str, ...]:
    """What a repeatable option was given, each once."""
    wanted = tuple(dict.fromkeys(plain(word, 80) for word in given or ()))
    if not all(wanted):
        raise BadInputError(option, "", "some visible text")
    return wanted


def percent(given: float | None) -> float | None:
    """A share of a price."""
    if given is not None and not 0 < given <= 100:
        raise BadInputError("--drop-percent", given, "a number above 0 and at most 100")
    return given


def point(given: str | None) -> tuple[float, float] | None:
    """Latitude and longitude in degrees."""
    if given is None:
        return None
    expected = "latitude,longitude in degrees such as 48.2082,16.3738"
    try:
        latitude, longitude = (float(part) for part in given.split(","))
    except ValueError:
        raise BadInputError("--near", given, expected) from None
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise BadInputError("--near", given, expected)
    return latitude, longitude


def bot_token(given: str) -> str:
    """A Telegram bot's token, which errors never repeat."""
    token = given.strip()
    if not _TOKEN.fullmatch(token):
        raise BadInputError("--token", "what was given", "a bot token such as 123456:ABC-DEF from @BotFather")
    return token


def destination_name(given: str) -> DestinationId:
    """A name that can be typed after `--to`; the store keeps some others for itself."""
    if not _DESTINATION.fullmatch(given):
        raise BadInputError("--destination", given, "at most 40 letters, digits, dots, hyphens and underscores")
    return DestinationId(given)


def time_zone(given: str | None) -> str | None:
    """A time zone's IANA name."""
    if given is None:
        return None
    try:
        return ZoneInfo(given.strip()).key
    except (LookupError, ValueError, OSError):  # unknown; not a zone's name; a directory of zones
        raise BadInputError("--time-zone", given, "a time zone's name such as Europe/Vienna") from None


def quiet_hours(option: str, text: str) -> tuple[int, int] | None:
    """Quiet hours as minutes of the day, from and until; None for "none". Raises BadInputError.

    >>> quiet_hours("--quiet", "22:00-7:30")
    (1320, 450)
    """
    if text.strip().lower() == _NONE:
        return None
    match = _HOURS.fullmatch(text.strip())
    if match is None or match[1].zfill(2) + match[2] == match[3].zfill(2) + match[4]:
        raise BadInputError(option, text, "two different times of the day such as 22:00-07:00, or none")
    from_hour, from_minute, until_hour, until_minute = map(int, match.groups())
    return from_hour * 60 + from_minute, until_hour * 60 + until_minute


def club_seconds(option: str, seconds: int) -> int:
    """A club interval. Raises BadInputError."""
    if seconds != 0 and not 60 <= seconds <= 7_200:
        raise BadInputError(option, seconds, "0 (tell at once), or from 60 to 7200 seconds")
    return seconds
