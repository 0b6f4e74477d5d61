"""An ad and a page of them, as a source hands them over."""

from typing import Literal

from msgspec import Struct

from lago.domain.ids import AdId, EpochMs, Minor, SourceName

SellerKind = Literal["private", "dealer"]


class Ad(Struct, frozen=True, kw_only=True):
    """One classified ad. Identity is `(source, id)` and nothing else: never price, title or time."""

    source: SourceName
    id: AdId
    title: str
    price: Minor | None = None
    """None when the seller names none; 0 is a gift."""
    currency: str = "EUR"
    price_text: str = ""
    """The price as the marketplace displays it, kept for ads without a number."""
    published: EpochMs | None = None
    """When the ad last came to the top: a bump renews it."""
    url: str
    image: str | None = None
    place: str = ""
    seller_kind: SellerKind | None = None
    seller_name: str = ""
    coordinates: tuple[float, float] | None = None
    """Latitude and longitude in degrees."""
    details: tuple[str, ...] = ()
    """Short facts such as "70 m²" or "3 Zimmer"."""
    categories: tuple[str, ...] = ()
    paylivery: bool | None = None
    promoted: bool = False
    """Paid to stand out of order: takes no part in paging decisions."""
    bumped: bool = False
    """Paid or asked to be published anew: not a new ad by itself."""


class Page(Struct, frozen=True, kw_only=True):
    """One result page, newest first apart from promoted ads.

    `rows` is the page size that the server used (it may cap what was asked), `total` the number of matches it names,
    `skipped` how many entries could not be read, `listed` how many entries the page held, read or not.
    """

    number: int
    ads: tuple[Ad, ...]
    rows: int
    total: int | None = None
    skipped: int = 0
    listed: int

    @property
    def organic(self) -> tuple[Ad, ...]:
        """The ads that stand in publication order."""
        return tuple(ad for ad in self.ads if not ad.promoted)
