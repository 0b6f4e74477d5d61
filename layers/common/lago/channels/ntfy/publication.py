"""A message as ntfy wants it (docs.ntfy.sh/publish, "Publish as JSON" and "Limitations"): pure functions.

A message holds 4,096 bytes, the whole JSON twice as many (ntfy's server/server.go, transformBodyJSON); both are kept
to as JSON counts, where a quote or a new line takes two.
"""

from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from lago.channels.clean import cut, web_link
from lago.channels.club import lines_of, whole
from lago.channels.rich import NEW_LINE, Rich, Room, Span, joined, to_plain
from lago.channels.wording import WORDINGS, is_club
from lago.domain.event import AdEvent, EventKind
from lago.domain.notification import Message

MESSAGE_BYTES = 4_096
LINK_BYTES = 900
"""Longer ones are left out: a link stands in up to three places of a JSON of 8,192 bytes."""
_TITLE_UNITS = 200
_LAGO = "Lago"
_CLUB_ICON, _CLUB_TAG = "🔔", "bell"
_TAGS: dict[EventKind, str] = {
    "new_ad": "new",
    "price_drop": "chart_with_downwards_trend",
    "watch_live": "eyes",
    "operator_alert": "warning",
    "test": "white_check_mark",
}
"""ntfy's names for the icons of `wording` (docs.ntfy.sh/emojis), which the apps put before the title."""


class _Action(Struct, frozen=True, kw_only=True):
    action: Literal["view"] = "view"
    label: str
    url: str


class _Publication(Struct, frozen=True, kw_only=True, omit_defaults=True):
    topic: str
    title: str
    message: str
    tags: tuple[str, ...] = ()
    priority: int
    click: str = ""
    attach: str = ""
    actions: tuple[_Action, ...] = ()


class _Way(NamedTuple):
    label: str
    url: str


def publication(message: Message, topic: str, time_zone: str) -> bytes:
    """The whole body."""
    way = _way_on(message)
    head, *rest = lines_of(_text(whole(message, time_zone, _ROOM), way.url))
    icon, tag = _look(message)
    heading = to_plain(head).removeprefix(icon).strip()
    return msgspec.json.encode(
        _Publication(
            topic=topic,
            title=cut(heading, _TITLE_UNITS) if rest else _LAGO,
            message=to_plain(joined(rest, NEW_LINE)) if rest else heading,
            tags=(tag,) if tag else (),
            priority=3,
            click=way.url,
            attach=_picture(message),
            actions=(_Action(label=way.label, url=way.url),) if way.url else (),
        )
    )


def _json_bytes(text: str) -> int:
    return len(msgspec.json.encode(text)) - len('""')


def _length(span: Span) -> int:
    return _json_bytes(to_plain((span,)))


_ROOM = Room(units=MESSAGE_BYTES, length=_length)


def _text(text: Rich, link: str) -> Rich:
    """Without the link that the notification itself leads to."""
    return tuple(Span(span.text) if span.href == link else span for span in text)


def _way_on(message: Message) -> _Way:
    """To the ad, or to the search where it is one; without a link where there is none that may be shown."""
    first = message.notifications[0]
    if isinstance(first.event, AdEvent) and not is_club(message):
        return _Way("Open the ad", _short(first.event.url))
    searches = {notification.search_url for notification in message.notifications}
    return _Way("Open the search", _short(first.search_url) if len(searches) == 1 else "")


def _picture(message: Message) -> str:
    event = message.notifications[0].event
    return _short(event.image) if isinstance(event, AdEvent) and not is_club(message) else ""


def _short(url: str | None) -> str:
    link = web_link(url)
    return link if _json_bytes(link) <= LINK_BYTES else ""


def _look(message: Message) -> tuple[str, str]:
    """The icon that the words begin with, and the tag that stands for it."""
    if is_club(message):
        return _CLUB_ICON, _CLUB_TAG
    kind = message.notifications[0].kind
    return WORDINGS[kind].icon, _TAGS.get(kind, "")
