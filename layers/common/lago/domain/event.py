"""What a scrape found. Stored in the search's outbox, so every event is small: at most `EVENT_BYTES` encoded."""

from typing import Literal

import msgspec
from msgspec import Struct

from lago.domain.ad import SellerKind
from lago.domain.ids import AdId, EpochMs, Minor, SourceName, WatchId

EVENT_BYTES = 600
"""Upper bound of one stored event; a search item ends at 400 KB (DynamoDB's limit)."""
PENDING_EVENTS = 100
"""Upper bound of the events pending on one search."""

AdEventKind = Literal["new_ad", "price_drop"]


class AdEvent(Struct, frozen=True, kw_only=True, array_like=True, tag="ad"):
    """An ad is new, or asks less than ever before.

    `old_price` is, for a price drop, the first price remembered: what was last told to a destination, where something
    was, takes its place when the message is made.
    """

    kind: AdEventKind
    source: SourceName
    ad: AdId
    title: str
    price: Minor | None
    currency: str
    price_text: str
    old_price: Minor | None
    published: EpochMs | None
    found: EpochMs
    url: str
    image: str | None
    place: str
    seller_kind: SellerKind | None
    seller_name: str
    coordinates: tuple[float, float] | None
    details: tuple[str, ...]
    paylivery: bool | None = None
    gap: bool = False
    """More ads appeared than could be read: some may be missing around this one."""

    @property
    def subject(self) -> str:
        """What it is about, as the delivery log's key."""
        return f"{self.source}/{self.ad}"

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes it the same news, beside its kind."""
        return (self.subject, str(self.price))


class NewestAd(Struct, frozen=True, kw_only=True, array_like=True):
    """One line of a watch_live message."""

    title: str
    price: Minor | None
    currency: str
    price_text: str
    url: str


class WatchLive(Struct, frozen=True, kw_only=True, array_like=True, tag="live"):
    """A watch has its baseline: how many ads match now, and the newest three."""

    watch: WatchId
    found: EpochMs
    total: int
    newest: tuple[NewestAd, ...]

    @property
    def kind(self) -> Literal["watch_live"]:
        """The notification kind, as for an AdEvent."""
        return "watch_live"

    @property
    def subject(self) -> str:
        """As for an AdEvent."""
        return f"live/{self.watch}"

    @property
    def identity(self) -> tuple[str, ...]:
        """As for an AdEvent."""
        return (self.watch,)


class OperatorAlert(Struct, frozen=True, kw_only=True, array_like=True, tag="operator"):
    """Something that whoever runs Lago should know. The same `key` at the same time is one alert."""

    key: str
    found: EpochMs
    text: str

    @property
    def kind(self) -> Literal["operator_alert"]:
        """The notification kind, as for an AdEvent."""
        return "operator_alert"

    @property
    def subject(self) -> str:
        """As for an AdEvent."""
        return f"operator/{self.key}/{self.found}"

    @property
    def identity(self) -> tuple[str, ...]:
        """As for an AdEvent."""
        return (self.key, str(self.found))


class Trial(Struct, frozen=True, kw_only=True, array_like=True, tag="test"):
    """A test message: somebody wants to see that a destination works. Each has a `key` of its own."""

    key: str
    found: EpochMs

    @property
    def kind(self) -> Literal["test"]:
        """The notification kind, as for an AdEvent."""
        return "test"

    @property
    def subject(self) -> str:
        """As for an AdEvent."""
        return f"test/{self.key}"

    @property
    def identity(self) -> tuple[str, ...]:
        """As for an AdEvent."""
        return (self.key,)


Event = AdEvent | WatchLive | OperatorAlert | Trial
EventKind = Literal["new_ad", "price_drop", "watch_live", "operator_alert", "test"]

_encoder = msgspec.msgpack.Encoder()
_events_decoder = msgspec.msgpack.Decoder(tuple[Event, ...])


def encode_events(events: tuple[Event, ...]) -> bytes:
    """The stored form of a run of events."""
    return _encoder.encode(events)


def decode_events(data: bytes) -> tuple[Event, ...]:
    """The events that `encode_events` stored. Raises msgspec.ValidationError for anything else."""
    return _events_decoder.decode(data)


def event_size(event: Event) -> int:
    """Encoded size in bytes."""
    return len(_encoder.encode(event))
