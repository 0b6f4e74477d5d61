"""Ads, pages and a marketplace in memory, as short as a test needs them."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from lago.domain.ad import Ad, Page
from lago.domain.ids import AdId, EpochMs, Minor, SourceName
from lago.domain.query import Query

WILLHABEN = SourceName("willhaben")
START = EpochMs(1_796_000_000_000)
"""When the tests' baselines are read."""
MINUTE = 60_000


def an_ad(number: int | str, *, price: int | None = 100, published: int | None = None, **fields: Any) -> Ad:
    """An organic ad, published before `START` unless told otherwise: the higher its number the later."""
    if published is None and isinstance(number, int):
        published = START - 100 * MINUTE + number % 100 * MINUTE
    return Ad(
        source=WILLHABEN,
        id=AdId(str(number)),
        title=fields.pop("title", f"Anzeige {number}"),
        price=None if price is None else Minor(price),
        published=None if published is None else EpochMs(published),
        url=fields.pop("url", f"https://marketplace.example/{number}"),
        **fields,
    )


def a_page(*ads: Ad, number: int = 1, rows: int = 30, total: int | None = 12, listed: int | None = None) -> Page:
    """A page that holds these ads."""
    return Page(number=number, ads=ads, rows=rows, total=total, listed=len(ads) if listed is None else listed)


class Market:
    """One result list, newest first, with promoted ads before it; a `lago.sources.base.Source`.

    `fetched` lists the pages asked for; `asked` the ads' own pages. `errors` are raised one by one, then it answers.
    `between` is called after each answer, so that a test can shift rows while they are paged.
    """

    name = WILLHABEN

    def __init__(self, *ads: Ad, rows: int = 5) -> None:
        self.ads = {ad.id: ad for ad in ads}
        self.first = {ad.id: ad.published for ad in ads}
        self.promoted: set[AdId] = set()
        self.rows = rows
        self.total: int | None = None
        self.fetched: list[int] = []
        self.asked: list[AdId] = []
        self.errors: list[Exception] = []
        self.ad_errors: list[Exception] = []
        self.between: Callable[[], None] = lambda: None

    def publish(self, *ads: Ad) -> None:
        for ad in ads:
            self.ads[ad.id] = ad
            self.first.setdefault(ad.id, ad.published)

    def change(self, number: int | str, **fields: Any) -> None:
        ad = self.ads[AdId(str(number))]
        self.ads[ad.id] = replace(ad, **fields)

    def remove(self, number: int | str) -> None:
        del self.ads[AdId(str(number))]

    def page(self, number: int) -> Page:
        organic = sorted(self.ads.values(), key=lambda ad: (ad.published or 0, ad.id), reverse=True)
        rows = organic[(number - 1) * self.rows : number * self.rows]
        on_top = [replace(self.ads[ad], promoted=True) for ad in sorted(self.promoted & self.ads.keys())]
        return Page(
            number=number,
            ads=(*on_top, *rows) if rows else (),
            rows=self.rows,
            total=len(organic) if self.total is None else self.total,
            listed=len(on_top) + len(rows) if rows else 0,
        )

    def fetch(self, query: Query, page: int) -> Page:
        self.fetched.append(page)
        if self.errors:
            raise self.errors.pop(0)
        answer = self.page(page)
        self.between()
        return answer

    def first_published(self, ad: AdId, url: str) -> EpochMs | None:
        self.asked.append(ad)
        if self.ad_errors:
            raise self.ad_errors.pop(0)
        return self.first[ad]

    def parse_url(self, url: str) -> Query:
        return Query(source=self.name, path=url)

    def url(self, query: Query) -> str:
        return query.path


def numbers(ads: Sequence[Ad]) -> list[str]:
    """The ids, as a test writes them."""
    return [str(ad.id) for ad in ads]
