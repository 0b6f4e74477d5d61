"""A search said with a keyword and options, as the same canonical query that its pasted address would make."""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal

from lago.domain.ad import SellerKind
from lago.domain.query import Query
from lago.errors import BadInputError
from lago.sources.willhaben.address import CATEGORY, MARKETPLACE, canonical
from lago.sources.willhaben.price import parse_price

AREAS = {
    "burgenland": "1",
    "kaernten": "2",
    "niederoesterreich": "3",
    "oberoesterreich": "4",
    "salzburg": "5",
    "steiermark": "6",
    "tirol": "7",
    "vorarlberg": "8",
    "wien": "900",
    "andere-laender": "22000",
}
"""Federal states by name; districts are given by their number."""
_SELLERS: dict[str, str] = {"private": "1", "dealer": "0"}
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", " ": "-", "_": "-"})
_CATEGORY = re.compile(r"(?:[a-z0-9-]*-)?([0-9]{3,9})")
_MAX_KEYWORD = 200
_MAX_EUROS = 1_000_000_000

Euros = int | float | Decimal | str


def query_from_keyword(
    keyword: str,
    price_from: Euros | None = None,
    price_to: Euros | None = None,
    category: int | str | None = None,
    areas: Iterable[int | str] = (),
    seller: SellerKind | None = None,
    *,
    paylivery: bool | None = None,
) -> Query:
    """The query for a marketplace search. Prices in euros, both bounds included.

    `category` is willhaben's number, alone or as in its addresses ("fahrraeder-4525"); `areas` are states by name or
    areas by number. `paylivery` True asks for it, anything else does not care. Raises BadInputError for the option
    that is wrong.
    """
    text = " ".join(keyword.split())
    if len(text) > _MAX_KEYWORD or not text.isprintable():
        raise BadInputError("keyword", keyword, f"at most {_MAX_KEYWORD} printable characters")
    if not text and category is None:
        raise BadInputError("keyword", keyword, "a word to look for, or a category")
    params = [("keyword", text)]
    low, high = _euros("price_from", price_from), _euros("price_to", price_to)
    if low is not None and high is not None and low > high:
        raise BadInputError("price_from", price_from, f"at most price_to ({_shown(high)})")
    params += [("PRICE_FROM", _shown(low))] if low is not None else []
    params += [("PRICE_TO", _shown(high))] if high is not None else []
    if category is not None:
        params.append((CATEGORY, _category(category)))
    params += [("areaId", _area(area)) for area in ([areas] if isinstance(areas, str) else areas)]
    if seller is not None:
        if seller not in _SELLERS:
            raise BadInputError("seller", seller, "private or dealer")
        params.append(("ISPRIVATE", _SELLERS[seller]))
    if paylivery:
        params.append(("paylivery", "true"))
    return canonical(MARKETPLACE, params)


def _euros(field: str, value: Euros | None) -> int | None:
    """In cents."""
    if value is None:
        return None
    cents: int | None = None
    if isinstance(value, str):
        cents = parse_price(value)
    elif not isinstance(value, bool) and 0 <= float(value) <= _MAX_EUROS:  # no NaN passes this
        cents = int(Decimal(str(value)) * 100)
    if cents is None:
        raise BadInputError(field, value, "a price of 0 or more in euros, such as 500")
    return cents


def _shown(cents: int) -> str:
    euros, rest = divmod(cents, 100)
    return f"{euros}.{rest:02d}" if rest else str(euros)


def _category(value: int | str) -> str:
    match = None if isinstance(value, bool) else _CATEGORY.fullmatch(str(value).strip().lower())
    if match is None:
        raise BadInputError("category", value, "willhaben's number of the category, such as 4525 or fahrraeder-4525")
    return match[1]


def _area(value: int | str) -> str:
    text = unicodedata.normalize("NFC", str(value)).strip().casefold().translate(_UMLAUTS)
    if text in AREAS:
        return AREAS[text]
    if isinstance(value, bool) or not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise BadInputError("areas", value, f"a state ({', '.join(AREAS)}) or the number of an area")
    return text
