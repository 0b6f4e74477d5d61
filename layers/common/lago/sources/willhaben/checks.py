"""Whether an answer is the answer to what was asked: newest first, and filtered.

Every check speaks up only when the page clearly contradicts the question. A watch that never runs because of a false
alarm is worse than one that tells too much.
"""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from lago.domain.ad import Ad
from lago.domain.query import Query
from lago.errors import SearchError
from lago.sources.willhaben.address import CATEGORY, MARKETPLACE
from lago.sources.willhaben.price import parse_price
from lago.sources.willhaben.wire import Links, SearchResult

NEWEST_FIRST = "1"
"""The value of `sort`; without it the order is a recommendation with gaps."""

_WHOLE_MARKET = "alle anzeigen"
_ENOUGH_FOR_FILTERS = 5
_ENOUGH_FOR_ORDER = 10
_MOST_ASCENDING = 0.4
"""Share of neighbours in the wrong order: chance makes half, newest first with a few unmarked promotions far less."""

_links = msgspec.json.Decoder(Links | None)


def check_order(result: SearchResult, ads: tuple[Ad, ...]) -> None:
    """Raises SearchError when another order was applied: it would hide new ads behind old ones."""
    selected = _selected_orders(result)
    told_another = any(order.isdigit() for order in selected) and NEWEST_FIRST not in selected
    times = [ad.published for ad in ads if not ad.promoted and ad.published is not None]
    ascending = sum(earlier < later for earlier, later in pairwise(times))
    looks_random = len(times) >= _ENOUGH_FOR_ORDER and ascending > _MOST_ASCENDING * (len(times) - 1)
    if told_another or looks_random:
        raise SearchError("results are not sorted by newest first")


def check_filters(query: Query, result: SearchResult, ads: tuple[Ad, ...]) -> None:
    """Raises SearchError when a category, price or seller filter was ignored.

    Marketplace searches only: rents and projects have several prices, and which one a filter means is not known.
    Promoted ads prove nothing, they may be shown whatever was asked for.
    """
    if not query.path.startswith(MARKETPLACE):
        return
    asked = dict(query.params)
    organic = [ad for ad in ads if not ad.promoted]
    low, high = parse_price(asked.get("PRICE_FROM", "")), parse_price(asked.get("PRICE_TO", ""))
    prices = [ad.price for ad in organic if ad.price is not None]
    outside = [price for price in prices if (low or 0) > price or (high is not None and price > high)]
    _refuse_when_most(outside, prices, "price")
    wanted_kind = {"1": "private", "0": "dealer"}.get(asked.get("ISPRIVATE", ""))
    kinds = [ad.seller_kind for ad in organic if ad.seller_kind and wanted_kind]
    _refuse_when_most([kind for kind in kinds if kind != wanted_kind], kinds, "seller")
    _check_category(query, result, ads)


def _refuse_when_most(contradicting: Sequence[object], of: Sequence[object], name: str) -> None:
    if len(of) >= _ENOUGH_FOR_FILTERS and len(contradicting) > len(of) / 2:
        msg = f"the {name} filter was ignored"
        raise SearchError(msg)


def _check_category(query: Query, result: SearchResult, ads: tuple[Ad, ...]) -> None:
    """The page must call itself the whole market too: some categories are lists of ads from other categories."""
    if not isinstance(result.heading, str):
        return
    wanted = {value for name, value in query.params if name == CATEGORY}
    placed = [set(ad.categories) for ad in ads if ad.categories]
    is_whole_market = result.heading.strip().casefold() == _WHOLE_MARKET
    if wanted and is_whole_market and len(placed) >= _ENOUGH_FOR_FILTERS and not any(wanted & ids for ids in placed):
        raise SearchError("the category was ignored: the answer is the whole market")


def _selected_orders(result: SearchResult) -> set[str]:
    """What the page says about its order; nothing where it does not say it in the known shape."""
    try:
        links = _links.decode(result.sort_order_list)
    except msgspec.DecodeError:
        return set()
    return {str(link.id) for link in (links and links.context_link) or () if link.selected}
