"""Strict readers of the markup that Lago writes for chats and mails: whatever they don't know came from a seller."""

import re
from html.parser import HTMLParser
from typing import NamedTuple


class Read(NamedTuple):
    """What a person sees, and where the links and pictures are."""

    text: str
    links: list[str]


_MRKDWN = re.compile(
    r"<(?P<href>https?://(?:[^<>|&\s]|&amp;)+)\|(?P<words>(?:[^<>&*_~`]|&(?:amp|lt|gt);)+)>"
    r"|(?P<mark>[*_~])"
    r"|(?P<text>(?:[^<>&*_~`]|&(?:amp|lt|gt);)+)"
)
_MARKDOWN = re.compile(
    r"\[(?P<words>(?:\\(?:[^\w\s]|_)|[^\\\[\]<>*_~`|@#])+)\]\((?P<href>https?://[^()<>\s*`|]+)\)"
    r"|<(?P<bare>https?://[^<>\s]+)>"
    r"|(?P<mark>\*\*|~~|\*)"
    r"|\\(?P<escaped>[^\w\s]|_)"
    r"|(?P<text>[^\\*_~`|>#\[\]<@]+)"
)


def read_mrkdwn(text: str) -> Read:
    """Slack's mrkdwn: three entities, three marks around words, links with words, nothing else."""
    read = _read(_MRKDWN, text, lambda words: words)
    return Read(entities_read(read.text), [entities_read(link) for link in read.links])


def entities_read(text: str) -> str:
    """Text in which Slack reads entities and nothing else; a mention or a link would begin with what must be one."""
    assert not re.search(r"[<>]|&(?!(?:amp|lt|gt);)", text), f"not escaped: {text!r}"
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def read_markdown(text: str) -> Read:
    """Discord's Markdown: escaped characters, three marks around words, links with words or in angle brackets."""
    for line in text.splitlines():
        assert not re.match(r"[-+] |\d+\. ", line), f"a list: {line[:40]!r}"
    return _read(_MARKDOWN, text, lambda words: re.sub(r"\\(.)", r"\1", words))


def _read(grammar: re.Pattern[str], text: str, unescape) -> Read:
    seen: list[str] = []
    links: list[str] = []
    opened: list[str] = []
    position = 0
    while position < len(text):
        token = grammar.match(text, position)
        assert token, f"not markup of ours at {text[position : position + 60]!r}"
        position = token.end()
        found = token.groupdict()
        if mark := found["mark"]:
            if opened and opened[-1] == mark:
                opened.pop()
            else:
                assert mark not in opened, f"{mark} in {opened}"
                opened.append(mark)
        elif link := found["href"] or found.get("bare"):
            links.append(link)
            seen.append(unescape(found["words"] or ""))
        else:
            said = found.get("escaped") or found["text"] or ""
            # Slack is told to link no bare addresses
            assert grammar is _MRKDWN or "://" not in said, f"a link of its own: {said[:60]!r}"
            seen.append(said)
    assert not opened, f"never ended: {opened}"
    return Read("".join(seen), links)


_TAGS = {
    "html": {"lang"},
    "head": set(),
    "meta": {"charset", "name", "content"},
    "title": set(),
    "body": {"style"},
    "div": {"style"},
    "p": {"style"},
    "img": {"src", "alt", "width", "style"},
    "a": {"href"},
    "br": set(),
    "b": set(),
    "i": set(),
    "s": set(),
}
_VOID = {"meta", "img", "br"}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS, f"<{tag}>"
        assert {name for name, _ in attrs} <= _TAGS[tag], f"<{tag} {attrs}>"
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.seen += [value or "" for name, value in attrs if name == "alt"]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}>"

    def handle_data(self, data: str) -> None:
        self.seen.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data!r}")


def read_page(html: str) -> Read:
    """A mail's HTML: the tags and attributes that Lago writes, each ended where it should."""
    page = _Page()
    page.feed(html)
    page.close()
    assert not page.open, f"never ended: {page.open}"
    return Read("".join(page.seen), page.links)
