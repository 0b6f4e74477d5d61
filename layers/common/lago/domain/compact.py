"""Events made small enough to be stored: whatever a seller writes, one event stays within `EVENT_BYTES`."""

from collections.abc import Iterable

from msgspec.structs import replace

from lago.domain.ad import Ad
from lago.domain.event import EVENT_BYTES, AdEvent, AdEventKind, NewestAd, WatchLive, event_size
from lago.domain.ids import EpochMs, Minor, WatchId

NEWEST_SHOWN = 3
"""How many ads a watch_live message shows."""

_ELLIPSIS = "…"


def cut(text: str, limit: int) -> str:
    """At most `limit` (from 3) bytes of UTF-8, cut at a character; lone surrogates become question marks."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode()
    kept = data[: limit - len(_ELLIPSIS.encode())].decode("utf-8", "ignore")
    return kept.rstrip() + _ELLIPSIS


def ad_event(kind: AdEventKind, ad: Ad, *, old_price: Minor | None, found: EpochMs, gap: bool = False) -> AdEvent:
    """The event for an ad, at most `EVENT_BYTES` encoded.

    What a person misses least goes first: details, the seller's full name, the end of the title, the picture. The URL
    stays whole up to 250 bytes at least (a cut one leads nowhere); one that still does not fit is left out.
    """
    event = AdEvent(
        kind=kind,
        source=ad.source,
        ad=ad.id,
        title=cut(ad.title, 200),
        price=ad.price,
        currency=cut(ad.currency, 12),
        price_text=cut(ad.price_text, 40),
        old_price=old_price,
        published=ad.published,
        found=found,
        url=ad.url,
        image=ad.image,
        place=cut(ad.place, 80),
        seller_kind=ad.seller_kind,
        seller_name=cut(ad.seller_name, 80),
        coordinates=ad.coordinates,
        details=tuple(cut(detail, 40) for detail in ad.details[:6]),
        paylivery=ad.paylivery,
        gap=gap,
    )
    return _shrunk(event)


def _shrunk(event: AdEvent) -> AdEvent:
    while event.details and event_size(event) > EVENT_BYTES:
        event = replace(event, details=event.details[:-1])
    smaller: tuple[dict[str, object], ...] = (
        {"seller_name": cut(event.seller_name, 30)},
        {"place": cut(event.place, 40)},
        {"title": cut(event.title, 120)},
        {"image": None},
        {"title": cut(event.title, 80), "price_text": cut(event.price_text, 20)},
        {"url": ""},
    )
    for change in smaller:
        if event_size(event) <= EVENT_BYTES:
            break
        event = replace(event, **change)
    return event


def watch_live(watch: WatchId, *, total: int, ads: Iterable[Ad], found: EpochMs) -> WatchLive:
    """The event that tells a watch what matches now: the count and the newest of `ads`, at most `EVENT_BYTES` encoded.

    Titles are shortened until it fits; an ad whose URL is too long for that is left out.
    """
    newest = sorted(ads, key=lambda ad: ad.published or 0, reverse=True)[:NEWEST_SHOWN]
    event = WatchLive(watch=watch, found=found, total=total, newest=())
    for title_bytes in (80, 60, 40, 24):
        event = replace(event, newest=tuple(_line(ad, title_bytes) for ad in newest))
        if event_size(event) <= EVENT_BYTES:
            return event
    while event.newest and event_size(event) > EVENT_BYTES:
        longest = max(event.newest, key=lambda line: len(line.url))
        event = replace(event, newest=tuple(line for line in event.newest if line is not longest))
    return event


def _line(ad: Ad, title_bytes: int) -> NewestAd:
    return NewestAd(
        title=cut(ad.title, title_bytes),
        price=ad.price,
        currency=cut(ad.currency, 12),
        price_text=cut(ad.price_text, 24),
        url=ad.url,
    )
