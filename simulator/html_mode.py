"""Telegram's HTML parse mode: text as the person sees it, entities, and Telegram's own complaints.

Facts: the Bot API's "Formatting options", and how Bot API servers word their errors. An unknown named entity such as
&nbsp; is no error there: it stays in the text.
"""

import re
from dataclasses import dataclass

TYPES = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "tg-emoji": "custom_emoji",
}
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_REFERENCE = re.compile(r"&(?:#(?P<decimal>[0-9]{1,7})|#x(?P<hex>[0-9a-fA-F]{1,6})|(?P<name>[A-Za-z]+));?")
_ATTRIBUTE = re.compile(r"""\s*([^\s=>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9.-]+)))?\s*""")
_NAME = re.compile(r"[^\s>]*")


class ParseError(Exception):
    """What follows "can't parse entities: " in Telegram's answer."""


@dataclass(frozen=True)
class Parsed:
    """`entities` in Telegram's JSON form; offsets and lengths are UTF-16 code units."""

    text: str
    entities: tuple[dict[str, object], ...]


@dataclass
class _Open:
    name: str
    offset: int
    attributes: dict[str, str]


def utf16(text: str) -> int:
    """Length as Telegram counts: UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse(source: str) -> Parsed:
    """The visible text and its entities. Raises ParseError in Telegram's words."""
    shown: list[str] = []
    length = 0
    opened: list[_Open] = []
    entities: list[dict[str, object]] = []
    at = 0
    while at < len(source):
        if source.startswith("</", at):
            at = _close(source, at, length, opened, entities)
        elif source[at] == "<":
            at, tag = _start(source, at, length)
            opened.append(tag)
        else:
            char, at = _character(source, at)
            shown.append(char)
            length += utf16(char)
    if opened:
        raise ParseError(f'Can\'t find end tag corresponding to start tag "{opened[-1].name}"')
    return _trimmed("".join(shown), entities)


def unescape(source: str) -> str:
    """Text with Telegram's entities resolved."""
    shown = []
    at = 0
    while at < len(source):
        char, at = _character(source, at)
        shown.append(char)
    return "".join(shown)


def _character(source: str, at: int) -> tuple[str, int]:
    found = _REFERENCE.match(source, at) if source[at] == "&" else None
    if found is None:
        return source[at], at + 1
    if found["name"]:
        char = _NAMED.get(found["name"])
    else:
        code = int(found["decimal"] or found["hex"], 10 if found["decimal"] else 16)
        char = chr(code) if 0 < code < 0x10FFFF and not 0xD800 <= code < 0xE000 else None
    return (char, found.end()) if char else ("&", at + 1)


def _start(source: str, at: int, length: int) -> tuple[int, _Open]:
    where = _byte(source, at)
    matched = _NAME.match(source, at + 1)
    name = matched[0].lower() if matched else ""
    position = at + 1 + len(name)
    if position >= len(source):
        raise ParseError(f"Unclosed start tag at byte offset {where}")
    if name not in TYPES:
        raise ParseError(f'Unsupported start tag "{name}" at byte offset {where}')
    attributes: dict[str, str] = {}
    while source[position] != ">":
        found = _ATTRIBUTE.match(source, position)
        if found is None or found.end() == position or found.end() >= len(source):
            raise ParseError(f"Unclosed start tag at byte offset {where}")
        attributes[found[1].lower()] = unescape(found[2] or found[3] or found[4] or "")
        position = found.end()
    if name == "span" and attributes.get("class") != "tg-spoiler":
        raise ParseError(f'Tag "span" must have class "tg-spoiler" at byte offset {where}')
    return position + 1, _Open(name, length, attributes)


def _close(source: str, at: int, length: int, opened: list[_Open], entities: list[dict[str, object]]) -> int:
    where = _byte(source, at)
    end = source.find(">", at)
    if end < 0:
        raise ParseError(f"Unclosed end tag at byte offset {where}")
    if not opened:
        raise ParseError(f"Unexpected end tag at byte offset {where}")
    name = source[at + 2 : end].strip().lower()
    tag = opened.pop()
    if name and name != tag.name:
        raise ParseError(f'Unmatched end tag at byte offset {where}, expected "</{tag.name}>", found "</{name}>"')
    if length > tag.offset:
        entity: dict[str, object] = {"type": TYPES[tag.name], "offset": tag.offset, "length": length - tag.offset}
        if tag.name == "a":
            entity["url"] = tag.attributes.get("href", "")
        entities.append(entity)
    return end + 1


def _trimmed(text: str, entities: list[dict[str, object]]) -> Parsed:
    """Telegram cuts white space at both ends; entities move and shrink with it."""
    lead = utf16(text) - utf16(text.lstrip())
    kept = text.strip()
    size = utf16(kept)
    moved = []
    for entity in sorted(entities, key=lambda one: (int(str(one["offset"])), -int(str(one["length"])))):
        begin = max(int(str(entity["offset"])) - lead, 0)
        end = min(int(str(entity["offset"])) + int(str(entity["length"])) - lead, size)
        if end > begin:
            moved.append(entity | {"offset": begin, "length": end - begin})
    return Parsed(kept, tuple(moved))


def _byte(source: str, at: int) -> int:
    return len(source[:at].encode("utf-8", "surrogatepass"))
