"""From what a person typed to a canonical query."""

from lago.domain.ad import SellerKind
from lago.domain.query import Query
from lago.errors import BadInputError
from lago_cli.checks import euros, is_address
from lago_cli.ports import Marketplace, Narrowing

_WANTED = "KEYWORD|URL"
_TYPED = {
    "url": _WANTED,
    "keyword": _WANTED,
    "price_from": "--price-from",
    "price_to": "--price-to",
    "category": "--category",
    "areas": "--area",
}
"""How a person typed what the marketplace has its own name for."""


def narrowing(
    *,
    price_from: str | None,
    price_to: str | None,
    category: str | None,
    areas: list[str] | None,
    private: bool,
    dealer: bool,
    paylivery: bool,
) -> Narrowing:
    """Check prices and sellers; the marketplace checks what only it knows. Raises BadInputError."""
    low, high = euros("--price-from", price_from), euros("--price-to", price_to)
    if low is not None and high is not None and low > high:
        raise BadInputError("--price-to", price_to, f"at least --price-from, which is {price_from}")
    if private and dealer:
        raise BadInputError("--dealer", "--private --dealer", "one of the two; without either, both kinds are found")
    seller: SellerKind | None = "private" if private else "dealer" if dealer else None
    return Narrowing(
        price_from=low,
        price_to=high,
        category=category,
        areas=tuple(areas or ()),
        seller_kind=seller,
        paylivery=paylivery,
    )


def require_sense(wanted: str, narrow: Narrowing) -> None:
    """Refuse what no marketplace could understand. Raises BadInputError.

    An address has its own options: mixing both would leave open which of two prices counts.
    """
    if not wanted.strip():
        raise BadInputError(_WANTED, wanted, "a keyword or the address of a willhaben search")
    if is_address(wanted) and narrow != Narrowing():
        raise BadInputError(
            _WANTED, wanted, "a keyword beside these options; narrow an address on willhaben, then copy it"
        )


def query_for(wanted: str, narrow: Narrowing, marketplace: Marketplace) -> Query:
    """The query of a keyword with options, or of a pasted address. Raises BadInputError that names what was typed."""
    require_sense(wanted, narrow)
    try:
        if is_address(wanted):
            return marketplace.parse_url(wanted.strip())
        return marketplace.from_keyword(wanted.strip(), narrow)
    except BadInputError as error:
        raise BadInputError(_TYPED.get(error.field, error.field), error.value, error.expected) from error
