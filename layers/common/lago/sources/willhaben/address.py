"""Search addresses: what a person pastes becomes a canonical query, and a query becomes an address again."""

import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from lago.domain.ids import SourceName
from lago.domain.query import Query
from lago.errors import BadInputError

NAME = SourceName("willhaben")
PUBLIC_BASE = "https://www.willhaben.at"
MARKETPLACE = "/iad/kaufen-und-verkaufen/marktplatz"
CATEGORY = "ATTRIBUTE_TREE"
"""The parameter that names a category with all below it; it works on the page with and without a keyword."""

_PUBLIC_HOSTS = frozenset({"willhaben.at", "www.willhaben.at", "m.willhaben.at"})
_VERTICALS = (("iad", "immobilien"), ("iad", "gebrauchtwagen"))
_PERSONAL = ("myprofile", "mein-willhaben", "meinwillhaben", "login", "logout", "register", "registrieren", "chat")
_MAX_CHARS = 2_000
_MAX_PARAMS = 60

# Navigation, paging, order and tracking: they do not change which ads match.
_NOISE = frozenset(
    {
        "sfid", "isnavigation", "isisrl", "page", "rows", "offset", "sort", "view", "no_of_hits", "topicid", "srctype",
        "srcadd", "fbclid", "gclid", "msclkid", "mc_cid", "mc_eid", "_ga", "_gl",
    }
)  # fmt: skip
_PRICES = ("PRICE_FROM", "PRICE_TO")
_ROUND = re.compile(r"(?<=\d)\.0+$", re.ASCII)
"""500 and 500.00 are one price, and so one search."""
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_CATEGORY_SEGMENT = re.compile(r"(?:[^/]*-)?([0-9]{3,9})")

_EXAMPLE = f"such as {PUBLIC_BASE}{MARKETPLACE}?keyword=rennrad"
_RESULT_LIST = f"the address of a willhaben result list, {_EXAMPLE}"


def parse_url(text: str, base_url: str = PUBLIC_BASE) -> Query:
    """The canonical query of a pasted address, on willhaben's hosts or on the host of `base_url`.

    Raises BadInputError that says what is wrong with it.
    """
    url = text.strip().removeprefix("<").removesuffix(">")
    segments, parts = _segments(url, base_url)
    params = _params(parts)
    _refuse_other_pages(url, segments, params)
    _refuse_words_for_prices(url, params)
    return canonical("/" + "/".join(segments), params)


def canonical(path: str, params: Iterable[tuple[str, str]]) -> Query:
    """The query of a result list's path and parameters: without noise and empty values, sorted, each pair once.

    One category reads the same however it was said: `/marktplatz/fahrraeder-4525`, `/marktplatz/-4525` and
    `ATTRIBUTE_TREE=4525`. (A bare number in the path is ignored by willhaben, the parameter is not.) Deeper paths stay:
    what their last number means is not known for sure.
    """
    kept = {(name, value) for name, value in map(_tidy, params) if name and value and not _is_noise(name)}
    within = path.removeprefix(MARKETPLACE + "/")
    match = _CATEGORY_SEGMENT.fullmatch(within) if within != path else None
    if match:
        named = {value for name, value in kept if name == CATEGORY}
        if named <= {match[1]}:
            path = MARKETPLACE
            kept.add((CATEGORY, match[1]))
    return Query(source=NAME, path=path, params=tuple(sorted(kept)))


def address(base_url: str, query: Query, extra: Iterable[tuple[str, str]] = ()) -> str:
    """Where `query` is found below `base_url`; `extra` are parameters that are not part of the query."""
    pairs = [*query.params, *extra]
    text = urlencode(pairs, quote_via=quote, safe="/")
    return f"{base_url}{query.path}?{text}" if text else f"{base_url}{query.path}"


def _segments(url: str, base_url: str) -> tuple[list[str], SplitResult]:
    if len(url) > _MAX_CHARS:
        raise BadInputError("url", url, f"at most {_MAX_CHARS} characters")
    if not url or not all(char.isprintable() and not char.isspace() for char in url):
        raise BadInputError("url", url, _RESULT_LIST)
    host_first = url.partition("/")[0].lower()
    parts = _split(f"https://{url}" if host_first in _PUBLIC_HOSTS else url)
    if parts is None or not parts.hostname:
        raise BadInputError("url", url, _RESULT_LIST)
    if parts.scheme not in ("http", "https"):
        raise BadInputError("url", url, "an address that begins with https://")
    if parts.username is not None or parts.password is not None:
        raise BadInputError("url", url, "an address without a user name or password")
    if not _is_served_by(parts, base_url):
        raise BadInputError("url", url, f"an address on www.willhaben.at, {_EXAMPLE}")
    try:
        raw = [unquote(segment, errors="strict") for segment in parts.path.split("/") if segment]
    except UnicodeDecodeError:
        raise BadInputError("url", url, "a path in UTF-8") from None
    if any(segment in (".", "..") or not segment.isprintable() for segment in raw):
        raise BadInputError("url", url, _RESULT_LIST)
    return [quote(unicodedata.normalize("NFC", segment.lower()), safe="-_.~+,") for segment in raw], parts


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # read here because a bad port raises only when asked for
    except ValueError:
        return None
    return parts


def _is_served_by(parts: SplitResult, base_url: str) -> bool:
    host = (parts.hostname or "").rstrip(".")
    if host in _PUBLIC_HOSTS:
        return parts.port in (None, 80, 443)
    base = urlsplit(base_url)
    return (host, parts.port) == (base.hostname, base.port)


def _params(parts: SplitResult) -> list[tuple[str, str]]:
    shown = parts.geturl()
    try:
        params = parse_qsl(parts.query, errors="strict", max_num_fields=_MAX_PARAMS)
    except UnicodeDecodeError:
        raise BadInputError("url", shown, "parameters in UTF-8") from None
    except ValueError:
        raise BadInputError("url", shown, f"at most {_MAX_PARAMS} parameters") from None
    pairs = [_tidy(pair) for pair in params]
    if not all(name.isprintable() and value.isprintable() for name, value in pairs):
        raise BadInputError("url", shown, "parameters without control characters")
    return pairs


def _tidy(pair: tuple[str, str]) -> tuple[str, str]:
    name, value = (" ".join(unicodedata.normalize("NFC", text).split()) for text in pair)
    return name, _ROUND.sub("", value) if name in _PRICES else value


def _is_noise(name: str) -> bool:
    lowered = name.lower()
    return lowered in _NOISE or lowered.startswith("utm_")


def _refuse_other_pages(url: str, segments: list[str], params: list[tuple[str, str]]) -> None:
    head = tuple(segments[:2])
    below = segments[1:] if segments[:1] == ["iad"] else segments
    if below[:1] == ["jobs"]:
        raise BadInputError("url", url, f"a marketplace, car or real estate search: jobs are not supported; {_EXAMPLE}")
    if segments[:1] in (["webapi"], ["restapi"]):
        raise BadInputError("url", url, f"the address from the browser's result list instead of the API's, {_EXAMPLE}")
    if below[:1] and below[0].startswith(_PERSONAL):
        raise BadInputError("url", url, f"a public result list, not a page of an account, {_EXAMPLE}")
    if head == ("iad", "object") or below[1:2] == ["d"] or any(name.lower() == "adid" for name, _ in params):
        raise BadInputError("url", url, f"a result list: this is one ad; {_EXAMPLE}")
    is_list = segments[:3] == MARKETPLACE.strip("/").split("/") or (head in _VERTICALS and len(segments) > 2)
    if not is_list:
        raise BadInputError("url", url, _RESULT_LIST)


def _refuse_words_for_prices(url: str, params: list[tuple[str, str]]) -> None:
    """What willhaben makes of such a bound is its own affair: it might well be no bound at all."""
    for name, value in params:
        if name in _PRICES and value and not _NUMBER.fullmatch(value):
            raise BadInputError("url", url, f"an amount in euros such as 500 for {name} instead of {value[:40]!r}")
