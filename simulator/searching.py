"""Reads a search URL as willhaben does, and decides which ads it matches and in which order."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl

from simulator.ads import CARS, MARKETPLACE, REAL_ESTATE, Ad, fold

ROWS_DEFAULT = 30
ROWS_CAP = 200
"""willhaben caps silently."""
NEWEST, CHEAPEST, DEAREST, RELEVANCE = 1, 3, 4, 7
SORTS = {1: "Aktualität", 2: "Entfernung", 3: "Preis aufsteigend", 4: "Preis absteigend", 7: "Relevanz"}

_SECTIONS = (
    ("/iad/kaufen-und-verkaufen/marktplatz", MARKETPLACE, 301),
    ("/iad/gebrauchtwagen/auto/gebrauchtwagenboerse", CARS, 201),
    ("/iad/immobilien/mietwohnungen/mietwohnung-angebote", REAL_ESTATE, 131),
    ("/iad/immobilien/eigentumswohnung/eigentumswohnung-angebote", REAL_ESTATE, 101),
    ("/iad/immobilien/haus-kaufen/haus-angebote", REAL_ESTATE, 102),
    ("/iad/immobilien/haus-mieten/haus-angebote", REAL_ESTATE, 132),
    ("/iad/immobilien/grundstuecke/grundstueck-angebote", REAL_ESTATE, 14),
    ("/iad/immobilien/neubauprojekte/angebote", REAL_ESTATE, 42),
)
_CATEGORY = re.compile(r"^(?:.*)-(\d+)$")
_CHOICES = {"NO_OF_ROOMS_BUCKET": "ROOMS", "PROPERTY_TYPE": "PROPERTY_TYPE_ID", "ENGINE/FUEL": "ENGINE/FUEL"}
"""Parameters of real estate and cars that name one of an attribute's values; make and model filter nothing here."""


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """One result page that was asked for. `sort` is None when the URL named none: the order is then no order."""

    path: str
    vertical: int
    search_id: int
    category: str | None = None
    params: tuple[tuple[str, str], ...] = ()
    rows: int = ROWS_DEFAULT
    page: int = 1
    sort: int | None = None

    def all(self, name: str) -> list[str]:
        """Every value of a repeatable parameter."""
        return [value for key, value in self.params if key == name and value]

    def one(self, name: str) -> str:
        """The last value of a parameter, or nothing."""
        values = self.all(name)
        return values[-1] if values else ""


def parse(path: str, query: str) -> SearchRequest | None:
    """The search that a URL asks for, or None where willhaben answers 404. Odd numbers fall back to defaults."""
    for prefix, vertical, search_id in _SECTIONS:
        rest = path.removeprefix(prefix)
        if rest == path or (rest and not rest.startswith("/")):
            continue
        params = tuple(parse_qsl(query, keep_blank_values=True))
        named = dict(params)
        return SearchRequest(
            path=path,
            vertical=vertical,
            search_id=search_id,
            category=_category(rest, named),
            params=params,
            rows=min(_number(named.get("rows"), ROWS_DEFAULT), ROWS_CAP),
            page=_number(named.get("page"), 1),
            sort=_number(named.get("sort"), 0) or None,
        )
    return None


def select(ads: Iterable[Ad], request: SearchRequest, now: int, *, filters: bool = True) -> list[Ad]:
    """The active ads that match, in no order. Without `filters` the whole vertical, as when they are ignored."""
    found = (ad for ad in ads if ad.status == "active" and ad.vertical == request.vertical)
    return [ad for ad in found if not filters or matches(ad, request, now)]


def matches(ad: Ad, request: SearchRequest, now: int) -> bool:
    """Whether the ad passes every parameter; one without a price never passes a price bound."""
    areas, private, trees = request.all("areaId"), request.one("ISPRIVATE"), request.all("treeAttributes")
    days = _number(request.one("periode"), 0)
    return (
        (not request.category or request.category in ad.categories)
        and _has_words(ad, request.one("keyword"))
        and _in_range(ad.cents, request.one("PRICE_FROM"), request.one("PRICE_TO"), scale=100)
        and (not areas or bool(set(areas) & set(ad.place.areas)))
        and (private not in ("0", "1") or ad.private == (private == "1"))
        and (request.one("paylivery") != "true" or ad.paylivery)
        and (not trees or bool(set(trees) & set(ad.tree_attributes)))
        and (not days or ad.published >= now - days * 86_400_000)
        and _has_attributes(ad, request)
    )


def in_order(ads: Iterable[Ad], sort: int | None, salt: str) -> list[Ad]:
    """Ads as the sort parameter asks; without one, an order that looks random but repeats for the same `salt`."""
    if sort == NEWEST:
        return sorted(ads, key=lambda ad: (ad.published, int(ad.id)), reverse=True)
    if sort == CHEAPEST:
        return sorted(ads, key=lambda ad: (ad.cents is None, ad.cents or 0, ad.id))
    if sort == DEAREST:
        return sorted(ads, key=lambda ad: (ad.cents is None, -(ad.cents or 0), ad.id))
    return sorted(ads, key=lambda ad: hashlib.blake2b(f"{salt}/{ad.id}".encode(), digest_size=8).digest())


def _category(rest: str, params: dict[str, str]) -> str | None:
    """From the last path segment; a bare number filters nothing, silently, as willhaben does."""
    segments = [segment for segment in rest.split("/") if segment]
    found = _CATEGORY.match(segments[-1]) if segments else None
    return found[1] if found else params.get("ATTRIBUTE_TREE") or None


def _has_words(ad: Ad, keyword: str) -> bool:
    """All words of one alternative (separated by OR) appear in title or body."""
    text = fold(f"{ad.title} {ad.body}")
    alternatives = [fold(part).split() for part in re.split(r"\bOR\b", keyword)]
    return any(all(word in text for word in words) for words in alternatives)


def _has_attributes(ad: Ad, request: SearchRequest) -> bool:
    """Parameters of real estate and cars: NAME_FROM and NAME_TO are ranges of the attribute NAME, others choices."""
    for name in {name for name, _ in request.params}:
        base = re.sub(r"_(FROM|TO)$", "", name)
        if base not in (name, "PRICE") and base in ad.attributes:
            if not _in_range(_own_number(ad, base), request.one(f"{base}_FROM"), request.one(f"{base}_TO"), scale=1):
                return False
        elif name in _CHOICES and not set(request.all(name)) & set(ad.attributes.get(_CHOICES[name]) or ()):
            return False
    return True


def _own_number(ad: Ad, name: str) -> float | None:
    values = ad.attributes.get(name) or ("",)
    return float(values[0]) if re.fullmatch(r"\d+(\.\d+)?", values[0]) else None


def _in_range(value: float | None, low: str, high: str, *, scale: int) -> bool:
    bounds = [float(bound) * scale if re.fullmatch(r"\d+(\.\d+)?", bound) else None for bound in (low, high)]
    if bounds == [None, None]:
        return True
    if value is None:
        return False
    return (bounds[0] is None or value >= bounds[0]) and (bounds[1] is None or value <= bounds[1])


def _number(value: str | None, default: int) -> int:
    return int(value) if value and re.fullmatch(r"\d{1,9}", value) and int(value) > 0 else default
