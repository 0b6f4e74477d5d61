"""What the Bot API checks in a request before it acts, and how it words its refusals."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from simulator import html_mode
from simulator.chats import Button

Json = dict[str, object]
Params = Mapping[str, object]


@dataclass(frozen=True)
class Answer:
    """An HTTP status and the JSON that goes with it."""

    status: int
    body: Json


class TelegramError(Exception):
    """What the Bot API refuses: status, description, parameters."""

    def __init__(self, status: int, description: str, parameters: Json | None = None) -> None:
        self.status, self.description, self.parameters = status, description, parameters
        super().__init__(description)

    def answer(self) -> Answer:
        """The error as the Bot API answers it."""
        body: Json = {"ok": False, "error_code": self.status, "description": self.description}
        if self.parameters:
            body["parameters"] = self.parameters
        return Answer(self.status, body)


def too_many(seconds: int) -> TelegramError:
    """429 with the seconds to wait, in both places where Telegram says them."""
    return TelegramError(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})


def text(params: Params, name: str) -> str:
    """A parameter as text. Raises TelegramError for what is not UTF-8."""
    value = params.get(name)
    given = "" if value is None else str(value)
    try:
        given.encode()
    except UnicodeEncodeError:
        raise TelegramError(400, "Bad Request: strings must be encoded in UTF-8") from None
    return given


def integer(params: Params, name: str, default: int) -> int:
    """A parameter as a number; anything else is the default, as at Telegram."""
    value = str(params.get(name, ""))
    return int(value) if re.fullmatch(r"-?\d{1,9}", value) else default


def parsed(params: Params, name: str) -> html_mode.Parsed:
    """Visible text and entities in the parse mode that the request names."""
    given, mode = text(params, name), text(params, "parse_mode").lower()
    if mode == "html":
        try:
            return html_mode.parse(given)
        except html_mode.ParseError as error:
            raise TelegramError(400, f"Bad Request: can't parse entities: {error}") from error
    if mode:
        raise TelegramError(400, "Bad Request: unsupported parse_mode")
    return html_mode.Parsed(given.strip(), ())


def buttons(markup: object) -> tuple[tuple[Button, ...], ...]:
    """The rows of an inline keyboard, given as JSON text or as an object."""
    if markup in (None, ""):
        return ()
    try:
        decoded: Any = json.loads(markup) if isinstance(markup, str) else markup
        rows = decoded["inline_keyboard"]
        return tuple(tuple(button(one) for one in row) for row in rows)
    except (json.JSONDecodeError, TypeError, KeyError, AttributeError):
        raise TelegramError(400, "Bad Request: can't parse reply keyboard markup JSON object") from None


def button(given: Mapping[str, object]) -> Button:
    """One button: a text, and a URL or callback data."""
    label, url = str(given.get("text", "")), str(given.get("url", ""))
    if not label.strip():
        raise TelegramError(400, "Bad Request: can't parse inline keyboard button: text buttons are empty")
    if not url and "callback_data" not in given:
        raise TelegramError(400, "Bad Request: text buttons are unallowed in the inline keyboard")
    if len(str(given.get("callback_data", "")).encode()) > 64:
        raise TelegramError(400, "Bad Request: BUTTON_DATA_INVALID")
    if url and not is_url(url, ("http", "https", "tg")):
        scheme = urlsplit(url).scheme if "://" in url else "http"
        why = "Wrong HTTP URL" if scheme in ("http", "https") else "Unsupported URL protocol"
        raise TelegramError(400, f"Bad Request: inline keyboard button URL '{url}' is invalid: {why}")
    return Button(label, url)


def is_url(url: str, schemes: tuple[str, ...]) -> bool:
    """Whether Telegram takes it: a known scheme, no white space, and a host with a dot ('localhost' is refused)."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme == "tg":
        return "tg" in schemes
    return parts.scheme in schemes and "." in (parts.hostname or "") and not re.search(r"\s", url)
