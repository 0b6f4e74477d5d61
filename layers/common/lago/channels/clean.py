"""Hostile text made safe to show, and measured as Telegram measures.

Everything that a seller typed passes through `one_line` before it becomes part of a message. Markup is not the business
here (`rich` escapes): this is about characters that hide, reorder, stretch or notify.
"""

import re
import unicodedata
from urllib.parse import urlsplit

ELLIPSIS = "…"
LINK_CHARACTERS = 2_048
"""Longer links are refused: browsers and Telegram have limits of their own above it."""

_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co"})
"""Control, format (bidi overrides and isolates, zero-width characters), unpaired surrogate, private use."""
_INVISIBLE_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Blank although Unicode calls them letters, marks or symbols."""
_MARKS_IN_A_ROW = 4
"""More combining marks on one letter are a stack that covers the lines around it."""

_ZWJ = "\u200d"
_EMOJI = "\u2600-\u2bff\ufe0f\U0001f000-\U0001faff"
_STRAY_ZWJ = re.compile(f"(?<![{_EMOJI}]){_ZWJ}|{_ZWJ}(?![{_EMOJI}])")
_SKIN_TONES = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_FULL_WIDTH_AT = "\uff20"
_MENTION = re.compile(r"@(?=[A-Za-z]\w{3})")


def one_line(text: str, units: int) -> str:
    """`text` on one line of at most `units` UTF-16 code units, without characters that hide, reorder or pile up.

    The zero-width joiner stays inside emoji only. A mention would notify a stranger: its @ becomes a full-width one.

    >>> one_line("Rad" + chr(0x202E) + " nearly  new", 100)
    'Rad nearly new'
    """
    line = " ".join(_STRAY_ZWJ.sub("", "".join(_visible(text))).split())
    return cut(_MENTION.sub(_FULL_WIDTH_AT, line), units)


def _visible(text: str) -> list[str]:
    kept: list[str] = []
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if character.isspace():
            kept.append(" ")
        elif character == _ZWJ or not (
            category in _INVISIBLE_CATEGORIES or character in _INVISIBLE_LETTERS or marks > _MARKS_IN_A_ROW
        ):
            kept.append(character)
    return kept


def utf16_length(text: str) -> int:
    """Length in UTF-16 code units, as Telegram counts: a character outside the basic plane counts twice."""
    return len(text) + sum(character > "\uffff" for character in text)


def cut(text: str, units: int) -> str:
    """The start of `text` in at most `units` UTF-16 code units, ending in "…" if something was cut off.

    Never inside a character that a person sees as one: a letter with its accents, an emoji with its parts.
    """
    if utf16_length(text) <= units:
        return text
    end, used = 0, len(ELLIPSIS)
    for character in text:
        used += utf16_length(character)
        if used > units:
            break
        end += 1
    while end > 0 and _continues(text, end):
        end -= 1
    return text[:end].rstrip() + ELLIPSIS if units >= len(ELLIPSIS) else ""


def _continues(text: str, position: int) -> bool:
    """Whether the character at `position` belongs to the one before it."""
    character = text[position]
    return (
        character == _ZWJ
        or text[position - 1] == _ZWJ
        or character in _SKIN_TONES
        or unicodedata.category(character) in ("Mn", "Me")
    )


def web_link(url: str | None) -> str:
    """`url` when it is a plain http(s) link that may be shown, else "".

    Refused are other schemes, a user name (it makes a stranger's host look like another's), characters that hide, and
    what is too long. Never raises.
    """
    if not url or len(url) > LINK_CHARACTERS or "\\" in url or any(_unprintable(c) for c in url):
        return ""
    try:
        parts = urlsplit(url)
        well_formed = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return ""
    return url if well_formed and "@" not in parts.netloc else ""


def _unprintable(character: str) -> bool:
    return character.isspace() or unicodedata.category(character)[0] == "C" or character in _INVISIBLE_LETTERS
