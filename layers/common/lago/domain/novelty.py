"""Is an ad that was just seen news? Decided by its id, its dates and its flags, never by its price or title alone."""

from enum import Enum, auto

from lago.domain.ad import Ad
from lago.domain.ids import AdId, EpochMs, Milliseconds
from lago.domain.search import Cursor, KnownAd

INDEX_LAG = Milliseconds(120_000)
"""How long an ad may need from its publication into the result pages. Only baselines without a numeric id need it:
elsewhere an id above all of the baseline's tells such a latecomer from an old ad."""


class Verdict(Enum):
    """What an ad is that the search does not know."""

    NEW = auto()
    OLD = auto()
    """It was there before the watch: remembered, not told."""
    ASK = auto()
    """A bump or a paid placement renews dates: only the ad's own page tells."""


def number_of(ad: AdId) -> int:
    """The id as a number; 0 where it is none (or longer than any marketplace counts)."""
    return int(ad) if ad.isascii() and ad.isdigit() and len(ad) <= 18 else 0


def judge(ad: Ad, cursor: Cursor) -> Verdict:
    """Judge an ad that is not in the cursor's window.

    Published after the watch began, or numbered above the whole baseline: new, unless it is flagged as bumped or
    promoted. Published after although numbered below the baseline's highest, or without a date: ask.
    """
    number = number_of(ad.id)
    above = 0 < cursor.highest_id < number
    after = ad.published is not None and began_after(ad.published, cursor)
    if ad.published is not None and not after and not above:
        return Verdict.OLD
    if ad.bumped or ad.promoted:
        return Verdict.ASK
    comparable = cursor.highest_id > 0 and number > 0
    if above or (after and not comparable):
        return Verdict.NEW
    return Verdict.ASK


def settle(first_published: EpochMs | None, cursor: Cursor) -> Verdict:
    """The verdict after asking. A page that does not tell means new: better one message too many than an ad lost."""
    if first_published is None or began_after(first_published, cursor):
        return Verdict.NEW
    return Verdict.OLD


def began_after(published: EpochMs, cursor: Cursor) -> bool:
    """Whether that is later than the baseline."""
    return published > (cursor.began if cursor.highest_id else cursor.began - INDEX_LAG)


def is_drop(ad: Ad, known: KnownAd) -> bool:
    """Whether it asks less than ever before. A price that is missing, or was until now, is no drop."""
    return ad.price is not None and known.low is not None and ad.price < known.low
