"""The limits of Slack's, Discord's and ntfy's payloads, as they document them, and how each says that one is broken.

Slack: docs.slack.dev/reference/block-kit. Discord: docs.discord.com/developers/resources/message, …/webhook.
ntfy: docs.ntfy.sh/publish/#publish-as-json.
"""

import json
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

Json = dict[str, object]


class RefusedError(Exception):
    """The service refuses a message: `status` and `body` as it answers."""

    def __init__(self, status: int, body: str) -> None:
        self.status, self.body = status, body
        super().__init__(body)


def check_slack(payload: Json | None) -> None:
    """Raise RefusedError for what Slack answers 400 to."""
    if payload is None:
        raise RefusedError(400, "invalid_payload")
    text, blocks = payload.get("text", ""), payload.get("blocks", [])
    if not isinstance(text, str) or len(text) > 40_000:
        raise RefusedError(400, "invalid_payload")
    if not text and not blocks:
        raise RefusedError(400, "no_text")
    if not isinstance(blocks, list) or len(blocks) > 50 or not all(isinstance(block, dict) for block in blocks):
        raise RefusedError(400, "invalid_blocks")
    for number, block in enumerate(blocks):
        if not _slack_block(block):
            raise RefusedError(400, f"invalid_blocks: [json-pointer:/blocks/{number}]")


def _slack_block(block: Mapping[str, object]) -> bool:
    match block:
        case {"type": "header", "text": {"type": "plain_text", "text": str(text)}}:
            return 0 < len(text) <= 150
        case {"type": "section", "text": text, **rest}:
            return _slack_text(text) and _slack_image(rest.get("accessory"))
        case {"type": "context", "elements": [*elements]}:
            return 0 < len(elements) <= 10 and all(map(_slack_text, elements))
        case {"type": "actions", "elements": [*elements]}:
            return 0 < len(elements) <= 25 and all(map(_slack_button, elements))
        case {"type": "divider"}:
            return True
        case _:
            return False


def _slack_text(text: object) -> bool:
    match text:
        case {"type": "mrkdwn" | "plain_text", "text": str(said)}:
            return 0 < len(said) <= 3_000
        case _:
            return False


def _slack_image(image: object) -> bool:
    match image:
        case None:
            return True
        case {"type": "image", "image_url": str(url), "alt_text": str(alt)}:
            return _web(url, 3_000, ("https",)) and 0 < len(alt) <= 2_000
        case _:
            return False


def _slack_button(button: object) -> bool:
    match button:
        case {"type": "button", "text": {"type": "plain_text", "text": str(text)}, "url": str(url)}:
            return 0 < len(text) <= 75 and _web(url, 3_000, ("http", "https"))
        case _:
            return False


def check_discord(payload: Json | None) -> Json:
    """The payload. Raises RefusedError for what Discord answers 400 to."""
    if payload is None:
        said = {"message": "The request body contains invalid JSON.", "code": 50109}
        raise RefusedError(400, json.dumps(said))
    content, embeds = payload.get("content") or "", payload.get("embeds") or []
    if not content and not embeds:
        raise RefusedError(400, json.dumps({"message": "Cannot send an empty message", "code": 50006}))
    if not isinstance(content, str) or len(content) > 2_000:
        raise _discord_form("content", "Must be 2000 or fewer in length.")
    if not isinstance(embeds, list) or len(embeds) > 10:
        raise _discord_form("embeds", "Must be 10 or fewer in length.")
    try:
        length = sum(map(_discord_embed, embeds))
    except (AttributeError, KeyError, TypeError):
        raise _discord_form("embeds", "Only dictionaries may be used in a DictType") from None
    if length > 6_000:
        raise _discord_form("embeds", "Embed size exceeds maximum size of 6000")
    return payload


_DISCORD_LIMITS = {"title": 256, "description": 4_096}


def _discord_embed(embed: object) -> int:
    """The characters of an embed that count."""
    if not isinstance(embed, dict) or not embed:
        raise _discord_form("embeds", "This field is required")
    length = 0
    for name, most in _DISCORD_LIMITS.items():
        text = embed.get(name, "")
        if not isinstance(text, str) or len(text) > most or (name in embed and not text.strip()):
            raise _discord_form(name, f"Must be {most} or fewer in length.")
        length += len(text)
    author = embed.get("author", {}).get("name", "")
    if len(author) > 256:
        raise _discord_form("author", "Must be 256 or fewer in length.")
    fields = embed.get("fields", [])
    if len(fields) > 25 or not all(0 < len(one["name"]) <= 256 and 0 < len(one["value"]) <= 1_024 for one in fields):
        raise _discord_form("fields", "Must be 25 or fewer in length.")
    for url in (embed.get("url"), embed.get("image", {}).get("url"), embed.get("thumbnail", {}).get("url")):
        if url is not None and not _web(url, 2_048, ("http", "https")):
            raise _discord_form("url", "Not a well formed URL.")
    if not 0 <= embed.get("color", 0) <= 0xFFFFFF:
        raise _discord_form("color", "int value should be less than or equal to 16777215.")
    return length + len(author) + sum(len(one["name"]) + len(one["value"]) for one in fields)


def _discord_form(name: str, said: str) -> RefusedError:
    errors = {name: {"_errors": [{"code": "BASE_TYPE_BAD_LENGTH", "message": said}]}}
    return RefusedError(400, json.dumps({"message": "Invalid Form Body", "code": 50035, "errors": errors}))


def check_ntfy(message: Json) -> None:
    """Raise RefusedError for what ntfy refuses."""
    topic = message.get("topic")
    if not isinstance(topic, str) or not re.fullmatch(r"[-_A-Za-z0-9]{1,64}", topic):
        raise ntfy_refusal(400, 40009, "invalid request: topic invalid")
    if any(not isinstance(message.get(name, ""), str) for name in ("message", "title", "click", "attach", "icon")):
        raise ntfy_refusal(400, 40024, "invalid request: request body must be message JSON")
    if len(str(message.get("message", "")).encode()) > 4_096:
        raise ntfy_refusal(413, 41301, "payload too large")
    if message.get("priority", 3) not in (0, 1, 2, 3, 4, 5):
        raise ntfy_refusal(400, 40007, "invalid request: priority invalid")
    actions = message.get("actions", [])
    if not isinstance(actions, list) or len(actions) > 3 or not all(map(_ntfy_action, actions)):
        raise ntfy_refusal(400, 40018, "invalid request: actions invalid")
    attached = str(message.get("attach", ""))
    if attached and not _web(attached, 8_192, ("http", "https")):
        raise ntfy_refusal(400, 40013, "invalid request: attachment URL is invalid")


def _ntfy_action(action: object) -> bool:
    match action:
        case {"action": "view", "label": str(label), "url": str(url)}:
            return bool(label and url)
        case {"action": "http" | "broadcast" | "copy", "label": str(label)}:
            return bool(label)
        case _:
            return False


def ntfy_refusal(status: int, code: int, said: str) -> RefusedError:
    """An error as ntfy words it."""
    link = "https://ntfy.sh/docs/publish/"
    return RefusedError(status, json.dumps({"code": code, "http": status, "error": said, "link": link}))


def _web(url: object, most: int, schemes: tuple[str, ...]) -> bool:
    if not isinstance(url, str) or len(url) > most or re.search(r"\s", url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname)
    except ValueError:
        return False
