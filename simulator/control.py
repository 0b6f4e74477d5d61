"""The control API below /_control/: JSON in, JSON out. Field names are those of the client."""

import json
import re
from collections.abc import Callable, Mapping
from typing import cast, get_args

from simulator import checks, webhook
from simulator.ads import Ad, Place
from simulator.catalogue import KINDS, PLACES
from simulator.chats import ChatKind
from simulator.checks import BadControlError, Body, NoSuchThingError
from simulator.world import LoadedPage, World

Json = dict[str, object]
Route = Callable[[World, "re.Match[str]", Body], object]

MARKETPLACE_PATH = "/iad/kaufen-und-verkaufen/marktplatz"


def handle(world: World, verb: str, path: str, query: Mapping[str, str], body: bytes) -> tuple[int, Json]:
    """Status and JSON of one control request; a bad field is a 400 that names it."""
    try:
        fields = _decode(body) | dict(query)
        allowed = []
        for route_verb, pattern, route in _ROUTES:
            found = re.fullmatch(pattern, path)
            if found is None:
                continue
            if route_verb == verb:
                return 200, {"ok": True, "result": route(world, found, fields)}
            allowed.append(route_verb)
        if allowed:
            return 405, {"ok": False, "error": f"{path} takes {', '.join(allowed)}"}
        raise NoSuchThingError(f"no control path {path}")
    except BadControlError as error:
        return 400, {"ok": False, "error": str(error), "field": error.field}
    except NoSuchThingError as error:
        return 404, {"ok": False, "error": str(error)}


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


def _decode(body: bytes) -> Json:
    if not body:
        return {}
    try:
        decoded = json.loads(body)
    except ValueError as error:
        raise BadControlError("body", f"expected JSON: {error}") from error
    if not isinstance(decoded, dict):
        raise BadControlError("body", "expected a JSON object")
    return decoded


def _publish(world: World, _: "re.Match[str]", body: Body) -> Json:
    kind = checks.text(body, "kind") or None
    if kind is not None and kind not in KINDS:
        raise BadControlError("kind", f"expected one of {', '.join(KINDS)}, got {kind!r}")
    published = checks.whole(body, "published", least=0)
    given = _ad_fields({name: value for name, value in body.items() if name not in ("kind", "published")})
    with world.lock:
        ad = world.market.publish(kind=kind, published=published, **given)
        world.save()
        return ad_view(ad)


def _edit(world: World, found: "re.Match[str]", body: Body) -> Json:
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


def _ads(world: World, _: "re.Match[str]", _body: Body) -> list[Json]:
    with world.lock:
        return [ad_view(ad) for ad in world.market.ads.values()]


def _ad(world: World, found: "re.Match[str]", _: Body) -> Json:
    with world.lock:
        return ad_view(world.market.get(found["id"]))


def _act(world: World, found: "re.Match[str]", body: Body) -> Json:
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


def _add_fault(world: World, _: "re.Match[str]", body: Body) -> Json:
    with world.lock:
        return world.faults.add(body).to_json()


def _list_faults(world: World, _: "re.Match[str]", _body: Body) -> list[Json]:
    with world.lock:
        return [fault.to_json() for fault in world.faults.all]


def _clear_faults(world: World, found: "re.Match[str]", _: Body) -> Json:
    with world.lock:
        return {"cleared": world.faults.clear(found.groupdict().get("id"))}


def _load_page(world: World, _: "re.Match[str]", body: Body) -> Json:
    checks.only(body, ("path", "page", "next_data", "html"))
    path = checks.text(body, "path", MARKETPLACE_PATH)
    if not path.startswith("/iad/"):
        raise BadControlError("path", f"expected a path that begins with /iad/, got {path!r}")
    if ("next_data" in body) == ("html" in body):
        raise BadControlError("next_data", "give either next_data or html")
    data = checks.mapping(body, "next_data") if "next_data" in body else None
    page = LoadedPage(
        path=path, page=checks.whole(body, "page", least=1), next_data=data, html=checks.text(body, "html")
    )
    with world.lock:
        world.pages = [old for old in world.pages if (old.path, old.page) != (page.path, page.page)]
        world.pages.append(page)
        return {"pages": len(world.pages)}


def _clear_pages(world: World, _: "re.Match[str]", _body: Body) -> Json:
    with world.lock:
        count = len(world.pages)
        world.pages = []
        return {"cleared": count}


def _messages(world: World, _: "re.Match[str]", body: Body) -> list[Json]:
    checks.only(body, ("chat",))
    with world.lock:
        return [message.to_json() for message in world.telegram.messages(_chat_id(body, required=False))]


def _clear_messages(world: World, _: "re.Match[str]", _body: Body) -> Json:
    with world.lock:
        count = len(world.telegram.sent)
        world.telegram.sent = []
        world.save()
        return {"cleared": count}


def _set_chat(world: World, _: "re.Match[str]", body: Body) -> Json:
    checks.only(body, ("chat", "kind", "title", "blocked", "migrate_to"))
    kind = checks.text(body, "kind") or None
    if kind is not None and kind not in get_args(ChatKind):
        raise BadControlError("kind", f"expected one of {', '.join(get_args(ChatKind))}, got {kind!r}")
    chat_id = _chat_id(body, required=True)
    with world.lock:
        chat = world.telegram.set_chat(
            chat_id or 0,
            kind=cast("ChatKind | None", kind),
            title=checks.text(body, "title") if "title" in body else None,
            blocked=checks.flag(body, "blocked") if "blocked" in body else None,
            migrate_to=checks.whole(body, "migrate_to"),
        )
        world.save()
        return dict(vars(chat))


def _say(world: World, _: "re.Match[str]", body: Body) -> Json:
    checks.only(body, ("chat", "text"))
    if not checks.text(body, "text"):
        raise BadControlError("text", "missing")
    with world.lock:
        update = world.telegram.say(_chat_id(body, required=True) or 0, checks.text(body, "text"))
        world.save()
    return {"update": update, "delivered": webhook.deliver(world)}


def _chat_id(body: Body, *, required: bool) -> int | None:
    value = body.get("chat")
    if value is None and not required:
        return None
    if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,18}", str(value)):
        raise BadControlError("chat", f"expected a chat id, got {value!r}")
    return int(str(value))


def _telegram_options(world: World, _: "re.Match[str]", body: Body) -> Json:
    checks.only(body, ("rate_limited",))
    with world.lock:
        world.telegram.rate_limited = checks.flag(body, "rate_limited", default=world.telegram.rate_limited)
        world.save()
        return {"rate_limited": world.telegram.rate_limited}


def _set_clock(world: World, _: "re.Match[str]", body: Body) -> Json:
    checks.only(body, ("stop_at", "advance", "real"))
    with world.lock:
        if checks.flag(body, "real"):
            world.clock.ahead, world.clock.stopped = 0, None
        if "stop_at" in body:
            world.clock.stopped = checks.whole(body, "stop_at", least=0)
        world.clock.advance(checks.whole(body, "advance", 0) or 0)
        world.save()
        return world.clock.to_json() | {"now": world.clock()}


def _get_clock(world: World, _: "re.Match[str]", _body: Body) -> Json:
    with world.lock:
        return world.clock.to_json() | {"now": world.clock()}


def _live(world: World, _: "re.Match[str]", body: Body) -> Json:
    checks.only(body, ("seconds",))
    world.live_seconds = checks.seconds(body, "seconds", 0.0)
    return {"seconds": world.live_seconds}


def _step(world: World, _: "re.Match[str]", _body: Body) -> Json:
    what, ad = world.live_step()
    return {"what": what, "ad": ad_view(ad)}


def _get_stats(world: World, _: "re.Match[str]", _body: Body) -> Json:
    return world.stats.to_json()


def _reset_stats(world: World, _: "re.Match[str]", _body: Body) -> Json:
    world.stats.reset()
    return {}


def _reset(world: World, _: "re.Match[str]", body: Body) -> Json:
    checks.only(body, ("seed", "ads"))
    with world.lock:
        world.seed = checks.whole(body, "seed", world.seed, least=0) or 0
        world.ads = checks.whole(body, "ads", world.ads, least=0) or 0
        world.begin()
        world.stats.reset()
        world.save()
        return {"seed": world.seed, "ads": len(world.market.ads)}


def _health(world: World, _: "re.Match[str]", _body: Body) -> Json:
    with world.lock:
        return {"seed": world.seed, "ads": len(world.market.ads), "messages": len(world.telegram.sent)}


_ROUTES: tuple[tuple[str, str, Route], ...] = (
    ("GET", r"/_control/health", _health),
    ("GET", r"/_control/ads", _ads),
    ("POST", r"/_control/ads", _publish),
    ("GET", r"/_control/ads/(?P<id>\d+)", _ad),
    ("PATCH", r"/_control/ads/(?P<id>\d+)", _edit),
    ("POST", r"/_control/ads/(?P<id>\d+)/(?P<action>price|bump|promote|sell|remove|restore)", _act),
    ("GET", r"/_control/faults", _list_faults),
    ("POST", r"/_control/faults", _add_fault),
    ("DELETE", r"/_control/faults", _clear_faults),
    ("DELETE", r"/_control/faults/(?P<id>\w+)", _clear_faults),
    ("POST", r"/_control/pages", _load_page),
    ("DELETE", r"/_control/pages", _clear_pages),
    ("GET", r"/_control/telegram/messages", _messages),
    ("DELETE", r"/_control/telegram/messages", _clear_messages),
    ("POST", r"/_control/telegram/chats", _set_chat),
    ("POST", r"/_control/telegram/say", _say),
    ("POST", r"/_control/telegram/options", _telegram_options),
    ("GET", r"/_control/clock", _get_clock),
    ("POST", r"/_control/clock", _set_clock),
    ("POST", r"/_control/live", _live),
    ("POST", r"/_control/live/step", _step),
    ("GET", r"/_control/stats", _get_stats),
    ("DELETE", r"/_control/stats", _reset_stats),
    ("POST", r"/_control/reset", _reset),
)
