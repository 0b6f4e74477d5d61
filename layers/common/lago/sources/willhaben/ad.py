"""One entry of a result list becomes an Ad. Sellers write every field of it: bounded, checked, never trusted."""

import math
import re
from urllib.parse import quote, urlsplit

from lago.domain.ad import Ad, SellerKind
from lago.domain.ids import AdId
from lago.sources.willhaben.address import NAME, PUBLIC_BASE
from lago.sources.willhaben.price import price_of
from lago.sources.willhaben.times import published
from lago.sources.willhaben.wire import Scalar, Summary

IMAGE_HOST = "cache.willhaben.at"
_IMAGE_BASE = f"https://{IMAGE_HOST}/mmo/"

_ID = re.compile(r"[0-9]{1,19}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SEO_PATH = re.compile(r"[^\s:?#\\%<>\"]+")
_MAX_TITLE = 300
_MAX_PLACE = 120
_MAX_SELLER = 120
_MAX_PRICE_TEXT = 60
_MAX_URL = 300
_MAX_DETAILS = 4
_MAX_DETAIL = 40
_MARKETPLACE_SELLERS: dict[str, SellerKind] = {"67": "private", "68": "dealer"}
"""`adTypeId` in the marketplace vertical (5)."""
_FACTS = (
    ("ESTATE_SIZE", "{} m²"),
    ("NUMBER_OF_ROOMS", "{} Zimmer"),
    ("YEAR_MODEL", "{}"),
    ("MILEAGE", "{} km"),
    ("ENGINE/FUEL_RESOLVED", "{}"),
)


class UnreadableAdError(ValueError):
    """The entry has no usable id: there is nothing that it could be remembered by."""


def ad_of(summary: Summary) -> Ad:
    """The ad of one entry. Raises UnreadableAdError; anything but the id may be missing or wrong."""
    number = str(summary.id)
    if not _ID.fullmatch(number):
        raise UnreadableAdError
    attributes = _attributes(summary)
    display = _line(attributes["PRICE_FOR_DISPLAY"], _MAX_PRICE_TEXT)
    is_bumped = _is_true(attributes["IS_BUMPED"])
    is_top = bool(attributes["RESULT_LIST_TOPAD"])
    return Ad(
        source=NAME,
        id=AdId(number),
        title=_line(summary.description or attributes["HEADING"], _MAX_TITLE) or f"Anzeige {number}",
        price=price_of(attributes["PRICE"] or attributes["PRICE/AMOUNT"], display),
        price_text=display,
        published=published(attributes["PUBLISHED"], attributes["PUBLISHED_String"]),
        url=_url(number, attributes["SEO_URL"]),
        image=_image(summary, attributes["MMO"] or attributes["ALL_IMAGE_URLS"].partition(";")[0]),
        place=_place(attributes["POSTCODE"], attributes["LOCATION"]),
        seller_kind=_seller_kind(summary, attributes["ISPRIVATE"], attributes["ORGNAME"]),
        seller_name=_line(attributes["ORGNAME"], _MAX_SELLER),
        coordinates=_coordinates(attributes["COORDINATES"]),
        details=_details(summary, attributes),
        categories=tuple(part for part in attributes["categorytreeids"].split(";") if part.isdigit()),
        paylivery=_is_true(attributes["p2penabled"]) if attributes["p2penabled"] else None,
        # A bump is paid for too, but it stands in publication order: only other paid places are out of order.
        promoted=is_top or (_is_true(attributes["UPSELLING_AD_SEARCHRESULT"]) and not is_bumped),
        bumped=is_bumped,
    )


class _Texts(dict[str, str]):
    """An attribute that is missing reads as empty."""

    def __missing__(self, name: str) -> str:
        return ""


def _attributes(summary: Summary) -> _Texts:
    """The first value of each attribute that has one; order is not guaranteed, values may be empty or null."""
    found = _Texts()
    listed = summary.attributes.attribute if summary.attributes else None
    for attribute in listed or ():
        for value in attribute.values or ():
            if text := _text(value):
                found.setdefault(attribute.name, text)
                break
    return found


def _text(value: Scalar) -> str:
    return "" if value is None else str(value).strip()


def _is_true(text: str) -> bool:
    return text.lower() in ("1", "true")


def _line(text: str, limit: int) -> str:
    """One line: control characters and line breaks become single spaces. Markup and bidi marks are the channel's."""
    # Cut generously before looking at each character: a title of a megabyte costs no more than one of a line.
    return " ".join(_CONTROL.sub(" ", text[: limit * 4]).split())[:limit].rstrip()


def _url(number: str, seo_url: str) -> str:
    """The ad's page on willhaben, whatever the seller's part of the address says."""
    path = seo_url.lstrip("/")
    segments = path.split("/")
    if _SEO_PATH.fullmatch(path) and path.isprintable() and ".." not in segments and "" not in segments[:-1]:
        url = f"{PUBLIC_BASE}/iad/{quote(path, safe='/-_.~')}"
        if len(url) <= _MAX_URL:
            return url
    return f"{PUBLIC_BASE}/iad/object?adId={number}"


def _image(summary: Summary, path: str) -> str | None:
    images = summary.advert_image_list.advert_image if summary.advert_image_list else None
    candidates = [images[0].main_image_url, images[0].reference_image_url] if images else []
    candidates.append(f"{_IMAGE_BASE}{path}" if path else None)
    return next((url for url in candidates if url and _is_image(url)), None)


def _is_image(url: str) -> bool:
    """Only the marketplace's own image host: another would learn who is reading."""
    if len(url) > _MAX_URL or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and parts.netloc.lower() == IMAGE_HOST and ".." not in parts.path
    except ValueError:
        return False


def _place(postcode: str, location: str) -> str:
    place = location if not postcode or postcode in location else f"{postcode} {location}"
    return _line(place, _MAX_PLACE)


def _seller_kind(summary: Summary, is_private: str, organisation: str) -> SellerKind | None:
    if is_private in ("0", "1"):
        return "private" if is_private == "1" else "dealer"
    if organisation:
        return "dealer"
    return _MARKETPLACE_SELLERS.get(_text(summary.ad_type_id)) if _text(summary.vertical_id) == "5" else None


def _coordinates(text: str) -> tuple[float, float] | None:
    """Latitude and longitude; "0,0" stands for none."""
    try:
        latitude, longitude = (float(part) for part in text.split(","))
    except ValueError:
        return None
    if not (math.isfinite(latitude) and math.isfinite(longitude)) or (latitude, longitude) == (0, 0):
        return None
    return (latitude, longitude) if abs(latitude) <= 90 and abs(longitude) <= 180 else None


def _details(summary: Summary, attributes: _Texts) -> tuple[str, ...]:
    teasers = [
        " ".join(filter(None, (teaser.prefix, _text(teaser.value), teaser.postfix)))
        for teaser in summary.teaser_attributes or ()
        if _text(teaser.value)
    ]
    facts = teasers or [form.format(attributes[name]) for name, form in _FACTS if name in attributes]
    lines = (_line(fact, _MAX_DETAIL) for fact in facts)
    return tuple(line for line in lines if line)[:_MAX_DETAILS]
