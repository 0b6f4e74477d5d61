"""A message as Apprise wants it: a title and a body, plain or HTML, no longer than the service takes. Pure."""

from msgspec import Struct

from lago.channels.clean import cut, utf16_length
from lago.channels.club import lines_of, whole
from lago.channels.rich import NEW_LINE, Rich, Room, Span, joined, plain_length, to_html, to_plain
from lago.domain.event import AdEvent
from lago.domain.notification import Message

TITLE_UNITS = 200
LONGEST = 10_000
"""More is read by nobody, whatever the service would take."""
_HEAD_LINES = 3
"""An ad's heading, title and price."""
_LOOK_ALIKES = str.maketrans({"<": "\uff1c", ">": "\uff1e", "[": "\uff3b", "]": "\uff3d", "@": "\uff20"})
_IN_LINKS = str.maketrans({"<": "%3C", ">": "%3E", "[": "%5B", "]": "%5D"})
"""Apprise passes plain text on as it is, also to services (Discord, Mattermost, Zulip) that read markup in it."""


class Letter(Struct, frozen=True, kw_only=True):
    """`title` is empty where the service has none; `body` is HTML where that was asked for, else plain text."""

    title: str
    body: str


def write(message: Message, time_zone: str, *, units: int, html: bool, titled: bool) -> Letter:
    """The message in at most `units`; `titled` says whether the service shows a title apart from the body."""
    room = Room(
        units=min(units, LONGEST),
        length=_html_length if html else _plain_length,
        entities=LONGEST,
        link_bytes=LONGEST,
    )
    lines = lines_of(whole(message, time_zone, room))
    if not titled:
        return Letter(title="", body=_printed(joined(lines, NEW_LINE), html=html))
    first = message.notifications[0].event
    head = _HEAD_LINES if isinstance(first, AdEvent) and len(message.notifications) + message.more == 1 else 1
    said = " · ".join("".join(span.text for span in line).strip() for line in lines[:head])
    title = cut(said.translate(_LOOK_ALIKES), TITLE_UNITS)
    return Letter(title=title, body=_printed(joined(lines[1:] or lines, NEW_LINE), html=html))


def _printed(text: Rich, *, html: bool) -> str:
    return to_html(text).replace("\n", "<br>\n") if html else to_plain(tuple(map(_unread, text)))


def _unread(span: Span) -> Span:
    """The span with nothing in it that a service could take for markup or a mention."""
    return Span(span.text.translate(_LOOK_ALIKES), span.style, span.href.translate(_IN_LINKS))


def _plain_length(span: Span) -> int:
    return plain_length(_unread(span))


def _html_length(span: Span) -> int:
    return utf16_length(_printed((span,), html=True))
