"""A club as a list: numbers at the head, a line for each notification, how many more there are, and where they are.

For channels that show a long message badly; Telegram's and mail's clubs tell each ad in full (`lago.channels.wording`).
"""

from collections.abc import Sequence

from msgspec import Struct

from lago.channels.clean import one_line, utf16_length, web_link
from lago.channels.rich import NEW_LINE, Rich, Room, Span, joined, shortened
from lago.channels.wording import FIELD_UNITS, is_club, line, summary, words
from lago.domain.event import AdEvent
from lago.domain.notification import Message

LINES = 25
"""What a person reads before they open the search instead."""
GAP = "⚠️ More ads appeared than could be read: open the search"


class Club(Struct, frozen=True, kw_only=True):
    """`search` is the link to the search; "" where there are several, or none that may be shown."""

    head: str
    lines: tuple[Rich, ...]
    more: int
    search: str
    gap: bool

    def rest(self, shown: int) -> Rich:
        """How many more there are after so many lines, linked to the search; nothing when all are shown."""
        count = len(self.lines) - shown + self.more
        return (Span(f"… and {count:,} more".replace(",", "."), "i", self.search),) if count > 0 else ()


def listed(message: Message) -> Club:
    """The club that `message` is."""
    notifications = message.notifications
    labels = {one_line(notification.label, FIELD_UNITS) for notification in notifications}
    searches = {notification.search_url for notification in notifications}
    label = labels.pop() if len(labels) == 1 else ""
    return Club(
        head=f"🔔 {summary(message)}" + (f" · {label}" if label else ""),
        lines=tuple(line(notification) for notification in notifications[:LINES]),
        more=max(len(notifications) - LINES, 0) + message.more,
        search=web_link(searches.pop()) if len(searches) == 1 else "",
        gap=any(isinstance(one.event, AdEvent) and one.event.gap for one in notifications),
    )


def whole(message: Message, time_zone: str, room: Room) -> Rich:
    """All of a message in one text, a club as its list; as much as `room` holds."""
    if not is_club(message):
        return shortened(words(message, time_zone, room), room)
    club = listed(message)
    shown: Rich = (Span(club.head, "b"),)
    if club.gap:
        shown = (*shown, NEW_LINE, Span(GAP))
    fitting = joined([shown, club.rest(0)], NEW_LINE)
    for position, one in enumerate(club.lines, start=1):
        shown = joined([shown, one], NEW_LINE)
        with_rest = joined([shown, club.rest(position)], NEW_LINE)
        if not room.holds(with_rest):
            break
        fitting = with_rest
    return shortened(fitting, room)


def lines_of(text: Rich) -> list[Rich]:
    """The lines of a text, without what separated them."""
    lines: list[Rich] = [()]
    for span in text:
        if span.text.strip("\n"):
            lines[-1] = (*lines[-1], span)
        else:
            lines.append(())
    return [one for one in lines if one]


def packed(lines: Sequence[str], units: int) -> list[str]:
    """The lines, none longer than `units`, in as few texts of at most `units` as hold them in their order."""
    texts: list[str] = []
    for one in lines:
        if texts and utf16_length(texts[-1]) + len("\n") + utf16_length(one) <= units:
            texts[-1] += f"\n{one}"
        else:
            texts.append(one)
    return texts
