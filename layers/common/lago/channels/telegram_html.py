"""A message as Telegram wants it: pure functions, and the limits of core.telegram.org/bots/api#sendmessage.

Lengths are UTF-16 code units after the entities are parsed.
"""

from msgspec import Struct

from lago.channels.clean import web_link
from lago.channels.rich import Room, plain_length, shortened, to_html, to_plain, visible_length
from lago.channels.wording import is_club, words
from lago.domain.event import AdEvent
from lago.domain.notification import Message

CAPTION = Room(units=1_024, length=visible_length)
TEXT = Room(units=4_096, length=visible_length)
PLAIN = Room(units=4_096, length=plain_length)


class Button(Struct, frozen=True):
    """The one button under a message: an inline keyboard's only key."""

    text: str
    url: str


def caption(message: Message, time_zone: str) -> str:
    """HTML to stand under a photo."""
    return to_html(shortened(words(message, time_zone, CAPTION), CAPTION))


def text(message: Message, time_zone: str) -> str:
    """HTML to stand alone."""
    return to_html(shortened(words(message, time_zone, TEXT), TEXT))


def plain(message: Message, time_zone: str) -> str:
    """The same content without markup, links written out: for a chat that refuses the HTML, and for a terminal."""
    return to_plain(shortened(words(message, time_zone, PLAIN), PLAIN))


def photo(message: Message) -> str:
    """The link of the picture to show; "" for none. A club has none, it is about several ads."""
    event = message.notifications[0].event
    return web_link(event.image) if isinstance(event, AdEvent) and not is_club(message) else ""


def button(message: Message) -> Button | None:
    """To the ad, or to the search for a club and a new watch; None where there is no link that may be shown.

    A club of several searches has no button: each of its ads links to its own.
    """
    first = message.notifications[0]
    if isinstance(first.event, AdEvent) and not is_club(message):
        key = Button("Open the ad", web_link(first.event.url))
    else:
        searches = {notification.search_url for notification in message.notifications}
        key = Button("Open the search", web_link(first.search_url) if len(searches) == 1 else "")
    return key if key.url else None
