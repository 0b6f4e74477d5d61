"""`lago search`: what the marketplace lists right now. Needs no AWS."""

from typing import Annotated

import msgspec
import typer

from lago.domain.ad import Ad
from lago.domain.query import Query
from lago_cli import options
from lago_cli.output import print_json, remark, row, show_table, table
from lago_cli.ports import Marketplace, World
from lago_cli.text import money, plain, when
from lago_cli.wanted import narrowing, query_for

DEFAULT_BASE_URL = "https://www.willhaben.at"


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What `--json` prints: `url` opens the search in a browser, `total` is the marketplace's own count."""

    url: str
    total: int | None
    skipped: int
    ads: list[Ad]


def search(
    ctx: typer.Context,
    wanted: options.Wanted,
    price_from: options.PriceFrom = None,
    price_to: options.PriceTo = None,
    category: options.Category = None,
    area: options.Areas = None,
    private: options.Private = False,
    dealer: options.Dealer = False,
    paylivery: options.Paylivery = False,
    pages: Annotated[int, typer.Option("--pages", min=1, max=10, help="How many result pages to read.")] = 1,
    as_json: options.AsJson = False,
) -> None:
    """Print what willhaben lists right now, newest first. Needs no AWS and tells nobody.

    **Examples:**

        lago search rennrad --price-to 500

        lago search 'kinderwagen bugaboo' --area wien --area niederösterreich --private

        lago search 'https://www.willhaben.at/iad/immobilien/mietwohnungen/mietwohnung-angebote?areaId=900'

        lago search rennrad --pages 3 --json | jq '.ads[].title'

    Another server than willhaben's is used when WILLHABEN_BASE_URL names one.
    """
    world: World = ctx.obj
    marketplace = world.marketplace(world.environ.get("WILLHABEN_BASE_URL") or DEFAULT_BASE_URL)
    narrow = narrowing(
        price_from=price_from,
        price_to=price_to,
        category=category,
        areas=area,
        private=private,
        dealer=dealer,
        paylivery=paylivery,
    )
    query = query_for(wanted, narrow, marketplace)
    found = _read(marketplace, query, pages)
    if as_json:
        print_json(found)
        return
    _show(found)


def _read(marketplace: Marketplace, query: Query, pages: int) -> Found:
    """Result pages from the first, until one is short; an ad on two of them counts once."""
    ads: dict[str, Ad] = {}
    total, skipped = None, 0
    for number in range(1, pages + 1):
        page = marketplace.fetch(query, number)
        total, skipped = page.total, skipped + page.skipped
        for ad in page.ads:
            ads.setdefault(ad.id, ad)
        if page.listed < page.rows:
            break
    return Found(url=marketplace.url(query), total=total, skipped=skipped, ads=list(ads.values()))


def _show(found: Found) -> None:
    ads = table(
        "published", "price", "title", "place", "seller", "link", right=frozenset({"price"}), fold=frozenset({"link"})
    )
    for ad in found.ads:
        row(
            ads,
            when(ad.published),
            money(ad.price, ad.currency, ad.price_text),
            plain(ad.title, 80),
            plain(ad.place, 40),
            plain(ad.seller_name, 30) or (ad.seller_kind or ""),
            plain(ad.url, 300),
        )
    if found.ads:
        show_table(ads)
    total = "" if found.total is None else f" of {found.total}"
    remark(f"{len(found.ads)}{total} ads · {found.url}" + (f" · {found.skipped} unreadable" if found.skipped else ""))
