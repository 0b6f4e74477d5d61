"""How far to read: which page is unchanged, which is known, when to go on, when something must be wrong."""

from collections.abc import Callable, Sequence
from hashlib import blake2b

from msgspec import Struct

from lago.domain.ad import Page
from lago.domain.ids import AdId, EpochMs, Milliseconds, SearchId
from lago.domain.novelty import Verdict, is_drop, judge
from lago.domain.search import Cursor
from lago.errors import SearchError

FEW = 20
"""A search with fewer matches can honestly grow tenfold at once."""
FEW_LIMIT = 2_000
"""No search with `FEW` matches grows to this many in a cycle."""


class Reading(Struct, frozen=True, kw_only=True):
    """All pages of one read, with the empty or repeated one that ended it.

    `unchanged` says that the first page told enough, `gap` that ads appeared faster than they could be read.
    """

    pages: tuple[Page, ...]
    unchanged: bool = False
    gap: bool = False


def fingerprint(page: Page) -> str:
    """Stands for the organic (id, price) list of a first page."""
    digest = blake2b(digest_size=8)
    for ad in page.organic:
        digest.update(f"{ad.id}\t{ad.price}\n".encode("utf-8", "replace"))
    return digest.hexdigest()


def is_unchanged(page: Page, cursor: Cursor) -> bool:
    """Whether the first page holds nothing to look at: the same organic list, and no promoted ad that may be news."""
    if fingerprint(page) != cursor.fingerprint:
        return False
    known = {ad.id: ad for ad in cursor.window}
    for ad in page.ads:
        before = known.get(ad.id)
        if before is None and judge(ad, cursor) is not Verdict.OLD:
            return False
        if before is not None and is_drop(ad, before):
            return False
    return True


def page_is_known(page: Page, cursor: Cursor) -> bool:
    """Whether reading may stop here: every organic ad is known and none is newer than the cursor.

    Promoted ads stand out of order and take no part; a page of nothing else says nothing.
    """
    known = {ad.id for ad in cursor.window}
    organic = page.organic
    return bool(organic) and all(ad.id in known and (ad.published or 0) <= cursor.newest for ad in organic)


def is_beyond(page: Page, cursor: Cursor) -> bool:
    """Whether every organic ad is newer than the cursor, so that unread ones may follow on the next page.

    Known ads can be among them (bumped ones); an ad without a date counts as newer while it is unknown.
    """
    known = {ad.id for ad in cursor.window}
    organic = page.organic
    return bool(organic) and all(
        ad.id not in known if ad.published is None else ad.published > cursor.newest for ad in organic
    )


def read_pages(
    fetch: Callable[[int], Page],
    cursor: Cursor | None,
    *,
    max_pages: int,
    hard_pages: int,
    full: bool,
    in_time: Callable[[], bool] = lambda: True,
) -> Reading:
    """Read from the first page on, as far as is needed.

    It ends at an unchanged first page or a known page (unless `full`), at a short, empty or repeated page, and at
    `max_pages`; while everything was newer than the cursor it catches up to `hard_pages`, as long as it is `in_time`.
    Raises SearchError for a page that cannot be meant; errors of `fetch` pass through.
    """
    first = _readable(fetch(1))
    if cursor is not None:
        check_total(first, cursor)
        if not full and is_unchanged(first, cursor):
            return Reading(pages=(first,), unchanged=True)
    pages = [first]
    seen = _entries(first)
    while not _is_last(pages, cursor, max_pages=max_pages, full=full):
        number = len(pages) + 1
        if number > max_pages and (number > hard_pages or not in_time()):
            return Reading(pages=tuple(pages), gap=_is_unknown(pages[-1], cursor))
        page = _readable(fetch(number))
        pages.append(page)
        if _entries(page) <= seen:
            break
        seen |= _entries(page)
    return Reading(pages=tuple(pages))


def is_full_due(search: SearchId, previous: EpochMs | None, now: EpochMs, every: Milliseconds) -> bool:
    """Whether `every` ms came round since the cycle before, at an offset of the search's own.

    Nothing needs to be stored for it, and the searches of a shard do not all read in full at once.
    """
    if previous is None:
        return True
    offset = int(blake2b(search.encode(), digest_size=8).hexdigest(), 16) % every
    return (now + offset) // every != (previous + offset) // every


def check_total(page: Page, cursor: Cursor) -> None:
    """Raise SearchError when the marketplace seems to have ignored the filter and to list its whole stock.

    That is: ten times the matches of before and over 200 more, with a first page of which nothing is known. A search
    that had fewer than `FEW` matches can honestly grow like that; for it the line is at `FEW_LIMIT`.
    """
    if page.total is None or cursor.total is None:
        return
    limit = max(10 * cursor.total, cursor.total + 200) if cursor.total >= FEW else FEW_LIMIT
    if page.total > limit and _is_unknown(page, cursor):
        raise SearchError(f"the filter seems to be ignored: {page.total} matches instead of {cursor.total}")


def _readable(page: Page) -> Page:
    """An error is never an empty result: entries that nobody can read are no empty page."""
    if page.listed and not page.ads:
        raise SearchError(f"none of the {page.listed} entries of page {page.number} could be read")
    return page


def _entries(page: Page) -> set[tuple[AdId, bool]]:
    """What tells a repeated page: an ad in its own place is another entry than its promoted copy on an earlier page."""
    return {(ad.id, ad.promoted) for ad in page.ads}


def _is_last(pages: Sequence[Page], cursor: Cursor | None, *, max_pages: int, full: bool) -> bool:
    page = pages[-1]
    if page.listed < page.rows or not page.listed:
        return True
    if cursor is None:
        return len(pages) >= max_pages
    if not full and page_is_known(page, cursor):
        return True
    return len(pages) >= max_pages and not all(is_beyond(each, cursor) for each in pages)


def _is_unknown(page: Page, cursor: Cursor | None) -> bool:
    known = {ad.id for ad in cursor.window} if cursor is not None else set()
    return cursor is not None and all(ad.id not in known for ad in page.organic)
