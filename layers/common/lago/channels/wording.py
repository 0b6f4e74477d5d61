"""What a message says, in words: the same for every channel. English, prices the Austrian way.

An ad becomes a heading and a few facts; several become a club. What a seller typed enters through `one_line` only, each
field with a bound of its own, so that a long title can't push the price out of sight.
"""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from lago.channels.clean import one_line, web_link
from lago.channels.rich import EMPTY_LINE, NEW_LINE, Rich, Room, Span, joined
from lago.domain.event import AdEvent, EventKind, NewestAd, OperatorAlert, WatchLive
from lago.domain.ids import EpochMs, Minor
from lago.domain.notification import Message, Notification
from lago.domain.time_zone import zone_of

TITLE_UNITS = 255
FIELD_UNITS = 80
DETAIL_UNITS = 40
DETAILS = 6
NEWEST = 3
ALERT_UNITS = 500

_SEPARATOR = Span(" · ")
_HEADINGS = {"new_ad": "New ad", "price_drop": "Price drop"}
_SYMBOLS = {"EUR": "€"}


def words(message: Message, time_zone: str, room: Room) -> Rich:
    """All that `message` says, as far as `room` allows; times in `time_zone` (IANA name, else Vienna)."""
    zone = zone_of(time_zone)
    if is_club(message):
        return _club(message, zone, room)
    return _single(message.notifications[0], zone)


def is_club(message: Message) -> bool:
    """Whether the message stands for more than one notification."""
    return len(message.notifications) + message.more > 1


def price(amount: Minor | None, currency: str, price_text: str = "") -> str:
    """A price to read: `price_text`, what the marketplace shows, only where there is no number.

    >>> price(123450, "EUR"), price(5000, "CHF"), price(0, "EUR"), price(None, "EUR", "Preis auf Anfrage")
    ('€ 1.234,50', 'CHF 50', 'free', 'Preis auf Anfrage')
    """
    if amount is None:
        return one_line(price_text, FIELD_UNITS) or "no price given"
    if amount == 0:
        return "free"
    whole, cents = divmod(abs(amount), 100)
    number = f"{whole:,}".replace(",", ".") + (f",{cents:02}" if cents else "")
    symbol = _SYMBOLS.get(currency) or one_line(currency, 8)
    return f"{'-' if amount < 0 else ''}{symbol} {number}"


def drop(old: Minor, new: Minor) -> str:
    """By how many percent a price fell, rounded down so that only a gift is 100; "" for less than a tenth.

    >>> drop(31000, 28300), drop(100000, 99500), drop(100000, 99999)
    ('-8 %', '-0.5 %', '')
    """
    tenths = (old - new) * 1000 // old if 0 <= new < old else 0
    if tenths >= 10:
        return f"-{tenths // 10} %"
    return f"-0.{tenths} %" if tenths else ""


def line(notification: Notification) -> Rich:
    """The notification on one line: what it is, linked, and for an ad its price and place."""
    event = notification.event
    if not isinstance(event, AdEvent):
        entry = WORDINGS[event.kind].entry(notification, UTC, False)
        return entry[: entry.index(NEW_LINE)] if NEW_LINE in entry else entry
    place = one_line(event.place, FIELD_UNITS)
    heading: Rich = (Span(f"{WORDINGS[event.kind].icon} "), _title(event))
    return joined([heading, _price_line(notification, event), (Span(place),) if place else ()], _SEPARATOR)


def summary(message: Message) -> str:
    """What a club stands for in numbers: in all, and of each kind ("3 in all: 2 new ads, 1 price drop")."""
    return f"{_grouped(len(message.notifications) + message.more)} in all: {_counts(message)}"


def _counts(message: Message) -> str:
    kinds = [notification.kind for notification in message.notifications]
    counts = [_count(kinds.count(kind), *wording.counted) for kind, wording in WORDINGS.items()]
    return ", ".join(filter(None, [*counts, f"{_grouped(message.more)} more" if message.more else ""]))


def _single(notification: Notification, zone: tzinfo) -> Rich:
    return WORDINGS[notification.kind].single(notification, zone)


def _ad(notification: Notification, zone: tzinfo) -> Rich:
    event = notification.event
    assert isinstance(event, AdEvent)  # noqa: S101 - registered for an ad's kinds
    label = _label(notification)
    heading = (
        Span(f"{WORDINGS[event.kind].icon} "),
        Span(_HEADINGS[event.kind], "b"),
        *((_SEPARATOR, label) if label else ()),
    )
    lines = [heading, (_title(event),), _price_line(notification, event), *_facts(notification, event, zone)]
    return joined([*lines, _gap_note((notification,))], NEW_LINE)


def _club(message: Message, zone: tzinfo, room: Room) -> Rich:
    """A header, as many notifications in full as fit, and how many more there are."""
    notifications = message.notifications
    labels = {(notification.label, notification.search_url) for notification in notifications}
    shown = joined([_club_heading(message, labelled=len(labels) == 1), _gap_note(notifications)], NEW_LINE)
    fitting = joined([shown, _more(len(notifications) + message.more)], EMPTY_LINE)
    for position, notification in enumerate(notifications, start=1):
        shown = joined([shown, _club_entry(notification, zone, labelled=len(labels) > 1)], EMPTY_LINE)
        with_rest = joined([shown, _more(len(notifications) - position + message.more)], EMPTY_LINE)
        if position > room.entries or not room.holds(with_rest):
            break
        fitting = with_rest
    return fitting


def _club_heading(message: Message, *, labelled: bool) -> Rich:
    heading = (Span("🔔 "), Span(_counts(message), "b"))
    label = _label(message.notifications[0])
    return (*heading, _SEPARATOR, label) if labelled and label else heading


def _club_entry(notification: Notification, zone: tzinfo, *, labelled: bool) -> Rich:
    return WORDINGS[notification.kind].entry(notification, zone, labelled)


def _ad_entry(notification: Notification, zone: tzinfo, labelled: bool) -> Rich:
    event = notification.event
    assert isinstance(event, AdEvent)  # noqa: S101 - registered for an ad's kinds
    label = _label(notification, linked=True) if labelled else None
    facts = [*_facts(notification, event, zone), (label,) if label else ()]
    lines = [
        (Span(f"{WORDINGS[event.kind].icon} "), _title(event)),
        _price_line(notification, event),
        joined(facts, _SEPARATOR),
    ]
    return joined(lines, NEW_LINE)


def _live(notification: Notification, _zone: tzinfo, _labelled: bool = False) -> Rich:
    event = notification.event
    assert isinstance(event, WatchLive)  # noqa: S101 - registered for its kind
    return joined(_live_lines(notification, event), NEW_LINE)


def _alert(notification: Notification, _zone: tzinfo, _labelled: bool = False) -> Rich:
    event = notification.event
    assert isinstance(event, OperatorAlert)  # noqa: S101 - registered for its kind
    return (Span("⚠️ "), Span(one_line(event.text, ALERT_UNITS) or "Alert without a text"))


def _trial(_notification: Notification, _zone: tzinfo, _labelled: bool = False) -> Rich:
    return (Span("✅ "), Span("Lago reaches you here", "b"), Span(". This is the test message that was asked for."))


def _live_lines(notification: Notification, event: WatchLive) -> list[Rich]:
    label = _label(notification)
    heading = (
        (Span("👀 Your watch "), Span(label.text, "b"), Span(" is live")) if label else (Span("👀 Your watch is live"),)
    )
    total = max(event.total, len(event.newest))
    if total == 0:
        return [heading, (Span("No ads match yet. New ones and price drops will reach you here."),)]
    matches = "1 ad matches" if total == 1 else f"{_grouped(total)} ads match"
    lines = [heading, (Span(f"{matches} now. New ones and price drops will reach you here."),)]
    if event.newest:
        lines.append((Span("The newest:"),))
    return lines + [_newest_line(ad) for ad in event.newest[:NEWEST]]


def _newest_line(ad: NewestAd) -> Rich:
    return (Span("• "), _title(ad), _SEPARATOR, Span(price(ad.price, ad.currency, ad.price_text)))


def _title(ad: AdEvent | NewestAd) -> Span:
    return Span(one_line(ad.title, TITLE_UNITS) or "Ad without a title", "b", web_link(ad.url))


def _label(notification: Notification, *, linked: bool = False) -> Span | None:
    text = one_line(notification.label, FIELD_UNITS)
    return Span(text, "", web_link(notification.search_url) if linked else "") if text else None


def _price_line(notification: Notification, event: AdEvent) -> Rich:
    now = Span(price(event.price, event.currency, event.price_text), "b")
    old = event.old_price if notification.old_price is None else notification.old_price
    if event.kind != "price_drop" or old is None:
        return (now,)
    percent = drop(old, event.price) if event.price is not None else ""
    before = (Span(", was "), Span(price(old, event.currency), "s"))
    return (now, *before, Span(f" ({percent})")) if percent else (now, *before)


def _facts(notification: Notification, event: AdEvent, zone: tzinfo) -> list[Rich]:
    """Where, who, what, when: each a line in a single message, parts of one line in a club."""
    place = [one_line(event.place, FIELD_UNITS), _distance(notification.distance_km)]
    seller = [_seller(event), "PayLivery" if event.paylivery else ""]
    details = [one_line(detail, DETAIL_UNITS) for detail in event.details[:DETAILS]]
    published = [_time(event.published, zone)]
    return [_fact("📍", place), _fact("👤", seller), _fact("📝", details), _fact("🕒", published)]


def _fact(icon: str, parts: list[str]) -> Rich:
    said = " · ".join(filter(None, parts))
    return (Span(f"{icon} {said}"),) if said else ()


def _distance(kilometres: float | None) -> str:
    if kilometres is None or not math.isfinite(kilometres) or kilometres < 0:
        return ""
    return f"{kilometres:.1f} km away" if kilometres < 10 else f"{kilometres:.0f} km away"


def _seller(event: AdEvent) -> str:
    kind = {"private": "Private seller", "dealer": "Dealer", None: ""}[event.seller_kind]
    name = one_line(event.seller_name, FIELD_UNITS)
    return f"{kind or 'Seller'}: {name}" if name else kind


def _time(moment: EpochMs | None, zone: tzinfo) -> str:
    if moment is None:
        return ""
    try:
        local = datetime.fromtimestamp(moment // 1000, zone)
    except (OverflowError, ValueError, OSError):  # a year that no calendar has: the ad is worth telling all the same
        return ""
    return f"{local.day} {local:%b %Y, %H:%M}" + (" UTC" if zone is UTC else "")


def _gap_note(notifications: tuple[Notification, ...]) -> Rich:
    for notification in notifications:
        if isinstance(notification.event, AdEvent) and notification.event.gap:
            search = Span("open the search", "", web_link(notification.search_url))
            return (Span("⚠️ More ads appeared than could be read: "), search)
    return ()


def _more(count: int) -> Rich:
    return (Span(f"… and {_grouped(count)} more", "i"),) if count > 0 else ()


def _count(number: int, singular: str, plural: str) -> str:
    return f"{_grouped(number)} {singular if number == 1 else plural}" if number else ""


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", ".")


class Wording(NamedTuple):
    """How notifications of a kind read: alone, and as an entry of a club (with the watch it is of, or without)."""

    icon: str
    counted: tuple[str, str]
    """One of them, several of them."""
    single: Callable[[Notification, tzinfo], Rich]
    entry: Callable[[Notification, tzinfo, bool], Rich]


WORDINGS: Mapping[EventKind, Wording] = {
    "new_ad": Wording("🆕", ("new ad", "new ads"), _ad, _ad_entry),
    "price_drop": Wording("📉", ("price drop", "price drops"), _ad, _ad_entry),
    "watch_live": Wording("👀", ("new watch", "new watches"), _live, _live),
    "operator_alert": Wording("⚠️", ("alert", "alerts"), _alert, _alert),
    "test": Wording("✅", ("test message", "test messages"), _trial, _trial),
}
"""The words of every kind (`lago.domain.kinds`), in the order in which a club counts them."""
