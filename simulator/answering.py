"""Turns a request into a reply: the market's pages, Telegram's and the hooks' answers, with the faults that apply."""

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qs

from simulator import hooks, pages
from simulator.bot_params import Answer, TelegramError, too_many
from simulator.checks import NoSuchThingError
from simulator.faults import Asked, Fault
from simulator.hooks import HookAnswer, Incoming
from simulator.market import ResultPage
from simulator.searching import NEWEST, SearchRequest, in_order, parse
from simulator.world import World

HTML = "text/html; charset=utf-8"
JSON = "application/json"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """`lost`: the connection closes without an answer. `cut`: half of the body, then it closes."""

    status: int = 200
    content_type: str = HTML
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    held_by: str = ""
    """The fault whose clearing ends the delay early."""
    lost: bool = False
    cut: bool = False


def market_reply(world: World, path: str, query: str) -> Reply:
    """A page below /iad/."""
    request = parse(path, query)
    with world.lock:
        asked = Asked(target="market", path=f"{path}?{query}", page=request.page if request else None)
        faults = world.faults.take(asked)

        def honest() -> Reply:
            if request is not None:
                return _result_page(world, request, faults)
            return _ad_page(world, path, query)

        return _with_faults(world, faults, honest, _market_error)


def telegram_reply(world: World, token: str, method: str, params: Mapping[str, object] | None) -> Reply:
    """A Bot API call, saved before it is answered; `params` is None for a body that is no JSON object."""
    if params is None:
        return _json(TelegramError(400, "Bad Request: can't parse JSON object").answer())
    with world.lock:
        chat = str(params.get("chat_id", ""))
        words = str(params.get("text", params.get("caption", "")))
        asked = Asked(target="telegram", path=f"/{method}", method=method, chat=chat, text=words)
        faults = world.faults.take(asked)
        refuse = any(fault.kind == "refuse_photo" for fault in faults)

        def honest() -> Reply:
            answer = world.telegram.call(token, method, params, refuse_photo=refuse)
            world.save()
            return _json(answer)

        return _with_faults(world, faults, honest, _telegram_error)


def hook_reply(world: World, asked: Incoming) -> Reply:
    """A message for Slack, Discord, ntfy or a webhook, saved before it is answered."""
    with world.lock:
        words = asked.body.decode("utf-8", "replace")
        path = f"{asked.path}?{asked.query}"
        faults = world.faults.take(Asked(target=asked.service, path=path, method=asked.verb, text=words))

        def honest() -> Reply:
            answer = world.hooks.take(asked)
            world.save()
            return _hook_answer(answer)

        def refusal(fault: Fault) -> Reply:
            return _hook_answer(hooks.refusal(asked.service, fault.status, fault.retry_after))

        return _with_faults(world, faults, honest, refusal)


def _hook_answer(answer: HookAnswer) -> Reply:
    body = answer.body.encode()
    return Reply(status=answer.status, content_type=answer.content_type, body=body, headers=answer.headers)


def _with_faults(
    world: World, faults: list[Fault], honest: Callable[[], Reply], refusal: Callable[[Fault], Reply]
) -> Reply:
    ending = next((fault for fault in faults if fault.kind in _ENDINGS), None)
    reply = _ENDINGS[ending.kind](world, ending, honest, refusal) if ending else honest()
    slow = [fault for fault in faults if fault.kind in ("delay", "hang")]
    return replace(reply, delay=sum(fault.seconds for fault in slow), held_by=slow[-1].id if slow else "")


def _garbage(world: World, fault: Fault) -> Reply:
    """Bytes that are neither HTML nor JSON nor UTF-8, the same for the same seed."""
    return Reply(body=b"\xff\xfe" + random.Random(f"{world.seed}/{fault.id}/{fault.served}").randbytes(2_000))


_Ending = Callable[[World, Fault, Callable[[], Reply], Callable[[Fault], Reply]], Reply]
_ENDINGS: dict[str, _Ending] = {
    "status": lambda _w, fault, _h, refusal: refusal(fault),
    "garbage": lambda world, fault, _h, _r: _garbage(world, fault),
    "truncated": lambda _w, _f, honest, _r: replace(honest(), cut=True),
    "drop": lambda _w, _f, _h, _r: Reply(lost=True),
    "drop_after": lambda _w, _f, honest, _r: replace(honest(), lost=True),
    "hang": lambda _w, _f, _h, _r: Reply(lost=True),
    "block_page": lambda _w, fault, _h, _r: Reply(status=fault.status, body=pages.BLOCKED.encode()),
    "challenge": lambda _w, _f, _h, _r: Reply(body=pages.CHALLENGE.encode()),
    "no_next_data": lambda _w, _f, _h, _r: Reply(body=pages.NO_NEXT_DATA.encode()),
}


def _market_error(fault: Fault) -> Reply:
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    body = pages.BLOCKED if fault.status == 403 else f"<html><body>Fehler {fault.status}</body></html>"
    return Reply(status=fault.status, body=body.encode(), headers=headers)


def _telegram_error(fault: Fault) -> Reply:
    if fault.status == 429:
        wait = 1 if fault.retry_after is None else fault.retry_after
        return replace(_json(too_many(wait).answer()), headers={"Retry-After": str(wait)})
    if fault.status in (502, 503, 504):
        return Reply(status=fault.status, body=f"<html><h1>{fault.status} Bad Gateway</h1></html>".encode())
    words = {
        400: "Bad Request: invalid request",
        401: "Unauthorized",
        403: "Forbidden: bot was blocked by the user",
        404: "Not Found",
    }
    return _json(TelegramError(fault.status, words.get(fault.status, "Internal Server Error")).answer())


def _result_page(world: World, request: SearchRequest, faults: list[Fault]) -> Reply:
    loaded = _loaded(world, request)
    if loaded is not None:
        return loaded
    kinds = {fault.kind: fault for fault in faults}
    result = world.market.search(
        request,
        sort_applied="ignore_sort" not in kinds,
        filters="ignore_filter" not in kinds,
        page=1 if "repeat_page" in kinds else None,
    )
    lie = kinds.get("ignore_sort")
    claimed = request.sort if lie is not None and not lie.honest else None
    data = pages.search_result(result, world.clock(), claimed_sort=claimed)
    if "shift_rows" in kinds:
        _shift(world, result, kinds["shift_rows"])
        world.save()
    return _page(world, {"searchResult": data}, str(data["searchTitle"]))


def _shift(world: World, page: ResultPage, fault: Fault) -> None:
    """After page 1: the newest organic ads go, or younger ones like them come, so that page 2 begins elsewhere."""
    organic = [ad for ad in page.ads if not ad.promoted]
    for ad in organic[: fault.remove]:
        fault.made.append(world.market.end(ad.id, "removed").id)
    pattern = organic[0] if organic else world.market.publish()
    for number in range(1, fault.insert + 1):
        made = world.market.publish(
            title=f"{pattern.title} (verschoben {number})",
            body=pattern.body,
            cents=pattern.cents,
            vertical=pattern.vertical,
            categories=pattern.categories,
            place=pattern.place,
            private=pattern.private,
            seller=pattern.seller,
            paylivery=pattern.paylivery,
            tree_attributes=pattern.tree_attributes,
            attributes=pattern.attributes,
        )
        fault.made.append(made.id)


def _ad_page(world: World, path: str, query: str) -> Reply:
    asked_id = parse_qs(query).get("adId", [""])[0]
    by_path = re.fullmatch(r"/iad/(?:[\w-]+/)*d/(?:[^/]+/)*[^/]*?(\d{6,12})/?", path)
    if path == "/iad/object" and asked_id:
        ad_id = asked_id
    elif by_path:
        ad_id = by_path[1]
    else:
        return Reply(status=404, body=pages.NOT_FOUND.encode())
    try:
        ad = world.market.get(ad_id)
    except NoSuchThingError:
        ad = None
    if ad is None or ad.status == "removed":
        alive = [other for other in world.market.ads.values() if other.status == "active"]
        similar = tuple(in_order(alive, NEWEST, "")[:2])
        return _page(world, {"searchResult": pages.removed_ad(similar, world.clock())}, "Ähnliche Anzeigen")
    if path == "/iad/object" and ad.seo:
        return Reply(status=302, headers={"Location": f"/iad/{ad.seo_url}"})
    return _page(world, {"advertDetails": pages.advert_details(ad)}, ad.title)


def _loaded(world: World, request: SearchRequest) -> Reply | None:
    """A captured page for this path; beyond the captured ones, an empty page."""
    fitting = [page for page in world.pages if request.path.startswith(page.path)]
    if not fitting:
        return None
    for page in reversed(fitting):
        if page.page in (None, request.page):
            body = pages.document(page.next_data) if page.next_data is not None else page.html
            return Reply(body=body.encode("utf-8", "backslashreplace"))
    empty = ResultPage(request, (), 0, request.sort)
    return _page(world, {"searchResult": pages.search_result(empty, world.clock())}, "")


def _page(world: World, page_props: dict[str, object], title: str) -> Reply:
    text = pages.document(pages.next_data(page_props, f"simulator-{world.seed}"), title)
    return Reply(body=text.encode("utf-8", "backslashreplace"))


def _json(answer: Answer) -> Reply:
    return Reply(status=answer.status, content_type=JSON, body=json.dumps(answer.body).encode())
