"""The control API below /_control/: JSON in, JSON out. Field names are those of the client."""

import json
import re
from collections.abc import Callable, Mapping

from simulator import checks, control_ads, control_hooks, control_telegram
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
        raise NoSuchThingError(f"no control path {path}; there are: {_known()}")
    except BadControlError as error:
        return 400, {"ok": False, "error": str(error), "field": error.field}
    except NoSuchThingError as error:
        return 404, {"ok": False, "error": str(error)}


def _known() -> str:
    """Every path with its verbs, as a person would type it."""
    verbs: dict[str, list[str]] = {}
    for verb, pattern, _ in _ROUTES:
        verbs.setdefault(re.sub(r"\(\?P<(\w+)>(?:([\w|]+)|[^)]*)\)", _placeholder, pattern), []).append(verb)
    return ", ".join(f"{'|'.join(each)} {path}" for path, each in verbs.items())


def _placeholder(group: "re.Match[str]") -> str:
    """What stands for a part of a path: its name, or the words that it may be."""
    return group[2] or group[1].upper()


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
    return {"what": what, "ad": control_ads.ad_view(ad)}


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
    ("GET", r"/_control/ads", control_ads.ads),
    ("POST", r"/_control/ads", control_ads.publish),
    ("GET", r"/_control/ads/(?P<id>\d+)", control_ads.ad),
    ("PATCH", r"/_control/ads/(?P<id>\d+)", control_ads.edit),
    ("POST", r"/_control/ads/(?P<id>\d+)/(?P<action>price|bump|promote|sell|remove|restore)", control_ads.act),
    ("GET", r"/_control/faults", _list_faults),
    ("POST", r"/_control/faults", _add_fault),
    ("DELETE", r"/_control/faults", _clear_faults),
    ("DELETE", r"/_control/faults/(?P<id>\w+)", _clear_faults),
    ("POST", r"/_control/pages", _load_page),
    ("DELETE", r"/_control/pages", _clear_pages),
    ("GET", r"/_control/telegram/messages", control_telegram.messages),
    ("DELETE", r"/_control/telegram/messages", control_telegram.clear_messages),
    ("POST", r"/_control/telegram/chats", control_telegram.set_chat),
    ("POST", r"/_control/telegram/say", control_telegram.say),
    ("POST", r"/_control/telegram/options", control_telegram.options),
    ("GET", r"/_control/hooks/posts", control_hooks.posts),
    ("DELETE", r"/_control/hooks/posts", control_hooks.clear_posts),
    ("GET", r"/_control/clock", _get_clock),
    ("POST", r"/_control/clock", _set_clock),
    ("POST", r"/_control/live", _live),
    ("POST", r"/_control/live/step", _step),
    ("GET", r"/_control/stats", _get_stats),
    ("DELETE", r"/_control/stats", _reset_stats),
    ("POST", r"/_control/reset", _reset),
)
