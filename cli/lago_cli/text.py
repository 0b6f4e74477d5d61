"""What people read: seller-controlled text made harmless, prices, times."""

import unicodedata
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from lago.channels import wording
from lago.domain.ids import EpochMs, Minor

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that move the cursor, reverse the text or hide something."""

_EMOJI_JOINER = "\u200d"
VIENNA = ZoneInfo("Europe/Vienna")


def plain(text: str, limit: int = 200) -> str:
    """One line without control, bidirectional or invisible characters, cut at `limit` characters.

    Titles come from strangers: an escape sequence in one must not reach the terminal.
    """
    shown = "".join(
        " " if character.isspace() else character
        for character in text
        if character.isspace() or character == _EMOJI_JOINER or unicodedata.category(character) not in _HIDDEN
    )
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def money(price: Minor | None, currency: str, price_text: str = "") -> str:
    """The price as in messages; without a number what the seller wrote.

    >>> money(Minor(120050), "EUR")
    '€ 1.200,50'
    >>> money(Minor(0), "EUR")
    'free'
    """
    return wording.price(price, currency) if price is not None else plain(price_text, 40) or "-"


def when(moment: EpochMs | None, zone: ZoneInfo = VIENNA) -> str:
    """Date and time of day in the marketplace's own time zone."""
    if moment is None:
        return "-"
    return datetime.fromtimestamp(moment / 1000, UTC).astimezone(zone).strftime("%d.%m. %H:%M")


def ago(moment: EpochMs | None, now: EpochMs) -> str:
    """How long ago, in its largest unit.

    >>> ago(EpochMs(0), EpochMs(125_000))
    '2 min ago'
    """
    return "never" if moment is None else f"{span(now - moment)} ago"


def span(milliseconds: int) -> str:
    """A duration in its largest unit."""
    seconds = max(0, milliseconds) // 1000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
