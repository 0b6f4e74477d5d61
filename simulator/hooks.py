"""What takes posted messages below /_hooks/: Slack, Discord, ntfy and any webhook. No I/O; times are UTC epoch ms.

| path | stands in for |
|---|---|
| /_hooks/slack/services/T…/B…/… | https://hooks.slack.com |
| /_hooks/discord/api/webhooks/ID/TOKEN | https://discord.com |
| /_hooks/ntfy/, /_hooks/ntfy/TOPIC, a POST to / | an ntfy server, which is a whole origin |
| /_hooks/webhook/ANYTHING | somebody's own server |
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, get_args
from urllib.parse import parse_qs

from simulator import hook_payloads
from simulator.hook_payloads import Json, RefusedError

Service = Literal["slack", "discord", "ntfy", "webhook"]
SERVICES: tuple[Service, ...] = get_args(Service)
KEPT = 5_000
"""Posts remembered in all; older ones go."""

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, kw_only=True)
class HookAnswer:
    """What the far side says."""

    status: int
    body: str = ""
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Post:
    """A message that was taken. `path` stands after the service's name, `json` is the body where it is an object."""

    id: int
    service: str
    path: str
    query: str
    time: int
    headers: dict[str, str]
    raw: str
    json: Json | None

    def to_json(self) -> Json:
        """For the control API and the state file."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """A request as it came; header names in lower case."""

    verb: str
    service: Service
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


def incoming(verb: str, path: str, query: str, headers: Mapping[str, str], body: bytes) -> Incoming | None:
    """A request below /_hooks/, or a POST to the root; None for anything else, and for a service that is not here."""
    if path == "/" and verb in ("POST", "PUT"):
        path = "/_hooks/ntfy/"
    if not path.startswith("/_hooks/"):
        return None
    service, _, rest = path.removeprefix("/_hooks/").partition("/")
    if service not in SERVICES:
        return None
    return Incoming(verb=verb, service=service, path=f"/{rest}", query=query, headers=headers, body=body)


@dataclass
class Hooks:
    """All that was posted and taken, oldest first."""

    clock: Callable[[], int]
    posts: list[Post] = field(default_factory=list)
    next_post: int = 1

    def take(self, asked: Incoming) -> HookAnswer:
        """Check a message as its service does; keep it, or say what is wrong with it."""
        try:
            answer = _SERVICES[asked.service](self, asked)
        except RefusedError as refused:
            return HookAnswer(status=refused.status, body=refused.body, content_type=_type(asked.service))
        raw = asked.body.decode("utf-8", "replace")
        post = Post(
            id=self.next_post,
            service=asked.service,
            path=asked.path,
            query=asked.query,
            time=self.clock(),
            headers=dict(asked.headers),
            raw=raw,
            json=_object(asked.body),
        )
        self.next_post += 1
        self.posts.append(post)
        del self.posts[:-KEPT]
        return answer

    def to_json(self) -> Json:
        """A form for the state file."""
        return {"posts": [post.to_json() for post in self.posts], "next_post": self.next_post}

    def load(self, data: Mapping[str, object]) -> None:
        """Take over what `to_json` wrote. Raises TypeError, KeyError or ValueError for anything else."""
        posts = data["posts"]
        if not isinstance(posts, list):
            raise TypeError("posts is a list")
        self.posts = [Post(**post) for post in posts]
        self.next_post = int(str(data["next_post"]))

    def _slack(self, asked: Incoming) -> HookAnswer:
        if asked.verb != "POST" or not re.fullmatch(r"/services/[TE]\w+/B\w+/\w+", asked.path):
            raise RefusedError(404, "no_service")
        hook_payloads.check_slack(_object(asked.body))
        return HookAnswer(status=200, body="ok", content_type=TEXT)

    def _discord(self, asked: Incoming) -> HookAnswer:
        found = re.fullmatch(r"/api/(?:v\d+/)?webhooks/(\d{15,22})/([\w-]{20,150})", asked.path)
        if asked.verb != "POST" or not found:
            raise RefusedError(404, json.dumps({"message": "Unknown Webhook", "code": 10015}))
        payload = hook_payloads.check_discord(_object(asked.body))
        if parse_qs(asked.query).get("wait", ["false"])[0] != "true":
            return HookAnswer(status=204)
        stored = {"id": str(10**18 + self.next_post), "webhook_id": found[1], "content": payload.get("content", "")}
        return HookAnswer(status=200, body=json.dumps(stored | {"embeds": payload.get("embeds", [])}))

    def _ntfy(self, asked: Incoming) -> HookAnswer:
        if asked.verb not in ("POST", "PUT"):
            raise hook_payloads.ntfy_refusal(404, 40401, "page not found")
        topic = asked.path.strip("/")
        if topic:
            given: Json = {"topic": topic, "message": asked.body.decode("utf-8", "replace")}
        else:
            given = _object(asked.body) or {}
        hook_payloads.check_ntfy(given)
        stored = {"id": f"sim{self.next_post}", "time": self.clock() // 1000, "event": "message"}
        return HookAnswer(status=200, body=json.dumps(stored | given))

    def _webhook(self, asked: Incoming) -> HookAnswer:
        if asked.verb != "POST":
            raise RefusedError(405, "")
        return HookAnswer(status=204)


_SERVICES: Mapping[Service, Callable[[Hooks, Incoming], HookAnswer]] = {
    "slack": Hooks._slack,
    "discord": Hooks._discord,
    "ntfy": Hooks._ntfy,
    "webhook": Hooks._webhook,
}


def refusal(service: Service, status: int, retry_after: int | None) -> HookAnswer:
    """An error as the service words it; 502 to 504 are its edge's."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    if status in (502, 503, 504):
        body = f"<html><h1>{status} Bad Gateway</h1></html>"
        return HookAnswer(status=status, body=body, content_type="text/html", headers=headers)
    wait = 1 if retry_after is None else retry_after
    if status == 429 and service != "webhook":
        headers = {"Retry-After": str(wait)}
    words = {
        "slack": _SLACK_WORDS.get(status, "rollup_error"),
        "discord": json.dumps(_discord_words(status, wait)),
        "ntfy": json.dumps(
            {"code": status * 100 + 1, "http": status, "error": _NTFY_WORDS.get(status, "internal error")}
        ),
        "webhook": "",
    }
    return HookAnswer(status=status, body=words[service], content_type=_type(service), headers=headers)


_SLACK_WORDS = {
    400: "invalid_payload",
    403: "action_prohibited",
    404: "no_service",
    410: "channel_is_archived",
    429: "rate_limited",
}
_NTFY_WORDS = {401: "unauthorized", 403: "forbidden", 404: "page not found", 429: "limit reached: too many requests"}
_DISCORD_WORDS = {
    400: (50035, "Invalid Form Body"),
    401: (50027, "Invalid Webhook Token"),
    403: (50013, "Missing Permissions"),
    404: (10015, "Unknown Webhook"),
}


def _discord_words(status: int, wait: int) -> Json:
    if status == 429:
        return {"message": "You are being rate limited.", "retry_after": wait + 0.25, "global": False}
    code, message = _DISCORD_WORDS.get(status, (0, "500: Internal Server Error"))
    return {"message": message, "code": code}


def _type(service: Service) -> str:
    return TEXT if service in ("slack", "webhook") else JSON


def _object(body: bytes) -> Json | None:
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None
