"""A strict reader of the part of Telegram's HTML that Lago writes: what it takes, Telegram takes."""

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<text>[^<>&\"']+)"
    r"|&(?P<entity>lt|gt|amp|quot|#x27);"
    r"|<(?P<open>[bsi])>"
    r'|<a href="(?P<href>[^"<>]+)">'
    r"|</(?P<close>[bsia])>"
)
_CHARACTERS = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "#x27": "'"}


class Read(NamedTuple):
    """What a person sees, where the links go, and how many entities Telegram counts."""

    text: str
    links: list[str]
    entities: int


def read(html: str) -> Read:
    """Raises AssertionError where Telegram would complain, or where something unexpected is written."""
    seen: list[str] = []
    links: list[str] = []
    opened: list[tuple[str, int]] = []
    entities = position = 0
    while position < len(html):
        token = _TOKEN.match(html, position)
        assert token, f"not Telegram's HTML at {html[position : position + 40]!r}"
        position = token.end()
        if token["close"]:
            tag, start = opened.pop()
            assert tag == token["close"], f"<{tag}> ended by </{token['close']}>"
            assert len("".join(seen)) > start, f"empty <{tag}>"
            entities += 1
        elif token["href"]:
            assert "a" not in [tag for tag, _ in opened], "a link in a link"
            links.append(unescaped(token["href"]))
            opened.append(("a", len("".join(seen))))
        elif token["open"]:
            opened.append((token["open"], len("".join(seen))))
        else:
            seen.append(token["text"] or _CHARACTERS[token["entity"]])
    assert not opened, f"never ended: {opened}"
    return Read("".join(seen), links, entities)


def unescaped(text: str) -> str:
    """Text whose entities are all known ones."""
    return re.sub(r"&(#x27|\w*);?", lambda entity: _CHARACTERS[entity[1]], text)


def units(text: str) -> int:
    """Length in UTF-16 code units; an unpaired surrogate is an error."""
    return len(text.encode("utf-16-le")) // 2
