"""A page's bytes become a Page, or the error that says why not: an error is never an empty result."""

import re
from typing import Any

import msgspec

from lago.domain.ad import Ad, Page
from lago.domain.ids import AdId, EpochMs
from lago.domain.query import Query
from lago.errors import SearchError, SourceBlockedError
from lago.sources.willhaben.ad import UnreadableAdError, ad_of
from lago.sources.willhaben.checks import check_filters, check_order
from lago.sources.willhaben.times import with_offset
from lago.sources.willhaben.wire import NextData, PageProps, SearchResult, Summary

_SCRIPT = re.compile(rb"<script[^>]*\bid=[\"']__NEXT_DATA__[\"'][^>]*>")
_BLOCK_MARKERS = (
    b"ip address is blocked",
    b"ip-adresse wurde blockiert",
    b"captcha",
    b"just a moment...",
    b"verify you are human",
    b"<title>access denied",
    b"automatisierte anfragen",
)
_MARKERS_WITHIN = 100_000
# Half a surrogate pair as an escape: a title that was cut inside an emoji. The alternatives consume whole escapes.
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)

_next_data = msgspec.json.Decoder(NextData)
_summaries = msgspec.json.Decoder(list[Summary] | None)
_entries = msgspec.json.Decoder(list[msgspec.Raw] | None)
_summary = msgspec.json.Decoder(Summary)


def read_page(content: bytes, query: Query, number: int) -> Page:
    """Result page `number` of `query`.

    Raises SourceBlockedError for a block page, SearchError for a page that is not understood, a wrong order or an
    ignored category.
    """
    result = _page_props(content).search_result
    if result is None:
        raise SearchError("page not understood: no search result in it")
    entries, readable = _read_entries(result)
    if entries and not readable:
        raise SearchError(f"page not understood: none of {entries} ads could be read")
    total = _count(result.rows_found)
    if not entries and number == 1 and total != 0:
        raise SearchError("page not understood: no ads, but it does not say that nothing matches")
    ads = _once_each(readable)
    check_order(result, ads)
    check_filters(query, result, ads)
    return Page(
        number=number,
        ads=ads,
        rows=_count(result.rows_requested) or entries,
        total=total,
        skipped=entries - len(readable),
        listed=entries,
    )


def read_first_published(content: bytes, ad: AdId) -> EpochMs | None:
    """When `ad` was first published, by its own page; None for a removed ad, which answers 200 with a result list.

    Raises SourceBlockedError for a block page.
    """
    try:
        details = _page_props(content).advert_details
    except SearchError:
        return None
    if details is None or str(details.id) != ad or not isinstance(details.first_published_date, str):
        return None
    return with_offset(details.first_published_date)


def looks_blocked(content: bytes) -> bool:
    """Whether a page without data is a wall. Never ask for a page with data: ads talk of captchas too."""
    start = content[:_MARKERS_WITHIN].lower()
    return any(marker in start for marker in _BLOCK_MARKERS)


def _page_props(content: bytes) -> PageProps:
    # The last one: Next.js writes it at the end of the body, after all that sellers wrote.
    openings = list(_SCRIPT.finditer(content))
    if not openings:
        if looks_blocked(content):
            raise SourceBlockedError("a block page instead of results")
        raise SearchError("page not understood: no __NEXT_DATA__ in it")
    start = openings[-1].end()
    end = content.find(b"</script>", start)
    if end < 0:
        raise SearchError("page not understood: cut off inside __NEXT_DATA__")
    script = content[start:end]
    try:
        return _decode(script).props.page_props
    except (msgspec.DecodeError, RecursionError) as error:
        raise SearchError(f"page not understood: {type(error).__name__} in __NEXT_DATA__") from None


def _decode(script: bytes) -> NextData:
    try:
        return _next_data.decode(script)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return _next_data.decode(_repaired(script))


def _repaired(script: bytes) -> bytes:
    """One seller's broken character must not cost the page: it becomes U+FFFD."""
    valid = script.decode("utf-8", errors="replace").encode()
    return _ESCAPES.sub(lambda match: rb"\ufffd" if match["half"] else match[0], valid)


def _read_entries(result: SearchResult) -> tuple[int, list[Ad]]:
    """How many entries the page holds, and the ads of those that can be read."""
    raw = result.advert_summary_list.advert_summary if result.advert_summary_list else msgspec.Raw(b"null")
    try:
        summaries = _summaries.decode(raw) or []
    except msgspec.DecodeError:
        return _one_by_one(raw)
    return len(summaries), _ads(summaries)


def _one_by_one(raw: msgspec.Raw) -> tuple[int, list[Ad]]:
    try:
        entries = _entries.decode(raw) or []
    except msgspec.DecodeError:
        raise SearchError("page not understood: its ads are no list") from None
    summaries = []
    for entry in entries:
        try:
            summaries.append(_summary.decode(entry))
        except msgspec.DecodeError:
            continue
    return len(entries), _ads(summaries)


def _ads(summaries: list[Summary]) -> list[Ad]:
    ads = []
    for summary in summaries:
        try:
            ads.append(ad_of(summary))
        except UnreadableAdError:
            continue
    return ads


def _once_each(ads: list[Ad]) -> tuple[Ad, ...]:
    """A promoted ad is listed on top and again at its place in order: that place is the one that counts."""
    by_id: dict[AdId, Ad] = {}
    for ad in ads:
        first = by_id.get(ad.id)
        if first is None:
            by_id[ad.id] = ad
        elif first.promoted and not ad.promoted:
            del by_id[ad.id]
            by_id[ad.id] = ad
    return tuple(by_id.values())


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None
