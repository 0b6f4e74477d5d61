"""The control API's ads: publish, edit, reprice, bump, promote, sell, remove, restore."""

import re
from collections.abc import Callable

from simulator import checks
from simulator.ads import Ad, Place
from simulator.catalogue import KINDS, PLACES
from simulator.checks import BadControlError, Body
from simulator.world import World

Json = dict[str, object]


def ad_view(ad: Ad) -> Json:
    """An ad as the control API shows it."""
    return {
        "id": ad.id,
        "title": ad.title,
        "cents": ad.cents,
        "status": ad.status,
        "published": ad.published,
        "first_published": ad.first_published,
        "bumped": ad.bumped,
        "promoted": ad.promoted,
        "private": ad.private,
        "place": ad.place.location,
        "path": f"/iad/{ad.seo_url}" if ad.seo else f"/iad/object?adId={ad.id}",
        "images": list(ad.images),
    }


def publish(world: World, _: "re.Match[str]", body: Body) -> Json:
    """A new ad; with no field at all, or `kind` alone, an invented one."""
    kind = checks.text(body, "kind") or None
    if kind is not None and kind not in KINDS:
        raise BadControlError("kind", f"expected one of {', '.join(KINDS)}, got {kind!r}")
    published = checks.whole(body, "published", least=0)
    given = _ad_fields({name: value for name, value in body.items() if name not in ("kind", "published")})
    with world.lock:
        ad = world.market.publish(kind=kind, published=published, **given)
        world.save()
        return ad_view(ad)


def edit(world: World, found: "re.Match[str]", body: Body) -> Json:
    """Change any field of an ad."""
    given = _ad_fields(body)
    with world.lock:
        ad = world.market.edit(found["id"], **given)
        world.save()
        return ad_view(ad)


def _ad_fields(body: Body) -> Json:
    """The fields of an ad that a request names, checked."""
    checks.only(body, _READERS)
    given: Json = {name: _READERS[name](body, name) for name in body}
    if "price" in given:
        given["cents"] = given.pop("price")
    if given.get("private") is False and "seller" not in given:
        given["seller"] = "Händler Huber KG"
    return given


def _place(body: Body, field: str) -> Place:
    named = checks.text(body, field)
    for place in PLACES:
        if named and named.lower() in place.location.lower():
            return place
    raise BadControlError(field, f"expected part of one of {'; '.join(p.location for p in PLACES)}, got {named!r}")


def _attributes(body: Body, field: str) -> dict[str, tuple[str, ...] | None]:
    result: dict[str, tuple[str, ...] | None] = {}
    for name, value in checks.mapping(body, field).items():
        if value is not None and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            raise BadControlError(field, f"{name}: expected a list of texts or null, got {value!r}")
        result[name] = None if value is None else tuple(value)
    return result


def _moment(body: Body, field: str) -> int:
    moment = checks.whole(body, field, least=0)
    if moment is None:
        raise BadControlError(field, "expected an epoch millisecond, got null")
    return moment


_READERS: dict[str, Callable[[Body, str], object]] = {
    **dict.fromkeys(("title", "body", "price_text", "seller"), checks.text),
    **dict.fromkeys(("private", "paylivery", "seo", "bumped", "promoted"), checks.flag),
    **dict.fromkeys(("categories", "images", "tree_attributes"), checks.strings),
    **dict.fromkeys(("published", "first_published"), _moment),
    "price": checks.euros,
    "place": _place,
    "attributes": _attributes,
    "raw": checks.mapping,
}


def ads(world: World, _: "re.Match[str]", _body: Body) -> list[Json]:
    """Every ad, sold and removed ones too."""
    with world.lock:
        return [ad_view(ad) for ad in world.market.ads.values()]


def ad(world: World, found: "re.Match[str]", _: Body) -> Json:
    """One ad."""
    with world.lock:
        return ad_view(world.market.get(found["id"]))


def act(world: World, found: "re.Match[str]", body: Body) -> Json:
    """Bump, promote, reprice, sell, remove or restore one ad."""
    ad_id, action = found["id"], found["action"]
    checks.only(body, {"price": ("price",), "promote": ("on",)}.get(action, ()))
    with world.lock:
        market = world.market
        if action == "price":
            if "price" not in body:
                raise BadControlError("price", "missing; null takes the price away")
            ad = market.reprice(ad_id, checks.euros(body, "price"))
        elif action == "bump":
            ad = market.bump(ad_id)
        elif action == "promote":
            ad = market.promote(ad_id, on=checks.flag(body, "on", default=True))
        elif action == "restore":
            ad = market.end(ad_id, "active")
        else:
            ad = market.end(ad_id, "sold" if action == "sell" else "removed")
        world.save()
        return ad_view(ad)
