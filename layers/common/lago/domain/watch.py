"""One person's interest in a search."""

from msgspec import Struct

from lago.domain.ad import SellerKind
from lago.domain.ids import DestinationId, EpochMs, Minor, OwnerId, SearchId, WatchId


class Filters(Struct, frozen=True, kw_only=True):
    """What a watch lets through. Prices in minor units.

    An ad without a price passes the price bounds: better one message too many than an ad lost.
    A price drop passes when it is at least `drop_percent` percent or at least `drop_amount`, whichever is given;
    with neither, any drop does.
    """

    exclude_words: tuple[str, ...] = ()
    exclude_sellers: tuple[str, ...] = ()
    seller_kind: SellerKind | None = None
    price_from: Minor | None = None
    price_to: Minor | None = None
    drop_percent: float | None = None
    drop_amount: Minor | None = None


class Watch(Struct, frozen=True, kw_only=True):
    """`missed` counts what was found while the watch was paused: counted, not told."""

    id: WatchId
    search: SearchId
    owner: OwnerId
    label: str
    url: str
    """The search on the marketplace, for a person to open."""
    destinations: tuple[DestinationId, ...]
    created: EpochMs
    filters: Filters = Filters()
    near: tuple[float, float] | None = None
    """Latitude and longitude that distances are shown from."""
    paused: str = ""
    """Why the watch rests; empty while it runs."""
    missed: int = 0
