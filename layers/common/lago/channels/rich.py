"""Styled text as spans: written once, printed as Telegram HTML or as plain text, cut between and inside spans only.

Because a tag exists only when a span is printed, no cut can fall inside a tag or an entity.
"""

from bisect import bisect_right
from collections.abc import Callable
from html import escape
from typing import Literal

from msgspec import Struct

from lago.channels.clean import cut, utf16_length

ENTITIES = 100
"""Styles and links in one message; Telegram ignores the ones after (tdlib/telegram-bot-api issue 820)."""
LINK_BYTES = 8_000
"""Of all links in one message: about 9,500 is refused as ENTITIES_TOO_LONG (tdlib/telegram-bot-api issue 165)."""

Style = Literal["", "b", "s", "i"]


class Span(Struct, frozen=True):
    """A run of characters in one style; `href`, when given, is a checked http(s) link."""

    text: str
    style: Style = ""
    href: str = ""


Rich = tuple[Span, ...]

NEW_LINE = Span("\n")
EMPTY_LINE = Span("\n\n")


class Room(Struct, frozen=True):
    """How much text fits: `units`, as `length` counts one span (Telegram: UTF-16 code units); `entries` of a club."""

    units: int
    length: Callable[[Span], int]
    entities: int = ENTITIES
    link_bytes: int = LINK_BYTES
    entries: int = 1_000

    def holds(self, text: Rich) -> bool:
        """Whether `text` would be taken whole, with all its links and styles."""
        return (
            sum(map(self.length, text)) <= self.units
            and sum(map(_entities, text)) <= self.entities
            and sum(len(span.href.encode()) for span in text) <= self.link_bytes
        )


def visible_length(span: Span) -> int:
    """What Telegram counts of a span sent as HTML: the text without its tags."""
    return utf16_length(span.text)


def plain_length(span: Span) -> int:
    """What Telegram counts of a span sent as plain text: its link is written out."""
    return utf16_length(_plain(span))


def to_html(text: Rich) -> str:
    """Telegram's HTML (core.telegram.org/bots/api#html-style): every character that is not ours is escaped."""
    return "".join(map(_html, text))


def to_plain(text: Rich) -> str:
    """The same content without markup; a link stands behind its text."""
    return "".join(map(_plain, text))


def joined(parts: list[Rich], separator: Span) -> Rich:
    """The parts that are not empty, with the separator between them."""
    result: Rich = ()
    for part in filter(None, parts):
        result = (*result, separator, *part) if result else part
    return result


def shortened(text: Rich, room: Room) -> Rich:
    """`text` cut to fit: a span that does not fit loses its style and link first, then its end and all after it."""
    kept: Rich = ()
    for span in text:
        bare = Span(span.text)
        if room.holds((*kept, span)):
            kept = (*kept, span)
        elif room.holds((*kept, bare)):
            kept = (*kept, bare)
        else:
            return (*kept, _beginning(span.text, room.units - sum(map(room.length, kept)), room.length))
    return kept


def _beginning(text: str, left: int, length: Callable[[Span], int]) -> Span:
    """As much of `text` as `left` holds, as `length` counts it: escaped, a character may take six."""
    sizes = range(max(left, 0) + 1)
    fitting = bisect_right(sizes, left, key=lambda units: length(Span(cut(text, units))))
    return Span(cut(text, max(fitting - 1, 0)))


def _entities(span: Span) -> int:
    return bool(span.style) + bool(span.href)


def _html(span: Span) -> str:
    html = escape(span.text)
    if span.href:
        html = f'<a href="{escape(span.href)}">{html}</a>'
    return f"<{span.style}>{html}</{span.style}>" if span.style else html


def _plain(span: Span) -> str:
    return f"{span.text} {span.href}" if span.href else span.text
