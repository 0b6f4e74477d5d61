"""The few calls of Telegram's Bot API that setting up needs (https://core.telegram.org/bots/api).

The token is part of every URL, so no error of the library below is passed on: only what Telegram itself answered.
"""

import re
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import msgspec
from msgspec import Raw, Struct

from lago.errors import BadInputError
from lago_cli.checks import bot_token
from lago_cli.errors import TelegramError
from lago_cli.ports import Chat
from lago_cli.text import plain

_SECONDS = 10


class _User(Struct):
    username: str = "unknown"


class _Conversation(Struct):
    id: int
    title: str = ""
    first_name: str = ""
    last_name: str = ""
    username: str = ""

    def name(self) -> str:
        """What the person would call it."""
        full = f"{self.first_name} {self.last_name}".strip()
        return plain(self.title or full or self.username or "unnamed", 60)


class _Origin(Struct):
    chat: _Conversation


class _Update(Struct):
    """The kinds of update that name the conversation they come from."""

    message: _Origin | None = None
    edited_message: _Origin | None = None
    channel_post: _Origin | None = None
    my_chat_member: _Origin | None = None

    def origin(self) -> _Conversation | None:
        """The conversation, or None for any other kind."""
        origin = self.message or self.edited_message or self.channel_post or self.my_chat_member
        return None if origin is None else origin.chat


class _Webhook(Struct):
    url: str = ""


class _Answer[Result](Struct):
    result: Result


class _Refusal(Struct):
    description: str


class TelegramBot:
    """One bot, by its token. Never shows the token: not in errors, not in its representation."""

    def __init__(self, api_url: str, token: str) -> None:
        """Raises BadInputError when the token cannot be one or the URL is none; the token is not repeated."""
        token = bot_token(token)
        if not re.match(r"https?://[^/\s]", api_url):
            raise BadInputError("TelegramApiUrl", api_url, "an address that begins with https://")
        self._base = f"{api_url.rstrip('/')}/bot{token}"

    def name(self) -> str:
        """The bot's @name."""
        return f"@{plain(self._call('getMe', {}, _User).username)}"

    def chats(self, wait_seconds: int) -> list[Chat]:
        """The conversations in the bot's waiting updates, each once. Confirms none of the updates."""
        updates = self._call("getUpdates", {"timeout": wait_seconds}, list[_Update], _SECONDS + wait_seconds)
        origins = [origin for origin in (update.origin() for update in updates) if origin is not None]
        return list({origin.id: Chat(str(origin.id), origin.name()) for origin in origins}.values())

    def send(self, chat: str, text: str) -> None:
        """Send a plain text message."""
        self._call("sendMessage", {"chat_id": chat, "text": text}, Raw)

    def chat(self, chat: str) -> Chat:
        """The conversation, as the bot sees it. Raises TelegramError when it may not write there (any more)."""
        found = self._call("getChat", {"chat_id": chat}, _Conversation)
        return Chat(str(found.id), found.name())

    def webhook(self) -> str:
        """The host that the bot's updates are sent to; the rest of the address may be a secret. Empty: none is set."""
        url = self._call("getWebhookInfo", {}, _Webhook).url
        return plain(url.partition("://")[2].partition("/")[0].rpartition("@")[2] or "an address") if url else ""

    def _call[Result](
        self, method: str, parameters: dict[str, object], kind: type[Result], seconds: float = _SECONDS
    ) -> Result:
        """The `result` of one call."""
        request = Request(  # noqa: S310 - the scheme was checked above
            f"{self._base}/{method}", msgspec.json.encode(parameters), {"Content-Type": "application/json"}
        )
        try:
            with urlopen(request, timeout=seconds) as answer:  # noqa: S310 - the scheme was checked above
                body = answer.read()
        except HTTPError as refusal:
            raise TelegramError(_refusal(method, refusal.code, refusal.read())) from None
        except URLError as failure:
            reason = failure.reason if isinstance(failure.reason, OSError) else "no connection"
            raise TelegramError(f"Telegram could not be reached: {reason}.") from None
        except (OSError, HTTPException) as failure:
            raise TelegramError(f"Telegram could not be reached: {type(failure).__name__}.") from None
        try:
            return msgspec.json.decode(body, type=_Answer[kind]).result  # type: ignore[valid-type]
        except msgspec.DecodeError:
            raise TelegramError(f"Telegram's answer to {method} could not be understood.") from None


def _refusal(method: str, status: int, body: bytes) -> str:
    """Telegram's own words, and what to do where that is known."""
    try:
        description = plain(msgspec.json.decode(body, type=_Refusal).description)
    except msgspec.DecodeError:
        description = f"status {status}"
    if status in {401, 404}:
        return f"Telegram does not know this token ({description}): copy it again from @BotFather."
    if status == 409:
        return f"The bot's messages go elsewhere ({description}): give the chat with --chat."
    return f"Telegram refused {method}: {description}."
