"""A typed client of the control API, on urllib alone.

>>> simulator = Simulator("http://127.0.0.1:8099")
>>> ad = simulator.publish(title="Rennrad 56 cm", price=650)  # doctest: +SKIP
>>> simulator.drop_price(ad.id, 590)  # doctest: +SKIP
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Unpack

from simulator.fields import AdFields, FaultFields

Price = int | float | str | Decimal
"""Euros, at most two decimals."""
Json = dict[str, Any]


class ControlError(Exception):
    """The simulator refused: `status` is 400 (with `field`), 404 or 405."""

    def __init__(self, status: int, message: str, field: str = "") -> None:
        self.status, self.field = status, field
        super().__init__(message)


@dataclass(frozen=True, kw_only=True)
class AdView:
    """An ad; `cents` None when it names no price, `path` is where its page is."""

    id: str
    title: str
    cents: int | None
    status: str
    published: int
    first_published: int
    bumped: bool
    promoted: bool
    private: bool
    place: str
    path: str
    images: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SentMessage:
    """A message as the person sees it: `text` after parsing entities, `buttons` rows of (text, url)."""

    id: int
    chat: int
    time: int
    method: str
    text: str
    raw: str
    parse_mode: str
    entities: tuple[Json, ...]
    photo: str | None
    buttons: tuple[tuple[tuple[str, str], ...], ...]
    silent: bool


@dataclass(frozen=True, kw_only=True)
class HookPost:
    """A message that Slack, Discord, ntfy or a webhook took; `path` stands after the service's name."""

    id: int
    service: str
    path: str
    query: str
    time: int
    headers: Json
    raw: str
    json: Json | None


@dataclass(frozen=True, kw_only=True)
class FaultView:
    """A fault; `served` counts the requests that it hit, `made` the ads that shift_rows moved."""

    id: str
    target: str
    kind: str
    times: int | None
    served: int
    made: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class StatsView:
    """What the simulator was asked: `paths` by "VERB /path", `concurrent` by host ("*" for all), `requests` singly."""

    paths: dict[str, int]
    targets: dict[str, int]
    statuses: dict[str, int]
    user_agents: dict[str, int]
    headers: dict[str, list[str]]
    concurrent: dict[str, int]
    connections: int
    requests: tuple[Json, ...]


class Simulator:
    """Steers a running simulator. Every method raises ControlError when refused, OSError when it does not answer."""

    def __init__(self, base: str, timeout: float = 10.0) -> None:
        self.base, self.timeout = base.rstrip("/"), timeout

    def health(self) -> Json:
        """Seed and counts; answers as soon as the simulator does."""
        return dict(self._call("GET", "health"))

    def publish(self, **given: Unpack[AdFields]) -> AdView:
        """A new ad; without arguments an invented one, with `kind` alone an invented one of that kind."""
        return _read(AdView, self._call("POST", "ads", _plain(given)))

    def edit(self, ad_id: str, **given: Unpack[AdFields]) -> AdView:
        """Change any field of an ad."""
        return _read(AdView, self._call("PATCH", f"ads/{ad_id}", _plain(given)))

    def ads(self) -> list[AdView]:
        """Every ad, sold and removed ones too, oldest id first."""
        return [_read(AdView, ad) for ad in self._call("GET", "ads")]

    def ad(self, ad_id: str) -> AdView:
        """One ad."""
        return _read(AdView, self._call("GET", f"ads/{ad_id}"))

    def drop_price(self, ad_id: str, price: Price | None) -> AdView:
        """Ask another price, up or down; None takes it away."""
        return self._act(ad_id, "price", price=None if price is None else str(price))

    def bump(self, ad_id: str) -> AdView:
        """Publish anew under the same id."""
        return self._act(ad_id, "bump")

    def promote(self, ad_id: str, *, on: bool = True) -> AdView:
        """Let it stand first besides its own place, or no longer."""
        return self._act(ad_id, "promote", on=on)

    def sell(self, ad_id: str) -> AdView:
        """Out of the lists; its page says sold."""
        return self._act(ad_id, "sell")

    def remove(self, ad_id: str) -> AdView:
        """Out of the lists; its page is a soft 404."""
        return self._act(ad_id, "remove")

    def restore(self, ad_id: str) -> AdView:
        """Back in the lists."""
        return self._act(ad_id, "restore")

    def load_page(self, next_data: Mapping[str, object], *, path: str | None = None, page: int | None = None) -> None:
        """Serve a captured `__NEXT_DATA__` for result pages under `path` until cleared (default: the marketplace).

        With `page` None it answers every page number; with a number the others are empty, or loaded too.
        """
        self._load({"next_data": next_data}, path, page)

    def load_html(self, html: str, *, path: str | None = None, page: int | None = None) -> None:
        """Serve this document instead, as it is."""
        self._load({"html": html}, path, page)

    def clear_pages(self) -> None:
        """Serve the market's own pages again."""
        self._call("DELETE", "pages")

    def fault(self, kind: str, target: str = "market", **given: Unpack[FaultFields]) -> FaultView:
        """Let something go wrong for the next `times` matching requests (default 1; None: until cleared)."""
        return _read(FaultView, self._call("POST", "faults", {"kind": kind, "target": target, **given}))

    def faults(self) -> list[FaultView]:
        """All that were added and not cleared, spent ones too."""
        return [_read(FaultView, fault) for fault in self._call("GET", "faults")]

    def clear_faults(self, fault_id: str | None = None) -> None:
        """Take back one fault, or all."""
        self._call("DELETE", f"faults/{fault_id}" if fault_id else "faults")

    def messages(self, chat: int | str | None = None) -> list[SentMessage]:
        """What a person sees in a chat, oldest first."""
        path = "telegram/messages" if chat is None else f"telegram/messages?chat={chat}"
        return [_message(message) for message in self._call("GET", path)]

    def wait_for_messages(self, chat: int | str, count: int, seconds: float = 10.0) -> list[SentMessage]:
        """The messages of a chat once there are `count`, or what there is when the time is over."""
        ends = time.monotonic() + seconds
        while len(found := self.messages(chat)) < count and time.monotonic() < ends:
            time.sleep(0.05)
        return found

    def clear_messages(self) -> None:
        """Empty all chats."""
        self._call("DELETE", "telegram/messages")

    def chat(
        self,
        chat: int | str,
        *,
        kind: str | None = None,
        title: str | None = None,
        blocked: bool | None = None,
        migrate_to: int | None = None,
    ) -> None:
        """Make or change a chat: private, group, supergroup or channel; blocked; migrated."""
        given = {"chat": chat, "kind": kind, "title": title, "blocked": blocked, "migrate_to": migrate_to}
        self._call("POST", "telegram/chats", {name: value for name, value in given.items() if value is not None})

    def say(self, chat: int | str, text: str) -> int:
        """The person writes to the bot; how many updates the webhook took at once (0 without one)."""
        return int(self._call("POST", "telegram/say", {"chat": chat, "text": text})["delivered"])

    def hook_url(self, service: str) -> str:
        """What stands in for the service's origin (slack, discord, ntfy, webhook)."""
        return f"{self.base}/_hooks/{service}"

    def posts(self, service: str = "", after: int = 0) -> list[HookPost]:
        """What was taken below /_hooks/, of one service or of all, since the post with the id `after`, oldest first."""
        query = f"?after={after}" + (f"&service={service}" if service else "")
        return [_read(HookPost, post) for post in self._call("GET", f"hooks/posts{query}")]

    def clear_posts(self) -> None:
        """Forget them."""
        self._call("DELETE", "hooks/posts")

    def rate_limit(self, *, on: bool) -> None:
        """1 message a second for each chat, 20 a minute for each group, 30 a second in all: 429 beyond."""
        self._call("POST", "telegram/options", {"rate_limited": on})

    def stats(self) -> StatsView:
        """What was asked since the start or the last `reset_stats`; control requests do not count."""
        return _read(StatsView, self._call("GET", "stats"))

    def reset_stats(self) -> None:
        """Begin counting anew."""
        self._call("DELETE", "stats")

    def close_connections(self) -> int:
        """Close all idle keep-alive connections, as happens while a function is frozen; how many."""
        return int(self._call("DELETE", "connections")["closed"])

    def now(self) -> int:
        """The simulator's clock, UTC epoch ms."""
        return int(self._call("GET", "clock")["now"])

    def advance_clock(self, milliseconds: int) -> int:
        """Move the clock on; the new now."""
        return int(self._call("POST", "clock", {"advance": milliseconds})["now"])

    def stop_clock(self, at: int) -> None:
        """Stop the clock at an epoch ms."""
        self._call("POST", "clock", {"stop_at": at})

    def real_clock(self) -> None:
        """Back to real time."""
        self._call("POST", "clock", {"real": True})

    def live(self, seconds: float) -> None:
        """Let something happen by itself every so many seconds; 0 stops that."""
        self._call("POST", "live", {"seconds": seconds})

    def step(self) -> tuple[str, AdView]:
        """One such thing now: new, drop, bump or sale, and the ad."""
        step = self._call("POST", "live/step")
        return str(step["what"]), _read(AdView, step["ad"])

    def reset(self, *, seed: int | None = None, ads: int | None = None) -> None:
        """Begin anew: market from the seed, empty chats, no faults, no counts."""
        given = {"seed": seed, "ads": ads}
        self._call("POST", "reset", {name: value for name, value in given.items() if value is not None})

    def _act(self, ad_id: str, action: str, **given: object) -> AdView:
        return _read(AdView, self._call("POST", f"ads/{ad_id}/{action}", given))

    def _load(self, given: Json, path: str | None, page: int | None) -> None:
        self._call("POST", "pages", given | ({"path": path} if path else {}) | ({"page": page} if page else {}))

    def _call(self, verb: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(  # noqa: S310 - the base is the caller's own loopback address
            f"{self.base}/_control/{path}", data, headers, method=verb
        )
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:  # noqa: S310
                return json.load(answer)["result"]
        except urllib.error.HTTPError as error:
            with error:
                answered = json.load(error)
            raise ControlError(error.code, answered["error"], answered.get("field", "")) from None


def _plain(given: Mapping[str, object]) -> Json:
    price = given.get("price")
    return dict(given) | ({"price": str(price)} if price is not None else {})


def _read[T](kind: type[T], data: Mapping[str, Any]) -> T:
    named = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    kept = {name: tuple(v) if isinstance(v, list) else v for name, v in data.items() if name in named}
    return kind(**kept)


def _message(data: Json) -> SentMessage:
    rows = tuple(tuple((button["text"], button["url"]) for button in row) for row in data["buttons"])
    return _read(SentMessage, data | {"buttons": rows})
