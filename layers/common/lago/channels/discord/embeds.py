"""A message as Discord wants it: embeds, and the limits of docs.discord.com/developers/resources/message. Pure.

A title has 256 characters, a description 4,096, an author's name 256; a message ten embeds of 6,000 characters in all,
and 2,000 of content. What we take for a character is a UTF-16 unit: never fewer than Discord counts.
"""

from typing import Any

import msgspec

from lago.channels.clean import cut, utf16_length, web_link
from lago.channels.club import GAP, lines_of, listed, packed, whole
from lago.channels.discord.markdown import content, escaped, fitting, to_content
from lago.channels.rich import Rich, Room, Span, shortened, visible_length
from lago.channels.wording import is_club, words
from lago.domain.event import AdEvent, EventKind
from lago.domain.notification import Message

TITLE_UNITS = 256
DESCRIPTION_UNITS = 4_096
ALL_UNITS = 6_000
CONTENT_UNITS = 2_000
LINE_UNITS = 1_000
"""Of our own, so that one long line leaves room for others."""

COLOURS: dict[EventKind, int] = {
    "new_ad": 0x2ECC71,
    "price_drop": 0xE67E22,
    "watch_live": 0x3498DB,
    "operator_alert": 0xE74C3C,
    "test": 0x95A5A6,
}
_CLUB_COLOUR = COLOURS["new_ad"]
_SUPPRESS_EMBEDS = 1 << 2

_ROOM = Room(units=2_000, length=visible_length)
_PLAIN = Room(units=CONTENT_UNITS, length=lambda span: utf16_length(to_content((span,))))
_AD_HEAD_LINES = 2
"""An ad's heading and its title: the embed has places of its own for them."""

Json = dict[str, Any]


def forms(message: Message, time_zone: str) -> list[bytes]:
    """All ways to send a message, richest first; the last has nothing that Discord could fail to parse or to show."""
    club = is_club(message)
    rich = _club(message) if club else {"embeds": [_single(message, time_zone)]}
    text = content(whole(message, time_zone, _PLAIN), CONTENT_UNITS)
    return [msgspec.json.encode(way | _QUIET) for way in (rich, {"content": text, "flags": _SUPPRESS_EMBEDS})]


_QUIET: Json = {"allowed_mentions": {"parse": []}}
"""Nobody is notified by what a seller wrote, whatever it looks like."""


def _single(message: Message, time_zone: str) -> Json:
    notification = message.notifications[0]
    event = notification.event
    lines = lines_of(shortened(words(message, time_zone, _ROOM), _ROOM))
    embed: Json = {"color": COLOURS[event.kind]}
    if isinstance(event, AdEvent):
        # no Markdown is read in an author's name
        embed["author"] = {"name": cut(_bare(lines[0]), TITLE_UNITS)}
        embed["title"] = fitting(_unstyled(lines[1]), TITLE_UNITS)
        lines = lines[_AD_HEAD_LINES:]
        if picture := web_link(event.image):
            embed["image"] = {"url": picture}
    link = web_link(event.url) if isinstance(event, AdEvent) else web_link(notification.search_url)
    if link and "title" in embed:
        embed["url"] = link
    elif link and event.kind == "watch_live":
        lines = [*lines, (Span("Open the search", "", link),)]
    embed["description"] = "\n".join(_line(line) for line in lines)
    return embed


def _club(message: Message) -> Json:
    """The numbers as content, so that a phone shows them; the lines in as few embeds as hold them."""
    club = listed(message)
    head = escaped(cut(club.head, TITLE_UNITS))
    gap = [escaped(GAP)] if club.gap else []
    room = ALL_UNITS - _units(_line(club.rest(0)), *gap) - 2
    lines: list[str] = []
    for line in map(_line, club.lines):
        if _units(*lines, line) + len(lines) > room:
            break
        lines.append(line)
    rest = list(filter(None, [_line(club.rest(len(lines)))]))
    texts = packed([*lines, *rest, *gap], DESCRIPTION_UNITS)
    return {"content": head, "embeds": [{"color": _CLUB_COLOUR, "description": text} for text in texts]}


def _line(line: Rich) -> str:
    return fitting(line, LINE_UNITS)


def _units(*texts: str) -> int:
    return sum(map(utf16_length, texts))


def _bare(line: Rich) -> str:
    return "".join(span.text for span in line)


def _unstyled(line: Rich) -> Rich:
    return tuple(Span(span.text) for span in line)
