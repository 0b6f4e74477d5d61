r"""Rich text as Discord's Markdown: every character that could format, mention, link or embed has a `\` before it.

Discord takes a backslash away before any character that is neither letter, digit nor space. Inside the brackets of a
link it does not see that a bracket is escaped, so look-alikes stand for them there.
"""

import re

from lago.channels.clean import cut, utf16_length
from lago.channels.rich import Rich, Span

_SPECIAL = re.compile(r"([\\*_~`|>#\[\]<@]|^[-+]|:(?=//))")
_BRACKETS = str.maketrans({"[": "\uff3b", "]": "\uff3d"})
_IN_LINKS = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "*": "%2A", "`": "%60", "|": "%7C"})
_MARKS = {"": "", "b": "**", "s": "~~", "i": "*"}
_LONGEST_ESCAPE = 2


def escaped(text: str) -> str:
    """`text` so that Discord shows it and does nothing else with it."""
    return _SPECIAL.sub(r"\\\1", text)


def to_markdown(text: Rich) -> str:
    """The whole text as Markdown, links behind their words."""
    return "".join(map(_span, text))


def to_content(text: Rich) -> str:
    """The whole text without styles, links written out and kept from unfolding."""
    return "".join(f"{escaped(span.text)} <{_link(span.href)}>" if span.href else escaped(span.text) for span in text)


def content(text: Rich, units: int) -> str:
    """`to_content` of at most `units`: without its links and cut, where escaping made it too long."""
    shown = to_content(text)
    return shown if utf16_length(shown) <= units else _cut(text, units)


def fitting(text: Rich, units: int) -> str:
    """The text as Markdown of at most `units`: without its links when it is too long with them, then cut."""
    shown = to_markdown(text)
    if utf16_length(shown) <= units:
        return shown
    bare = to_markdown(tuple(Span(span.text, span.style) for span in text))
    if utf16_length(bare) <= units:
        return bare
    return _cut(text, units)


def _cut(text: Rich, units: int) -> str:
    return escaped(cut("".join(span.text for span in text), units // _LONGEST_ESCAPE))


def _span(span: Span) -> str:
    mark = _MARKS[span.style]
    if not span.href:
        return f"{mark}{escaped(span.text)}{mark}"
    return f"{mark}[{escaped(span.text.translate(_BRACKETS))}]({_link(span.href)}){mark}"


def _link(url: str) -> str:
    return url.translate(_IN_LINKS)
