"""One event on its way to one destination, and the message that carries one or several."""

from hashlib import blake2b

from msgspec import Struct

from lago.domain.event import Event, EventKind
from lago.domain.ids import DestinationId, Minor, NotificationId, OwnerId, SearchId, WatchId


class Destination(Struct, frozen=True, kw_only=True):
    """Where messages go. The id is the owner's own and stable; everything else is an attribute, read live at send."""

    id: DestinationId
    owner: OwnerId
    channel: str
    address: str
    """A chat id, a mail address or a URL."""
    credentials: str = ""
    """The name of the secret, never the secret."""
    time_zone: str = "Europe/Vienna"
    disabled: str = ""
    """Why nothing is sent; empty while the destination works."""
    quiet: tuple[int, int] | None = None
    """Quiet hours in the destination's time zone: from and until, in minutes of the day; may span midnight."""
    club_seconds: int = 0
    """What is found within so many seconds is told together; 0 tells at once."""
    digest_at: int | None = None
    """When all that was found in a day is told together, in minutes of the day in its time zone; None: at once."""


class Notification(Struct, frozen=True, kw_only=True):
    """One event for one destination. `old_price` is the price it was last told, or first seen at, for a price drop."""

    id: NotificationId
    destination: DestinationId
    event: Event
    search: SearchId = SearchId("")
    watches: tuple[WatchId, ...]
    label: str
    """What the person calls the watch."""
    search_url: str
    old_price: Minor | None = None
    distance_km: float | None = None

    @property
    def kind(self) -> EventKind:
        """What the message announces."""
        return self.event.kind


class Message(Struct, frozen=True, kw_only=True):
    """What a channel sends at once: one notification, or a club of several. Never empty."""

    notifications: tuple[Notification, ...]
    more: int = 0
    """How many notifications beyond the shown ones this message stands for."""


def notification_id(destination: DestinationId, event: Event) -> NotificationId:
    """A function of (destination, ad, event, price): the same news twice has one id."""
    parts = (destination, event.kind, *event.identity)
    return NotificationId(blake2b("\n".join(parts).encode(), digest_size=12).hexdigest())
