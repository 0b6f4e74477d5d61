"""Rich text as Slack's mrkdwn (docs.slack.dev/messaging/formatting-message-text).

Three characters are escaped, `&`, `<` and `>`: with them gone no `<!channel>`, `<@U…>` or `<url|text>` of a seller's
is one. For the formatting characters Slack has no escape, so look-alikes stand for them. Text goes out as `verbatim`:
Slack then links no bare addresses and no channel names in it.
"""

from lago.channels.clean import cut, utf16_length
from lago.channels.rich import Rich, Span

_LOOK_ALIKES = str.maketrans({"*": "\u2217", "_": "\u02cd", "~": "\u223c", "`": "\u02cb"})
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_IN_LINKS = str.maketrans({"&": "&amp;", "<": "%3C", ">": "%3E", "|": "%7C"})
_MARKS = {"": "", "b": "*", "s": "~", "i": "_"}
_LONGEST_ESCAPE = len("&amp;")


def escaped(text: str) -> str:
    """`text` so that Slack shows it and does nothing else with it."""
    return entities(text.translate(_LOOK_ALIKES))


def entities(text: str) -> str:
    """`text` without what begins a mention or a link, for where no formatting is read."""
    return text.translate(_ESCAPES)


def to_mrkdwn(text: Rich) -> str:
    """The whole text as mrkdwn."""
    return "".join(map(_span, text))


def fitting(text: Rich, units: int) -> str:
    """The text as mrkdwn of at most `units`: without its links when it is too long with them, cut when it still is."""
    shown = to_mrkdwn(text)
    if utf16_length(shown) <= units:
        return shown
    bare = to_mrkdwn(tuple(Span(span.text, span.style) for span in text))
    if utf16_length(bare) <= units:
        return bare
    return escaped(cut("".join(span.text for span in text), units // _LONGEST_ESCAPE))


def _span(span: Span) -> str:
    shown = escaped(span.text)
    if span.href:
        shown = f"<{span.href.translate(_IN_LINKS)}|{shown}>"
    mark = _MARKS[span.style]
    return f"{mark}{shown}{mark}"
