"""The control API's side of Telegram: what people see, write, block and migrate."""

import re
from typing import cast, get_args

from simulator import checks, webhook
from simulator.chats import ChatKind
from simulator.checks import BadControlError, Body
from simulator.world import World

Json = dict[str, object]


def messages(world: World, _: "re.Match[str]", body: Body) -> list[Json]:
    """What was sent, of one chat or of all."""
    checks.only(body, ("chat",))
    with world.lock:
        return [message.to_json() for message in world.telegram.messages(_chat_id(body, required=False))]


def clear_messages(world: World, _: "re.Match[str]", _body: Body) -> Json:
    """Empty all chats."""
    with world.lock:
        count = len(world.telegram.sent)
        world.telegram.sent = []
        world.save()
        return {"cleared": count}


def set_chat(world: World, _: "re.Match[str]", body: Body) -> Json:
    """Make or change a chat."""
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


def say(world: World, _: "re.Match[str]", body: Body) -> Json:
    """A person writes to the bot; a webhook is called at once."""
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


def options(world: World, _: "re.Match[str]", body: Body) -> Json:
    """Whether the rate limits hold."""
    checks.only(body, ("rate_limited",))
    with world.lock:
        world.telegram.rate_limited = checks.flag(body, "rate_limited", default=world.telegram.rate_limited)
        world.save()
        return {"rate_limited": world.telegram.rate_limited}
