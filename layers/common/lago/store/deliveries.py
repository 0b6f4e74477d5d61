"""The delivery log: what each destination was told, at which price. All in it was acknowledged by the far side."""

from collections.abc import Iterable

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from lago.domain.event import AdEvent, Event
from lago.domain.ids import DestinationId, EpochMs, Minor
from lago.domain.resolve import Told
from lago.store.connection import Table, find_all, table_name, translated

DAY_MS = 86_400_000


class DeliveryItem(Table):
    """One ad told to one destination. `told_at` in epoch ms, `expires_at` (TTL) in epoch seconds."""

    class Meta:
        table_name = table_name("DELIVERIES_TABLE")

    destination = UnicodeAttribute(hash_key=True)
    ad = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute()
    price = NumberAttribute(null=True)
    told_at = NumberAttribute()
    expires_at = NumberAttribute()


def telling(event: Event, now: EpochMs) -> Told:
    """What the log says once the event was told."""
    return Told(event.price if isinstance(event, AdEvent) else None, now)


class DeliveryStore:
    """The log of what was told. Every method may raise StoreUnavailableError."""

    def __init__(self, days: int) -> None:
        """`days` is how long the log is kept."""
        self._days = days

    def told(self, destination: DestinationId, events: Iterable[Event]) -> dict[str, Told]:
        """What of these events' subjects this destination was told, by subject, read consistently.

        An item past its TTL counts although DynamoDB may keep it for days more: known for longer harms nobody.
        """
        keys = [(destination, name) for name in sorted({event.subject for event in events})]
        return {
            item.ad: Told(None if item.price is None else Minor(int(item.price)), EpochMs(int(item.told_at)))
            for item in find_all(DeliveryItem, keys)
        }

    def log(self, destination: DestinationId, events: Iterable[Event], now: EpochMs) -> None:
        """Note that the far side acknowledged these events. Twice is once."""
        with translated():
            for event in events:
                told = telling(event, now)
                DeliveryItem(
                    destination,
                    event.subject,
                    kind=event.kind,
                    price=told.price,
                    told_at=told.at,
                    expires_at=(now + self._days * DAY_MS) // 1000,
                ).save()
