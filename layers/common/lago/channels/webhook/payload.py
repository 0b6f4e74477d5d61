"""A message as CloudEvents 1.0 in structured JSON (cloudevents.io, JSON event format), version 1 of Lago's own data.

docs/channels/webhook.schema.json describes it; a field is never renamed, removed or given another meaning under the
same version. Every field is always there, null where it is not known. Prices are integers in minor units, times are
RFC 3339 in UTC. What sellers typed has lost the characters that hide or reorder, and is text, never markup.
"""

import math
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, assert_never

import msgspec
from msgspec import UNSET, Struct, UnsetType

from lago.channels.clean import one_line, web_link
from lago.channels.wording import ALERT_UNITS, DETAIL_UNITS, FIELD_UNITS, TITLE_UNITS, is_club
from lago.domain.event import AdEvent, NewestAd, OperatorAlert, Trial, WatchLive
from lago.domain.ids import EpochMs, Minor
from lago.domain.notification import Message, Notification

CONTENT_TYPE = "application/cloudevents+json"
SCHEMA = "urn:lago:webhook:v1"
"""A name, as CloudEvents wants an absolute URI: the schema comes with Lago, no host of ours serves it."""
_VERSION = "v1"
_CURRENCY_UNITS = 8


class _Event(Struct, frozen=True, kw_only=True):
    specversion: str = "1.0"
    id: str
    source: str = "lago"
    type: str
    time: str | UnsetType
    datacontenttype: str = "application/json"
    dataschema: str = SCHEMA
    data: dict[str, Any]


def event_id(message: Message) -> str:
    """The notification's id; a club's is a function of the ids it stands for, in any order."""
    ids = sorted(notification.id for notification in message.notifications)
    if not is_club(message):
        return ids[0]
    return "club-" + blake2b("\n".join(ids).encode(), digest_size=12).hexdigest()


def cloud_event(message: Message) -> bytes:
    """The whole body. A club tells all of its notifications: a program has no eyes to spare."""
    times = [_time(notification.event.found) for notification in message.notifications]
    club = is_club(message)
    event = _Event(
        id=event_id(message),
        type=_type("club" if club else message.notifications[0].kind),
        time=max(filter(None, times), default=UNSET),
        data=_club(message) if club else _data(message.notifications[0]),
    )
    return msgspec.json.encode(event)


def _type(kind: str) -> str:
    return f"lago.{kind}.{_VERSION}"


def _club(message: Message) -> dict[str, Any]:
    entries = [{"id": each.id, "type": _type(each.kind), "data": _data(each)} for each in message.notifications]
    return {
        "kind": "club",
        "total": len(entries) + message.more,
        "more": message.more,
        "notifications": entries,
    }


def _data(notification: Notification) -> dict[str, Any]:
    event = notification.event
    match event:
        case AdEvent():
            data = _ad(notification, event)
        case WatchLive():
            data = {
                "total": max(event.total, len(event.newest)),
                "newest": [_head(ad) for ad in event.newest],
                "watch": _watch(notification),
            }
        case OperatorAlert():
            data = {"key": event.key, "text": one_line(event.text, ALERT_UNITS)}
        case Trial():
            data = {}
        case _:
            assert_never(event)
    return {"kind": event.kind, "found": _time(event.found), **data}


def _ad(notification: Notification, event: AdEvent) -> dict[str, Any]:
    old = event.old_price if notification.old_price is None else notification.old_price
    return {
        "ad": {
            "source": event.source,
            "id": event.ad,
            **_head(event),
            "image": web_link(event.image) or None,
            "published": _time(event.published),
            "place": one_line(event.place, FIELD_UNITS),
            "coordinates": _coordinates(event.coordinates),
            "distance_km": _distance(notification.distance_km),
            "seller": {"kind": event.seller_kind, "name": one_line(event.seller_name, FIELD_UNITS)},
            "paylivery": event.paylivery,
            "details": [one_line(detail, DETAIL_UNITS) for detail in event.details],
        },
        "old_price": _price(old, event.currency) if event.kind == "price_drop" else None,
        "gap": event.gap,
        "watch": _watch(notification),
    }


def _head(ad: AdEvent | NewestAd) -> dict[str, Any]:
    return {
        "title": one_line(ad.title, TITLE_UNITS),
        "url": web_link(ad.url) or None,
        "price": _price(ad.price, ad.currency),
        "price_text": one_line(ad.price_text, FIELD_UNITS),
    }


def _price(amount: Minor | None, currency: str) -> dict[str, Any] | None:
    return None if amount is None else {"amount": amount, "currency": one_line(currency, _CURRENCY_UNITS)}


def _watch(notification: Notification) -> dict[str, Any]:
    return {
        "ids": list(notification.watches),
        "label": one_line(notification.label, FIELD_UNITS),
        "search_url": web_link(notification.search_url) or None,
    }


def _coordinates(place: tuple[float, float] | None) -> dict[str, float] | None:
    if place is None or not all(map(math.isfinite, place)):
        return None
    return {"latitude": place[0], "longitude": place[1]}


def _distance(kilometres: float | None) -> float | None:
    return kilometres if kilometres is not None and math.isfinite(kilometres) and kilometres >= 0 else None


def _time(moment: EpochMs | None) -> str | None:
    if moment is None:
        return None
    try:
        at = datetime.fromtimestamp(moment // 1000, UTC)
    except (OverflowError, ValueError, OSError):  # a year that no calendar has: the ad is worth telling all the same
        return None
    return at.isoformat().replace("+00:00", "Z")
