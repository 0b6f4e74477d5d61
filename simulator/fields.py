"""The keyword arguments of the client, typed."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypedDict


class AdFields(TypedDict, total=False):
    """What an ad can be given. `price` in euros, times in UTC epoch ms.

    `attributes` sets attributes of the page (None leaves one out), `raw` whole fields of the advertSummary.
    """

    kind: str
    title: str
    body: str
    price: int | float | str | Decimal | None
    price_text: str
    published: int
    first_published: int
    categories: Sequence[str]
    place: str
    private: bool
    seller: str
    paylivery: bool
    images: Sequence[str]
    seo: bool
    bumped: bool
    promoted: bool
    tree_attributes: Sequence[str]
    attributes: Mapping[str, Sequence[str] | None]
    raw: Mapping[str, object]


class FaultFields(TypedDict, total=False):
    """Which requests a fault hits, how often, and how."""

    times: int | None
    after: int
    path: str
    method: str
    chat: int
    text: str
    status: int
    retry_after: int
    seconds: float
    insert: int
    remove: int
    honest: bool
