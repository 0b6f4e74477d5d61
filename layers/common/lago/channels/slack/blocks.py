"""A message as Slack wants it: Block Kit, and the limits of docs.slack.dev/reference/block-kit/blocks. Pure.

A text object holds 3,000 characters, a header 150, a picture's or button's link 3,000, a message 50 blocks.
"""

from typing import Any
from urllib.parse import urlsplit

import msgspec

from lago.channels.clean import cut, web_link
from lago.channels.club import GAP, Club, lines_of, listed, packed, whole
from lago.channels.rich import Rich, Room, Span, plain_length, shortened, to_plain
from lago.channels.slack.mrkdwn import entities, escaped, fitting
from lago.channels.wording import is_club, words
from lago.domain.event import AdEvent
from lago.domain.notification import Message

TEXT_UNITS = 3_000
HEADER_UNITS = 150
ALT_UNITS = 200
FALLBACK_UNITS = 300
"""Of the text that notifications show, and readers of a screen: the blocks say the rest."""

_ROOM = Room(units=2_000, length=plain_length)
"""Of a single message; escaped and marked up it still fits into its two text objects."""
_PLAIN = Room(units=TEXT_UNITS, length=plain_length)
_HEADING_LINES = 3
"""An ad's heading, title and price; the facts stand below them, smaller."""

Json = dict[str, Any]


def forms(message: Message, time_zone: str) -> list[bytes]:
    """All ways to send a message, richest first; the last has nothing that Slack could fail to parse or to fetch."""
    ways = [_payload(message, time_zone, picture=False), _plain(message, time_zone)]
    if _picture(message):
        ways.insert(0, _payload(message, time_zone, picture=True))
    return [msgspec.json.encode(way) for way in ways]


def _payload(message: Message, time_zone: str, *, picture: bool) -> Json:
    if is_club(message):
        club = listed(message)
        return _message(escaped(cut(club.head, FALLBACK_UNITS)), _club_blocks(club))
    text = shortened(words(message, time_zone, _ROOM), _ROOM)
    return _message(_fallback(text), _single_blocks(message, text, picture=picture))


def _message(text: str, blocks: list[Json]) -> Json:
    return {"text": text, "blocks": blocks, "unfurl_links": False, "unfurl_media": False}


def _plain(message: Message, time_zone: str) -> Json:
    text = entities(to_plain(whole(message, time_zone, _PLAIN)))
    return {"text": text, "mrkdwn": False, "unfurl_links": False, "unfurl_media": False}


def _single_blocks(message: Message, text: Rich, *, picture: bool) -> list[Json]:
    lines = lines_of(text)
    event = message.notifications[0].event
    heading = _HEADING_LINES if isinstance(event, AdEvent) else len(lines)
    section: Json = {"type": "section", "text": _mrkdwn(_in_lines(lines[:heading]))}
    if picture and isinstance(event, AdEvent):
        alt = cut(" ".join(span.text for span in lines[1]), ALT_UNITS)
        section["accessory"] = {"type": "image", "image_url": _picture(message), "alt_text": alt}
    blocks = [section]
    if facts := lines[heading:]:
        blocks.append({"type": "context", "elements": [_mrkdwn(_in_lines(facts))]})
    return blocks + _button(*_way_on(message))


def _club_blocks(club: Club) -> list[Json]:
    """Header, lines packed into as few sections as hold them, what is missing, and a button to the search."""
    header: Json = {"type": "header", "text": {"type": "plain_text", "text": cut(club.head, HEADER_UNITS)}}
    lines = [fitting(line, TEXT_UNITS) for line in club.lines]
    sections: list[Json] = [{"type": "section", "text": _mrkdwn(text)} for text in packed(lines, TEXT_UNITS)]
    notes = list(filter(None, [fitting(club.rest(len(club.lines)), TEXT_UNITS), escaped(GAP) if club.gap else ""]))
    context: list[Json] = [{"type": "context", "elements": [_mrkdwn(note) for note in notes]}] if notes else []
    return [header, *sections, *context, *_button("Open the search", club.search)]


def _in_lines(lines: list[Rich]) -> str:
    text: Rich = ()
    for one in lines:
        text = (*text, Span("\n"), *one) if text else one
    return fitting(text, TEXT_UNITS)


def _mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _button(text: str, url: str) -> list[Json]:
    if not url:
        return []
    key: Json = {"type": "button", "text": {"type": "plain_text", "text": text}, "url": url, "action_id": "open"}
    return [{"type": "actions", "elements": [key]}]


def _way_on(message: Message) -> tuple[str, str]:
    first = message.notifications[0]
    if isinstance(first.event, AdEvent):
        return "Open the ad", web_link(first.event.url)
    return "Open the search", web_link(first.search_url)


def _picture(message: Message) -> str:
    """The picture's link, https only as Slack wants it; "" for a club, or none."""
    event = message.notifications[0].event
    link = web_link(event.image) if isinstance(event, AdEvent) and not is_club(message) else ""
    return link if link and urlsplit(link).scheme == "https" else ""


def _fallback(text: Rich) -> str:
    """The first lines, without links: what a phone shows before the message is opened."""
    heads = ["".join(span.text for span in one).strip() for one in lines_of(text)[:_HEADING_LINES]]
    return escaped(cut(" · ".join(heads), FALLBACK_UNITS))
