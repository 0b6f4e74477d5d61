"""Values that a person typed, checked one by one; a wrong one is a BadInputError that says what would be right."""

import re
from urllib.parse import parse_qs

from lago.destination_options import read_club, read_id, read_time_zone
from lago.domain.ids import DestinationId, Minor
from lago.errors import BadInputError
from lago_cli.text import plain

_AMOUNT = re.compile(r"[0-9]{1,9}(?:[.,][0-9]{1,2})?")
"""Not 1.200: an Austrian means a thousand by it, a programmer one."""
_TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]+")


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
        raise BadInputError(
            "--token", "(not shown: it may hold a secret)", "a bot token such as 123456:ABC-DEF from @BotFather"
        )
    return token


def destination_name(given: str) -> DestinationId:
    """A name that can be typed after `--to`; the store keeps some others for itself."""
    return read_id("--destination", given)


def time_zone(given: str | None) -> str | None:
    """A time zone's IANA name."""
    return None if given is None else read_time_zone("--time-zone", given)


def club_seconds(option: str, seconds: int) -> int:
    """A club interval. Raises BadInputError."""
    return read_club(option, seconds)
