"""An ad of the invented market. Prices are euro cents, times UTC epoch milliseconds."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Status = Literal["active", "sold", "removed"]

MARKETPLACE, REAL_ESTATE, CARS = 5, 2, 3
"""willhaben's verticals."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an ad is; `areas` are the ids that the areaId parameter asks for, state first."""

    location: str
    postcode: str
    district: str
    state: str
    areas: tuple[str, ...]
    coordinates: str


@dataclass(frozen=True, kw_only=True)
class Ad:
    """One ad. `attributes` overrides single attributes of the page (None leaves one out), `raw` whole fields."""

    id: str
    title: str
    body: str
    cents: int | None
    price_text: str = ""
    published: int
    first_published: int
    changed: int
    vertical: int = MARKETPLACE
    categories: tuple[str, ...] = ()
    place: Place
    private: bool = True
    seller: str = ""
    paylivery: bool = False
    images: tuple[str, ...] = ()
    seo: bool = True
    status: Status = "active"
    bumped: bool = False
    promoted: bool = False
    tree_attributes: tuple[str, ...] = ()
    attributes: Mapping[str, tuple[str, ...] | None] = dataclasses.field(default_factory=dict)
    raw: Mapping[str, object] = dataclasses.field(default_factory=dict)

    @property
    def seo_url(self) -> str:
        """The path below /iad/ that the marketplace gives the ad."""
        slug = re.sub(r"[^a-z0-9]+", "-", fold(self.title)).strip("-")[:80] or "anzeige"
        section = {REAL_ESTATE: "immobilien/d", CARS: "gebrauchtwagen/d"}.get(self.vertical, "kaufen-und-verkaufen/d")
        return f"{section}/{slug}-{self.id}/"

    def to_json(self) -> dict[str, object]:
        """A form for the state file that `from_json` reads."""
        return dataclasses.asdict(self)


def from_json(data: Mapping[str, object]) -> Ad:
    """The ad that `to_json` wrote. Raises TypeError or KeyError for anything else."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    place = data["place"]
    attributes = data["attributes"]
    if not isinstance(place, dict) or not isinstance(attributes, dict):
        raise TypeError("place and attributes are objects")
    fields["place"] = Place(**(place | {"areas": tuple(place["areas"])}))
    fields["attributes"] = {name: None if v is None else tuple(v) for name, v in attributes.items()}
    return Ad(**fields)  # type: ignore[arg-type]


def fold(text: str) -> str:
    """Lower case without umlauts, as in willhaben's own paths."""
    table = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
    return text.lower().translate(table)
