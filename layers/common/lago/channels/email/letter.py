"""What a mail says, as subject, text and HTML. Pure.

The HTML is plain: paragraphs with inline styles, pictures by link, no tables, no scripts, nothing that a mail program
would have to take out.
"""

from datetime import tzinfo
from html import escape
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from lago.channels.clean import cut, one_line, web_link
from lago.channels.rich import Rich, Room, Span, plain_length, shortened, to_html, to_plain
from lago.channels.wording import WORDINGS, is_club, line, summary, words
from lago.domain.event import AdEvent
from lago.domain.notification import Message, Notification
from lago.domain.time_zone import zone_of

ENTRIES = 25
"""Of a club; the rest is counted."""
HTML_BYTES = 80_000
"""Gmail shows no more than about 102 KB of a mail's HTML and hides the end, the way to unsubscribe with it."""
SUBJECT_UNITS = 150
SUBJECT_TITLE_UNITS = 80
"""Of a title in a subject: the price has to stay in sight."""
LABEL_UNITS = 60
ALT_UNITS = 120
PICTURE_WIDTH = 320

_SINGLE = Room(units=20_000, length=plain_length, entities=1_000, link_bytes=40_000)
_FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5"


class Letter(Struct, frozen=True, kw_only=True):
    """`subject` is one line; `text` and `html` say the same."""

    subject: str
    text: str
    html: str


class _Part(Struct, frozen=True):
    """A paragraph, and the picture above it: a checked https link and what it shows."""

    words: Rich
    picture: str = ""
    alt: str = ""


def write_letter(message: Message, time_zone: str, unsubscribe: str) -> Letter:
    """All that `message` says; times in `time_zone`. `unsubscribe` is a link, or "" for none."""
    parts = _club(message, zone_of(time_zone)) if is_club(message) else _single(message, time_zone)
    footer = [_Part((Span("Sent by Lago. "), Span("Unsubscribe", "", unsubscribe)))] if unsubscribe else []
    subject = _subject(message)
    return Letter(subject=subject, text=_text(parts, footer), html=_page(subject, parts, footer))


def _subject(message: Message) -> str:
    """Of one ad its title and price, of a club its numbers, of anything else its first line."""
    first = message.notifications[0]
    if is_club(message):
        labels = {notification.label for notification in message.notifications}
        label = one_line(first.label, LABEL_UNITS) if len(labels) == 1 else ""
        said = " · ".join(filter(None, [summary(message), label]))
    elif isinstance(first.event, AdEvent):
        titled = replace(first.event, title=one_line(first.event.title, SUBJECT_TITLE_UNITS))
        said = _unlinked(line(replace(first, event=titled)))
    else:
        said = _unlinked(words(message, "", _SINGLE)).partition("\n")[0]
    return cut(said, SUBJECT_UNITS)


def _unlinked(text: Rich) -> str:
    return "".join(span.text for span in text)


def _single(message: Message, time_zone: str) -> list[_Part]:
    notification = message.notifications[0]
    part = _illustrated(notification, shortened(words(message, time_zone, _SINGLE), _SINGLE))
    search = _search_link(message)
    return [part] if isinstance(notification.event, AdEvent) or not search else [part, _Part((search,))]


def _club(message: Message, zone: tzinfo) -> list[_Part]:
    """The numbers, as many notifications as a mail takes, and how many more there are."""
    notifications = message.notifications
    labelled = len({(notification.label, notification.search_url) for notification in notifications}) > 1
    label = "" if labelled else one_line(notifications[0].label, LABEL_UNITS)
    head = (Span("🔔 "), Span(summary(message), "b"), *((Span(f" · {label}"),) if label else ()))
    parts = [_Part(head)]
    if any(isinstance(each.event, AdEvent) and each.event.gap for each in notifications):
        parts.append(_Part((Span("⚠️ More ads appeared than could be read: look at the search, too."),)))
    size = 0
    shown = 0
    for notification in notifications[:ENTRIES]:
        entry = WORDINGS[notification.kind].entry(notification, zone, labelled)
        part = _illustrated(notification, entry)
        size += len(_paragraph(part).encode())
        if size > HTML_BYTES:
            break
        parts.append(part)
        shown += 1
    return [*parts, *_rest(message, len(notifications) - shown + message.more)]


def _rest(message: Message, more: int) -> list[_Part]:
    said: Rich = (Span(f"… and {more:,} more".replace(",", "."), "i"),) if more else ()
    search = _search_link(message)
    if search:
        said = (*said, Span(" · "), search) if said else (search,)
    return [_Part(said)] if said else []


def _search_link(message: Message) -> Span | None:
    """To the search; None for a club of several, whose entries link to their own."""
    searches = {notification.search_url for notification in message.notifications}
    url = web_link(searches.pop()) if len(searches) == 1 else ""
    return Span("Open the search", "", url) if url else None


def _illustrated(notification: Notification, said: Rich) -> _Part:
    event = notification.event
    picture = web_link(event.image) if isinstance(event, AdEvent) else ""
    if not isinstance(event, AdEvent) or not picture or urlsplit(picture).scheme != "https":
        return _Part(said)
    return _Part(said, picture, one_line(event.title, ALT_UNITS))


def _text(parts: list[_Part], footer: list[_Part]) -> str:
    body = "\n\n".join(to_plain(part.words) for part in parts)
    # "-- " and a line of its own is where mail programs look for what is not the message itself (RFC 3676, 4.3)
    return body + "".join(f"\n\n-- \n{to_plain(part.words)}" for part in footer) + "\n"


def _page(subject: str, parts: list[_Part], footer: list[_Part]) -> str:
    small = "".join(
        f'<p style="margin:32px 0 0;font-size:13px;color:#767676">{to_html(part.words)}</p>\n' for part in footer
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(subject)}</title></head>\n"
        f'<body style="margin:0;padding:16px;{_FONT}">\n'
        f"{''.join(map(_paragraph, parts))}{small}</body>\n</html>\n"
    )


def _paragraph(part: _Part) -> str:
    picture = (
        f'<img src="{escape(part.picture)}" alt="{escape(part.alt)}" width="{PICTURE_WIDTH}" '
        'style="display:block;max-width:100%;height:auto;margin:0 0 8px">\n'
        if part.picture
        else ""
    )
    # only our own line ends are left in the words: a seller's went through `one_line`
    said = to_html(part.words).replace("\n", "<br>\n")
    return f'<div style="margin:0 0 20px">{picture}{said}</div>\n'
