"""Detection: page results and what the search remembers give events and what to remember next. Pure.

Two phases, so that the ads' own pages can be asked in between: `unsure` names the ads to ask about, `detect` decides.
Nothing is remembered before its event is part of the result, so whatever is left out comes again with the next read.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from lago.domain.ad import Ad, Page
from lago.domain.compact import ad_event
from lago.domain.event import AdEvent, AdEventKind
from lago.domain.ids import AdId, EpochMs
from lago.domain.novelty import Verdict, is_drop, judge, number_of, settle
from lago.domain.paging import fingerprint, is_beyond
from lago.domain.search import Cursor, KnownAd


class Detection(Struct, frozen=True, kw_only=True):
    """What was found and what to remember. `changed` is whether remembering is worth a write.

    `waiting` counts ads that were left for the next read: no room for their event, or not asked about yet.
    """

    cursor: Cursor
    events: tuple[AdEvent, ...] = ()
    changed: bool
    waiting: int = 0


def unsure(pages: Sequence[Page], cursor: Cursor | None) -> tuple[Ad, ...]:
    """The ads whose own pages must be asked for their first publication, oldest first."""
    if cursor is None:
        return ()
    known = {ad.id for ad in cursor.window}
    return tuple(ad for ad in distinct(pages) if ad.id not in known and judge(ad, cursor) is Verdict.ASK)


def detect(
    pages: Sequence[Page],
    cursor: Cursor | None,
    first_published: Mapping[AdId, EpochMs | None],
    *,
    now: EpochMs,
    window_size: int,
    room: int,
    gap: bool = False,
) -> Detection:
    """Compare the pages of one read (at least one) with the cursor; without a cursor they become the baseline.

    `first_published` answers for the ads of `unsure` (None: unreadable); one that is absent was not asked and waits.
    At most `room` events are returned, oldest first. `now` is when the read began, `gap` that it could not reach
    everything. The window is cut to `window_size` ads, but never below those just seen.
    """
    ads = distinct(pages)
    if cursor is None:
        return Detection(cursor=_baseline(pages[0], ads, now), changed=True)

    known = {ad.id: ad for ad in cursor.window}
    events: list[AdEvent] = []
    updates: dict[AdId, KnownAd] = {}
    waiting: list[Ad] = []
    for ad in ads:
        before = known.get(ad.id)
        verdict = _verdict(ad, cursor, first_published) if before is None else Verdict.OLD
        kind = _kind(ad, before, verdict)
        if verdict is Verdict.ASK or (kind is not None and len(events) >= room):
            waiting.append(ad)
            continue
        if kind is not None:
            old_price = before.first if before is not None else None
            events.append(ad_event(kind, ad, old_price=old_price, found=now, gap=gap))
        after = _remember(ad, before)
        if after != before:
            updates[ad.id] = after

    unsettled = list(waiting)
    if _is_torn(pages, cursor):
        unsettled += [ad for ad in ads if ad.id not in known and (ad.published or 0) > cursor.newest]
    after_read = replace(
        cursor,
        newest=_newest(ads, unsettled, cursor),
        window=_window(cursor.window, updates, {ad.id for ad in ads}, window_size),
        fingerprint="" if unsettled else fingerprint(pages[0]),
        total=pages[0].total,
        gap=gap,
    )
    worth_a_write = replace(after_read, fingerprint=cursor.fingerprint, total=cursor.total) != cursor
    return Detection(cursor=after_read, events=tuple(events), changed=worth_a_write, waiting=len(waiting))


def distinct(pages: Sequence[Page]) -> tuple[Ad, ...]:
    """Every ad of the pages once, oldest first, undated ones last.

    Rows shift while paging and promoted ads are listed twice: the organic copy wins, then the later published.
    """
    best: dict[AdId, Ad] = {}
    for page in pages:
        for ad in page.ads:
            other = best.get(ad.id)
            if other is None or _weight(ad) > _weight(other):
                best[ad.id] = ad
    return tuple(
        sorted(best.values(), key=lambda ad: (ad.published is None, ad.published or 0, number_of(ad.id), ad.id))
    )


def _weight(ad: Ad) -> tuple[bool, int]:
    return not ad.promoted, ad.published or 0


def _baseline(first: Page, ads: tuple[Ad, ...], now: EpochMs) -> Cursor:
    return Cursor(
        began=now,
        newest=_top(ads),
        highest_id=max((number_of(ad.id) for ad in ads), default=0),
        window=tuple(_remember(ad, None) for ad in ads),
        fingerprint=fingerprint(first),
        total=first.total,
    )


def _verdict(ad: Ad, cursor: Cursor, first_published: Mapping[AdId, EpochMs | None]) -> Verdict:
    verdict = judge(ad, cursor)
    if verdict is Verdict.ASK and ad.id in first_published:
        return settle(first_published[ad.id], cursor)
    return verdict


def _kind(ad: Ad, before: KnownAd | None, verdict: Verdict) -> AdEventKind | None:
    if before is None:
        return "new_ad" if verdict is Verdict.NEW else None
    return "price_drop" if is_drop(ad, before) else None


def _remember(ad: Ad, before: KnownAd | None) -> KnownAd:
    """The lowest price only falls, so that a price that swings fires once; a first price that comes late sets both."""
    if before is None or before.first is None:
        return KnownAd(ad.id, ad.price, ad.price)
    return KnownAd(ad.id, before.first, ad.price) if is_drop(ad, before) else before


def _window(
    window: tuple[KnownAd, ...], updates: dict[AdId, KnownAd], seen: set[AdId], size: int
) -> tuple[KnownAd, ...]:
    """In order of arrival, so that a page without news leaves it equal; the longest known unseen ads go first."""
    kept = {ad.id: ad for ad in window} | updates
    surplus = len(kept) - size if len(kept) > len(window) else 0
    gone = [ad for ad in kept if ad not in seen][: max(0, surplus)]
    for ad in gone:
        del kept[ad]
    return tuple(kept.values())


def _is_torn(pages: Sequence[Page], cursor: Cursor) -> bool:
    """Whether a border between two pages ran through new ads.

    An ad removed between the two requests then moved an unread one over the border, onto the page already read.
    """
    return any(is_beyond(page, cursor) for page in pages[:-1])


def _newest(ads: Sequence[Ad], unsettled: Sequence[Ad], cursor: Cursor) -> EpochMs:
    """The newest organic publication, but below everything unsettled: the next read must not stop before it.

    Promoted ads stand out of order: they cannot hold it back.
    """
    newest = max(cursor.newest, _top(ads))
    held = [ad.published for ad in unsettled if not ad.promoted]
    if not held:
        return newest
    oldest_seen = min((ad.published for ad in ads if ad.published is not None and not ad.promoted), default=newest)
    floor = min(oldest_seen if published is None else published for published in held)
    return EpochMs(min(newest, floor - 1))


def _top(ads: Sequence[Ad]) -> EpochMs:
    return max((ad.published for ad in ads if ad.published is not None and not ad.promoted), default=EpochMs(0))
