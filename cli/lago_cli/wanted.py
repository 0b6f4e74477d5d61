"""From what a person typed to a canonical query."""

from lago.domain.ad import SellerKind
from lago.domain.query import Query
from lago.errors import BadInputError
from lago_cli.checks import euros, is_address
from lago_cli.ports import Marketplace, Narrowing


def narrowing(
    *,
    price_from: str | None,
    price_to: str | None,
    category: str | None,
    areas: list[str] | None,
    private: bool | None,
    paylivery: bool,
) -> Narrowing:
    """Check the prices; the marketplace checks what only it knows. Raises BadInputError."""
    low, high = euros("--price-from", price_from), euros("--price-to", price_to)
    if low is not None and high is not None and low > high:
        raise BadInputError("--price-to", price_to, f"at least --price-from, which is {price_from}")
    kinds: dict[bool | None, SellerKind | None] = {None: None, True: "private", False: "dealer"}
    return Narrowing(
        price_from=low,
        price_to=high,
        category=category,
        areas=tuple(areas or ()),
        seller_kind=kinds[private],
        paylivery=paylivery,
    )


def query_for(wanted: str, narrow: Narrowing, marketplace: Marketplace) -> Query:
    """The query of a keyword with options, or of a pasted address. Raises BadInputError.

    An address has its own options: mixing both would leave open which of two prices counts.
    """
    if is_address(wanted):
        if narrow != Narrowing():
            raise BadInputError(
                "KEYWORD|URL", wanted, "a keyword beside these options; narrow an address on willhaben, then copy it"
            )
        return marketplace.parse_url(wanted.strip())
    if not wanted.strip():
        raise BadInputError("KEYWORD|URL", wanted, "a keyword or the address of a willhaben search")
    return marketplace.from_keyword(wanted.strip(), narrow)
