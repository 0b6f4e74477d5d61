"""What an event still means to a destination, given what that was told of the ad before."""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from lago.domain.event import AdEvent
from lago.domain.filters import passes_drop
from lago.domain.ids import EpochMs, Minor
from lago.domain.notification import Notification
from lago.domain.watch import Filters


class Told(NamedTuple):
    """What a destination was told of an ad: at which price, and when (epoch ms)."""

    price: Minor | None
    at: EpochMs


def resolve(notification: Notification, told: Told | None, filters: Iterable[Filters]) -> Notification | None:
    """The notification as it is worth sending, or None when there is no news in it.

    A new ad that was told before is at most a price drop (it left the search's memory and came back); a drop is
    measured against the price last told, and where nothing was told, against the first price remembered. `filters` are
    those of the watches it is for: one that lets a drop through is enough.
    """
    event = notification.event
    if not isinstance(event, AdEvent):
        return None if told else notification
    if event.kind == "new_ad" and told is None:
        return notification
    reference = told.price if told is not None and told.price is not None else event.old_price
    if event.price is None or reference is None or event.price >= reference:
        return None
    if not any(passes_drop(each, reference, event.price) for each in filters):
        return None
    drop = event if event.kind == "price_drop" else replace(event, kind="price_drop", old_price=reference)
    return replace(notification, event=drop, old_price=reference)
