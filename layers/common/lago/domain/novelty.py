"""Is an ad that was just seen news? Decided by its id, its dates and its flags, never by its price or title alone."""

from enum import Enum, auto

from lago.domain.ad import Ad
from lago.domain.ids import AdId, EpochMs, Milliseconds
from lago.domain.search import Cursor, KnownAd

INDEX_LAG = Milliseconds(300_000)
"""How long an ad may need from its publication into the result pages: one that was published this shortly before the
baseline and is not in it came late, unless its number says that it is an old one."""


class Verdict(Enum):
    """What an ad is that the search does not know."""

    NEW = auto()
    OLD = auto()
    """It was there before the watch: remembered, not told."""
    ASK = auto()
    """A bump or a paid placement renews dates: only the ad's own page tells."""


class _Place(Enum):
    """Where an id stands to those of the baseline; ids grow with time where they are numbers."""

    BELOW = auto()
    ABOVE = auto()
    UNKNOWN = auto()


def number_of(ad: AdId) -> int:
    """The id as a number; 0 where it is none (or longer than any marketplace counts)."""
    return int(ad) if ad.isascii() and ad.isdigit() and len(ad) <= 18 else 0


def judge(ad: Ad, cursor: Cursor) -> Verdict:
    """Judge an ad that is not in the cursor's window.

    Published after the watch began: new, unless it is flagged as bumped or promoted, or numbered below the baseline's
    highest; then ask. Without a date its number decides, or its own page.
    """
    if ad.published is not None and not _is_after(ad.id, ad.published, cursor):
        return Verdict.OLD
    if ad.bumped or ad.promoted:
        return Verdict.ASK
    place = _place(ad.id, cursor)
    if place is _Place.ABOVE or (place is _Place.UNKNOWN and ad.published is not None):
        return Verdict.NEW
    return Verdict.ASK


def settle(first_published: EpochMs | None, cursor: Cursor) -> Verdict:
    """The verdict after asking. A page that does not tell means new: better one message too many than an ad lost."""
    return Verdict.NEW if first_published is None or first_published > cursor.began else Verdict.OLD


def _is_after(ad: AdId, published: EpochMs, cursor: Cursor) -> bool:
    """Whether the ad was published after the baseline, or so shortly before that it could not be in it."""
    lag = 0 if _place(ad, cursor) is _Place.BELOW else INDEX_LAG
    return published > cursor.began - lag


def is_drop(ad: Ad, known: KnownAd) -> bool:
    """Whether it asks less than ever before. A price that is missing, or was until now, is no drop."""
    return ad.price is not None and known.low is not None and ad.price < known.low


def _place(ad: AdId, cursor: Cursor) -> _Place:
    number = number_of(ad)
    if not number or not cursor.highest_id:
        return _Place.UNKNOWN
    return _Place.ABOVE if number > cursor.highest_id else _Place.BELOW
