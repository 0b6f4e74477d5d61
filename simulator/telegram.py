"""Telegram's Bot API, the part that a bot that sends alerts can meet. No I/O; times are UTC epoch milliseconds."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from simulator import bot_params, html_mode
from simulator.bot_params import Answer, Json, Params, TelegramError, too_many
from simulator.chats import Chat, ChatKind, Message, message_from_json
from simulator.checks import NoSuchThingError

DEFAULT_TOKEN = "4711:SIMULATOR-no-secret-0123456789abcdef"  # noqa: S105 - opens nothing but this simulator
DEFAULT_CHAT = 4711
TEXT_LIMIT, CAPTION_LIMIT = 4096, 1024
"""UTF-16 code units after entity parsing."""
GROUP_A_MINUTE = 20
ALL_A_SECOND = 30
KEPT = 5_000
"""Messages remembered in all; older ones go."""


@dataclass
class Telegram:
    """One bot under one or more tokens, its chats, what it sent and what people wrote to it.

    `rate_limited` turns on 1 message a second for each chat, 20 a minute for each group, 30 a second for the bot.
    """

    clock: Callable[[], int]
    tokens: tuple[str, ...] = (DEFAULT_TOKEN,)
    chats: dict[int, Chat] = field(default_factory=lambda: {DEFAULT_CHAT: Chat(DEFAULT_CHAT)})
    sent: list[Message] = field(default_factory=list)
    updates: list[Json] = field(default_factory=list)
    webhook: Json = field(default_factory=dict)
    rate_limited: bool = False
    next_message: int = 1
    next_update: int = 1

    def call(self, token: str, method: str, params: Params, *, refuse_photo: bool = False) -> Answer:
        """Answer one request. Method names are case-insensitive, as at Telegram."""
        if not re.fullmatch(r"\d+:[\w-]+", token):
            return TelegramError(404, "Not Found").answer()
        if token not in self.tokens:
            return TelegramError(401, "Unauthorized").answer()
        handler = self._methods().get(method.lower())
        if handler is None:
            return TelegramError(404, "Not Found: method not found").answer()
        try:
            if refuse_photo and method.lower() == "sendphoto":
                raise TelegramError(400, "Bad Request: wrong file identifier/HTTP URL specified")
            return Answer(200, {"ok": True, "result": handler(params)})
        except TelegramError as error:
            return error.answer()

    def chat(self, chat_id: int) -> Chat:
        """A chat by id. Raises NoSuchThingError."""
        try:
            return self.chats[chat_id]
        except KeyError:
            raise NoSuchThingError(f"no chat {chat_id}") from None

    def set_chat(
        self,
        chat_id: int,
        *,
        kind: ChatKind | None = None,
        title: str | None = None,
        blocked: bool | None = None,
        migrate_to: int | None = None,
    ) -> Chat:
        """Make or change a chat; a group that migrates leaves a supergroup under the new id."""
        chat = self.chats.setdefault(chat_id, Chat(chat_id, kind or ("private" if chat_id > 0 else "group")))
        chat.kind = kind or chat.kind
        chat.title = chat.title if title is None else title
        chat.blocked = chat.blocked if blocked is None else blocked
        if migrate_to is not None:
            chat.migrated_to = migrate_to
            self.chats.setdefault(migrate_to, Chat(migrate_to, "supergroup", chat.title))
        return chat

    def say(self, chat_id: int, text: str) -> Json:
        """The person writes to the bot: an update for getUpdates or the webhook."""
        chat = self.chat(chat_id)
        person = {"id": abs(chat_id), "is_bot": False, "first_name": chat.title, "language_code": "de"}
        message: Json = {
            "message_id": self._message_id(),
            "from": person,
            "chat": chat.shape(),
            "date": self.clock() // 1000,
            "text": text,
        }
        if text.startswith("/"):
            command = {"type": "bot_command", "offset": 0, "length": html_mode.utf16(text.split(maxsplit=1)[0])}
            message["entities"] = [command]
        update: Json = {"update_id": self.next_update, "message": message}
        self.next_update += 1
        self.updates.append(update)
        return update

    def messages(self, chat_id: int | None = None) -> list[Message]:
        """What was sent, oldest first."""
        return [message for message in self.sent if chat_id is None or message.chat == chat_id]

    def to_json(self) -> Json:
        """A form for the state file; tokens stay out of it."""
        return {
            "chats": [vars(chat) for chat in self.chats.values()],
            "sent": [message.to_json() for message in self.sent],
            "updates": self.updates,
            "webhook": self.webhook,
            "rate_limited": self.rate_limited,
            "next_message": self.next_message,
            "next_update": self.next_update,
        }

    def load(self, data: Mapping[str, object]) -> None:
        """Take over what `to_json` wrote. Raises TypeError, KeyError or ValueError for anything else."""
        chats, sent, updates, webhook = data["chats"], data["sent"], data["updates"], data["webhook"]
        if not isinstance(chats, list) or not isinstance(sent, list) or not isinstance(updates, list):
            raise TypeError("chats, sent and updates are lists")
        if not isinstance(webhook, dict):
            raise TypeError("webhook is an object")
        loaded = [Chat(**chat) for chat in chats]
        self.chats = {chat.id: chat for chat in loaded}
        self.sent = [message_from_json(message) for message in sent]
        self.updates, self.webhook = updates, webhook
        self.rate_limited = bool(data["rate_limited"])
        self.next_message, self.next_update = int(str(data["next_message"])), int(str(data["next_update"]))

    def _methods(self) -> dict[str, Callable[[Params], object]]:
        return {
            "getme": self._get_me,
            "getchat": lambda params: self._writable(params).shape(),
            "sendmessage": self._send_message,
            "sendphoto": self._send_photo,
            "getupdates": self._get_updates,
            "setwebhook": self._set_webhook,
            "deletewebhook": self._delete_webhook,
            "getwebhookinfo": self._webhook_info,
        }

    def _get_me(self, _: Params) -> Json:
        number = int(self.tokens[0].partition(":")[0])
        return {"id": number, "is_bot": True, "first_name": "Lago", "username": "lago_simulator_bot"}

    def _send_message(self, params: Params) -> Json:
        chat = self._writable(params)
        parsed = bot_params.parsed(params, "text")
        if not parsed.text:
            raise TelegramError(400, "Bad Request: message text is empty")
        if html_mode.utf16(parsed.text) > TEXT_LIMIT:
            raise TelegramError(400, "Bad Request: message is too long")
        return self._record(chat, "sendMessage", params, parsed, bot_params.text(params, "text"), None)

    def _send_photo(self, params: Params) -> Json:
        chat = self._writable(params)
        parsed = bot_params.parsed(params, "caption")
        if html_mode.utf16(parsed.text) > CAPTION_LIMIT:
            raise TelegramError(400, "Bad Request: message caption is too long")
        photo = bot_params.text(params, "photo")
        if not photo:
            raise TelegramError(400, "Bad Request: there is no photo in the request")
        if not bot_params.is_url(photo, ("http", "https")) and not photo.startswith("<upload"):
            raise TelegramError(400, "Bad Request: wrong file identifier/HTTP URL specified")
        return self._record(chat, "sendPhoto", params, parsed, bot_params.text(params, "caption"), photo)

    def _record(
        self, chat: Chat, method: str, params: Params, parsed: html_mode.Parsed, raw: str, photo: str | None
    ) -> Json:
        buttons = bot_params.buttons(params.get("reply_markup"))
        if self.rate_limited:
            self._admit(chat)
        message = Message(
            id=self._message_id(),
            chat=chat.id,
            time=self.clock(),
            method=method,
            text=parsed.text,
            raw=raw,
            parse_mode=bot_params.text(params, "parse_mode"),
            entities=parsed.entities,
            photo=photo,
            buttons=buttons,
            silent=str(params.get("disable_notification", "")).lower() in ("true", "1"),
        )
        self.sent.append(message)
        del self.sent[:-KEPT]
        shape: Json = {
            "message_id": message.id,
            "from": self._get_me({}),
            "chat": chat.shape(),
            "date": message.time // 1000,
        }
        if photo is None:
            return shape | {"text": parsed.text, "entities": list(parsed.entities)}
        file: Json = {"file_id": f"photo-{message.id}", "file_unique_id": str(message.id), "width": 90, "height": 67}
        return shape | {"photo": [file], "caption": parsed.text, "caption_entities": list(parsed.entities)}

    def _admit(self, chat: Chat) -> None:
        """Raise 429 for what Telegram does not take at once; it asks to wait until the limit allows the next."""
        now = self.clock()
        if sum(message.time > now - 1_000 for message in self.sent[-ALL_A_SECOND:]) >= ALL_A_SECOND:
            raise too_many(1)
        times = [message.time for message in self.sent if message.chat == chat.id and message.time > now - 60_000]
        if times and times[-1] > now - 1_000:
            raise too_many(1)
        if chat.kind != "private" and len(times) >= GROUP_A_MINUTE:
            raise too_many(max(1, -(-(times[-GROUP_A_MINUTE] + 60_000 - now) // 1000)))

    def _writable(self, params: Params) -> Chat:
        given = params.get("chat_id")
        if given in (None, ""):
            raise TelegramError(400, "Bad Request: chat_id is empty")
        chat = self.chats.get(int(str(given))) if re.fullmatch(r"-?\d{1,18}", str(given)) else None
        if chat is None:
            raise TelegramError(400, "Bad Request: chat not found")
        if chat.migrated_to is not None:
            parameters: Json = {"migrate_to_chat_id": chat.migrated_to}
            raise TelegramError(400, "Bad Request: group chat was upgraded to a supergroup chat", parameters)
        if chat.blocked and chat.kind == "private":
            raise TelegramError(403, "Forbidden: bot was blocked by the user")
        if chat.blocked:
            raise TelegramError(403, f"Forbidden: bot was kicked from the {chat.kind} chat")
        return chat

    def _get_updates(self, params: Params) -> list[Json]:
        if self.webhook:
            raise TelegramError(
                409,
                "Conflict: can't use getUpdates method while webhook is active; "
                "use deleteWebhook to delete the webhook first",
            )
        offset, limit = bot_params.integer(params, "offset", 0), bot_params.integer(params, "limit", 100)
        if offset > 0:
            self.updates = [update for update in self.updates if int(str(update["update_id"])) >= offset]
        elif offset < 0:
            self.updates = self.updates[offset:]
        return self.updates[: max(1, min(limit, 100))]

    def _set_webhook(self, params: Params) -> bool:
        url = bot_params.text(params, "url")
        if not url:
            return self._delete_webhook(params)
        loopback = urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
        if not loopback and not bot_params.is_url(url, ("https",)):
            raise TelegramError(400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook")
        secret = bot_params.text(params, "secret_token")
        if not re.fullmatch(r"[A-Za-z0-9_-]{0,256}", secret):
            raise TelegramError(400, "Bad Request: secret token contains unallowed characters")
        self.webhook = {"url": url, "secret_token": secret}
        return True

    def _delete_webhook(self, params: Params) -> bool:
        self.webhook = {}
        if str(params.get("drop_pending_updates", "")).lower() in ("true", "1"):
            self.updates = []
        return True

    def _webhook_info(self, _: Params) -> Json:
        info = {name: value for name, value in self.webhook.items() if name != "secret_token"}
        return {"url": "", "has_custom_certificate": False, "pending_update_count": len(self.updates)} | info

    def _message_id(self) -> int:
        self.next_message += 1
        return self.next_message - 1
