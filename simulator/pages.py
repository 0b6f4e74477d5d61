"""Renders the marketplace's pages in the field shapes of its public pages: `__NEXT_DATA__` in HTML."""

import html
import json
import uuid
from collections.abc import Mapping

from simulator import vienna
from simulator.ads import CARS, REAL_ESTATE, Ad
from simulator.catalogue import CATEGORIES
from simulator.market import ResultPage
from simulator.searching import NEWEST, RELEVANCE, SORTS

Json = dict[str, object]

HOST = "https://www.willhaben.at"
CACHE = "https://cache.willhaben.at/mmo"
API = "https://api.willhaben.at/restapi/v2"

BLOCKED = "<html><head><title>Access denied</title></head><body>Ihre IP-Adresse wurde blockiert</body></html>"
CHALLENGE = "<html><head><title>Just a moment...</title></head><body>verify you are human</body></html>"
NO_NEXT_DATA = '<html><body><div id="__next">neues Layout</div></body></html>'
NOT_FOUND = "<!DOCTYPE html><html><head><title>404 | willhaben</title></head><body>Seite nicht gefunden</body></html>"


def document(next_data: Mapping[str, object], title: str = "willhaben") -> str:
    """The HTML around `__NEXT_DATA__`, escaped as Next.js does, so that no title can end the script element."""
    data = json.dumps(next_data, ensure_ascii=False, separators=(",", ":"))
    for char in "&<>\u2028\u2029":
        data = data.replace(char, f"\\u{ord(char):04x}")
    return (
        '<!DOCTYPE html><html lang="de-AT"><head><meta charset="utf-8"/>'
        f"<title>{html.escape(title)}</title></head>"
        f'<body><div id="__next"><main><h1>{html.escape(title)}</h1></main></div>'
        f'<script id="__NEXT_DATA__" type="application/json">{data}</script></body></html>'
    )


def next_data(page_props: Json, build: str) -> Json:
    """The envelope of every page."""
    return {
        "props": {"pageProps": page_props},
        "page": "/iad/kaufen-und-verkaufen/marktplatz/[[...seopath]]",
        "query": {},
        "buildId": build,
    }


def search_result(page: ResultPage, now: int, *, claimed_sort: int | None = None) -> Json:
    """`searchResult`. `claimed_sort` is what sortOrderList says when that is not the order that was applied."""
    request = page.request
    category = CATEGORIES.get(request.category, f"Kategorie {request.category}") if request.category else ""
    title = (request.one("keyword") or category) if page.filtered else ""
    return _envelope(
        search_id=request.search_id,
        vertical=request.vertical,
        title=title or "Alle Anzeigen",
        rows=request.rows,
        number=request.page,
        found=page.found,
        ads=page.ads,
        sort=claimed_sort or page.applied_sort or RELEVANCE,
        now=now,
    )


def removed_ad(similar: tuple[Ad, ...], now: int) -> Json:
    """What an ad's address answers once it is gone: 200 and a search, without advertDetails."""
    return _envelope(
        search_id=301,
        vertical=5,
        title="Ähnliche Anzeigen",
        rows=30,
        number=1,
        found=len(similar),
        ads=similar,
        sort=NEWEST,
        now=now,
    )


def advert_summary(ad: Ad) -> Json:
    """`advertSummary[i]`."""
    product = _product(ad)
    commercial = not ad.private
    shape: Json = {
        "id": ad.id,
        "verticalId": ad.vertical,
        "adTypeId": _ad_type(ad),
        "productId": product,
        "advertStatus": _status(ad),
        "description": ad.title,
        "attributes": {"attribute": attributes(ad)},
        "advertImageList": {
            "advertImage": [_image(ad, n, path) for n, path in enumerate(ad.images, 1)],
            "floorPlans": [],
        },
        "selfLink": f"{API}/atverz/{ad.id}",
        "contextLinkList": {
            "contextLink": [
                _link("selfLink", "Identifies this entity", f"{API}/atverz/{ad.id}", f"/atverz/{ad.id}"),
                _link("iadShareLink", "Share", f"{HOST}/iad/object?adId={ad.id}", f"/iad/object?adId={ad.id}"),
            ]
        },
        "advertiserInfo": {
            "label": "Händler" if commercial else "Privat",
            "iconSVG": None,
            "iconPNG": None,
            "iconType": "DEALER" if commercial else "PRIVATE",
        },
        "upsellingOrganisationLogo": None,
        "teaserAttributes": _teasers(ad),
        "children": None,
        "dmpParameters": None,
    }
    return shape | dict(ad.raw)


def attributes(ad: Ad) -> list[Json]:
    """`attributes.attribute[]`: every value is a string in a list."""
    values: dict[str, tuple[str, ...] | None] = {
        "LOCATION": (ad.place.location,),
        "POSTCODE": (ad.place.postcode,),
        "STATE": (ad.place.state,),
        "DISTRICT": (ad.place.district,),
        "COUNTRY": ("Österreich",),
        "HEADING": (ad.title,),
        **_price(ad),
        "PUBLISHED": (str(ad.published),),
        "PUBLISHED_String": (vienna.false_utc(ad.published),),
        "CHANGED_String": (vienna.false_utc(ad.changed),),
        "ADID": (ad.id,),
        "ADTYPE_ID": (str(_ad_type(ad)),),
        "PRODUCT_ID": (str(_product(ad)),),
        "ISPRIVATE": ("1" if ad.private else "0",),
        "categorytreeids": (";".join(ad.categories),),
        "COORDINATES": (ad.place.coordinates,),
        "BODY_DYN": (ad.body,),
    }
    if ad.vertical == REAL_ESTATE and ad.cents is not None and "ESTATE_SIZE" in ad.attributes:
        size = float((ad.attributes["ESTATE_SIZE"] or ("70",))[0])
        values["PRICE/SQUARE_METER"] = (f"{ad.cents / 100 / size:.6f}",)
        values["PRICE/SQUARE_METER_FOR_DISPLAY_WITH_UNIT"] = (f"€ {german(round(ad.cents / size))}/m²",)
        values["RENT/PER_MONTH_LETTINGS"] = (plain(ad.cents),)
    if ad.vertical not in (REAL_ESTATE, CARS):
        values["p2penabled"] = ("true" if ad.paylivery else "false",)
    if ad.seo:
        values["SEO_URL"] = (ad.seo_url,)
    if ad.images:
        values["MMO"] = (ad.images[0],)
        values["ALL_IMAGE_URLS"] = (";".join(ad.images),)
    if not ad.private:
        values["ORGNAME"] = (ad.seller,)
        values["ORGID"] = (str(77_000_000 + sum(ad.seller.encode())),)
    if ad.bumped:
        values["IS_BUMPED"] = ("1",)
        values["UPSELLING_AD_SEARCHRESULT"] = ("true",)
    if ad.promoted:
        values["UPSELLING_AD_SEARCHRESULT"] = ("true",)
        values["RESULT_LIST_TOPAD"] = ("topad_result",)
        values["RESULT_LIST_STYLE2"] = ("style2",)
    values |= ad.attributes
    return [{"name": name, "values": list(found)} for name, found in values.items() if found is not None]


def advert_details(ad: Ad) -> Json:
    """`advertDetails` of the ad's own page: real estate writes its decimals with a comma here, except in PRICE."""
    summary = advert_summary(ad)
    detailed = [
        {"name": one["name"], "values": [str(v).replace(".", ",") for v in one["values"]]}  # type: ignore[attr-defined]
        if ad.vertical == REAL_ESTATE and str(one["name"]).startswith(("ESTATE_SIZE", "PRICE/", "RENT/"))
        else one
        for one in attributes(ad)
    ]
    gone = ad.status != "active"
    return summary | {
        "attributes": {"attribute": detailed},
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{HOST}/{ad.id}")),
        "parentAdId": None,
        "startDate": vienna.with_offset(ad.published),
        "endDate": vienna.with_offset(ad.published + 60 * 86_400_000),
        "publishedDate": vienna.with_offset(ad.published),
        "firstPublishedDate": vienna.with_offset(ad.first_published),
        "createdDate": vienna.with_offset(ad.first_published),
        "changedDate": vienna.with_offset(ad.changed),
        "sellerProfileUserData": {
            "name": ad.seller or "Maria M.",
            "registerDate": "2014-05-03",
            "private": ad.private,
            "activeAdCount": 3,
        },
        "advertAddressDetails": {
            "postCode": ad.place.postcode,
            "postalName": ad.place.location,
            "district": ad.place.district,
            "province": ad.place.state,
            "country": "Österreich",
        },
        "categoryTreeId": int(ad.categories[-1]) if ad.categories and ad.categories[-1].isdigit() else None,
        "upsellings": [{"type": "BUMPED"}] if ad.bumped else [],
        "disposed": gone,
        "deleteReason": "SOLD" if ad.status == "sold" else None,
        "p2ppOptions": None,
        "taggingData": {
            "tmsDataValues": {
                "tmsData": {
                    "exact_price": "" if ad.cents is None else plain(ad.cents),
                    "ad_title": ad.title,
                    "is_private": "true" if ad.private else "false",
                }
            }
        },
    }


def plain(cents: int) -> str:
    """`120`, `796.76`, `0.40`: as PRICE is written."""
    return str(cents // 100) if cents % 100 == 0 else f"{cents // 100}.{cents % 100:02d}"


def german(cents: int) -> str:
    """`2.350.000`, `796,76`: as prices are displayed."""
    whole = f"{cents // 100:,}".replace(",", ".")
    return whole if cents % 100 == 0 else f"{whole},{cents % 100:02d}"


def _price(ad: Ad) -> dict[str, tuple[str, ...] | None]:
    if ad.cents is None:
        return {"PRICE_FOR_DISPLAY": (ad.price_text or "Preis auf Anfrage",)}
    prices: dict[str, tuple[str, ...] | None] = {"PRICE": (plain(ad.cents),)}
    if ad.vertical not in (REAL_ESTATE, CARS):
        prices["PRICE/AMOUNT"] = (str(ad.cents / 100),)
    prices["PRICE_FOR_DISPLAY"] = (ad.price_text or f"€ {german(ad.cents)}",)
    return prices


def _envelope(
    *,
    search_id: int,
    vertical: int,
    title: str,
    rows: int,
    number: int,
    found: int,
    ads: tuple[Ad, ...],
    sort: int,
    now: int,
) -> Json:
    return {
        "id": search_id,
        "description": title,
        "heading": title,
        "verticalId": vertical,
        "searchId": search_id,
        "rowsRequested": rows,
        "rowsFound": found,
        "rowsReturned": len(ads),
        "pageRequested": number,
        "searchDate": vienna.with_offset(now),
        "lastUserAlertViewedDate": None,
        "newAdsSeparatorPosition": None,
        "advertSummaryList": {"advertSummary": [advert_summary(ad) for ad in ads]} if ads else None,
        "breadcrumbs": [],
        "navigatorGroups": [],
        "pagingLinksList": {"contextLink": []},
        "sortOrderList": {
            "contextLink": [
                _link(str(number), label, "", "", selected=number == sort) for number, label in SORTS.items()
            ]
        },
        "searchTitle": title,
        "metaData": {"viewMode": "LIST", "defaultPageSize": 30},
    }


def _link(name: str, description: str, uri: str, path: str, *, selected: bool = False) -> Json:
    return {
        "id": name,
        "description": description,
        "uri": uri,
        "selected": selected,
        "relativePath": path,
        "serviceName": "iad",
    }


def _image(ad: Ad, number: int, path: str) -> Json:
    stem = path.removesuffix(".jpg")
    return {
        "id": number,
        "name": path,
        "selfLink": f"{API}/atimage/{ad.id}/{number}",
        "description": "Bild",
        "mainImageUrl": f"{CACHE}/{stem}_hoved.jpg",
        "thumbnailImageUrl": f"{CACHE}/{stem}_thumb.jpg",
        "referenceImageUrl": f"{CACHE}/{path}",
        "similarImageSearchUrl": None,
        "reference": path,
    }


def _teasers(ad: Ad) -> list[Json]:
    if ad.vertical != REAL_ESTATE:
        return []
    named = (("ESTATE_SIZE", "m²"), ("NUMBER_OF_ROOMS", "Zimmer"))
    values = [(ad.attributes.get(name), unit) for name, unit in named]
    return [{"prefix": None, "value": found[0], "postfix": unit} for found, unit in values if found]


def _status(ad: Ad) -> Json:
    if ad.status == "sold":
        return {"id": "sold", "description": "verkauft", "statusId": 120}
    return {"id": "active", "description": "aktiv", "statusId": 50}


def _ad_type(ad: Ad) -> int:
    if ad.vertical == REAL_ESTATE:
        return 2
    return 67 if ad.private else 68


def _product(ad: Ad) -> int:
    """Changes with what was bought."""
    if ad.promoted:
        return 223
    if ad.bumped:
        return 227
    return 200 if ad.vertical == REAL_ESTATE else _ad_type(ad)
