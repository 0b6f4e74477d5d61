"""What Telegram's answer means for the message, its chat and all others (design, rule 6).

The shape is core.telegram.org/bots/api#making-requests: a JSON object with `ok`, and on failure `error_code`,
`description` and `parameters`. Only an answer of this shape may kill a message or disable a chat: a 403 of a proxy or
a wrong TELEGRAM_API_URL says nothing about either, and counts as an outage.
"""

import math
from http import HTTPStatus

import msgspec
from msgspec import Struct

from lago.channels.gate import gate
from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.domain.redact import reason
from lago.http import Reply
from lago.retry_after import retry_after_ms

_GONE = (
    "chat not found",
    "chat_id is empty",
    "peer_id_invalid",
    "user is deactivated",
    "group is deactivated",
    "group chat was deleted",
    "group chat was upgraded",
    "bot was kicked",
    "bot was blocked",
    "bot is not a member",
    "chat_write_forbidden",
    "chat_restricted",
    "chat_send_plain_forbidden",
    "have no rights to send a message",
    "not enough rights to send text messages",
    "need administrator rights",
    "topic_closed",
)
"""Said with 400 where 403 would be expected: the chat, not the message, is what Telegram refuses."""
_NO_PHOTOS_HERE = ("rights to send photos", "chat_send_photos_forbidden", "chat_send_media_forbidden")
"""The chat takes text only: no reason to give the chat up."""
_MARKUP = ("can't parse entities", "entities_too_long", "entity_", "unsupported start tag", "can't find end")


class Verdict(Struct, frozen=True, kw_only=True):
    """How the request ended, and what may be tried at once.

    A MESSAGE outcome refuses this form of the message only while a simpler form is left; `markup` says that the HTML
    was the reason. `moved_to` is the chat's new id.
    """

    outcome: Outcome
    markup: bool = False
    moved_to: str | None = None


class _Parameters(Struct):
    retry_after: int | float | str | None = None
    migrate_to_chat_id: int | str | None = None


class _Answer(Struct):
    ok: bool
    error_code: int | None = None
    description: str | None = None
    parameters: _Parameters | None = None


def judge(reply: Reply, *, now: EpochMs, token: str) -> Verdict:
    """The meaning of an answer; `token` is kept out of the reason. Never raises."""
    answer = _read(reply.content)
    if answer is None:
        return Verdict(outcome=_not_telegram(reply, now, token))
    if answer.ok and reply.status < HTTPStatus.MULTIPLE_CHOICES:
        return Verdict(outcome=DELIVERED)
    code = reply.status if answer.error_code is None else answer.error_code
    said = (answer.description or "").lower()
    parameters = answer.parameters or _Parameters()
    kind, hint = _class(code, said)
    return Verdict(
        outcome=Outcome(
            kind=kind,
            reason=reason(f"Telegram {code}: {answer.description or 'no description'}{hint}", token),
            retry_after=_gate(parameters.retry_after, reply, now) if kind is OutcomeKind.GATE else None,
        ),
        markup=kind is OutcomeKind.MESSAGE and _says(said, _MARKUP),
        moved_to=_chat_id(parameters.migrate_to_chat_id),
    )


def _class(code: int, said: str) -> tuple[OutcomeKind, str]:
    """The class of a refusal, and what its reader can do about it."""
    if code in (HTTPStatus.TOO_MANY_REQUESTS, 420):
        return OutcomeKind.GATE, ""
    if code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND):
        # The owner's settings, not the message: kept as for an outage, delivered once the token is right.
        return OutcomeKind.OUTAGE, " (wrong bot token or TELEGRAM_API_URL; `lago setup` stores a new token)"
    if code in (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN) and _says(said, _NO_PHOTOS_HERE):
        return OutcomeKind.MESSAGE, ""
    if code == HTTPStatus.FORBIDDEN or (code == HTTPStatus.BAD_REQUEST and _says(said, _GONE)):
        return OutcomeKind.DESTINATION, ""
    if HTTPStatus.BAD_REQUEST <= code < HTTPStatus.INTERNAL_SERVER_ERROR and code != HTTPStatus.REQUEST_TIMEOUT:
        return OutcomeKind.MESSAGE, ""
    return OutcomeKind.OUTAGE, ""


def _not_telegram(reply: Reply, now: EpochMs, token: str) -> Outcome:
    if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
        return Outcome(
            kind=OutcomeKind.GATE, reason="Telegram 429: no description", retry_after=_gate(None, reply, now)
        )
    if reply.status < HTTPStatus.MULTIPLE_CHOICES:
        # Accepted by the status, unreadable by the body: it may well have been sent.
        text = f"HTTP {reply.status} with an answer that is not Telegram's (check TELEGRAM_API_URL)"
        return Outcome(kind=OutcomeKind.AMBIGUOUS, reason=text)
    said = reply.headers.get("location", "")
    text = f"HTTP {reply.status} with an answer that is not Telegram's (check TELEGRAM_API_URL) {said}"
    return Outcome(kind=OutcomeKind.OUTAGE, reason=reason(text, token))


def _read(content: bytes) -> _Answer | None:
    try:
        return msgspec.json.decode(content, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _gate(seconds: float | str | None, reply: Reply, now: EpochMs) -> Milliseconds:
    """What Telegram asks for in the body, else in the header."""
    try:
        asked = math.nan if seconds is None else float(seconds) * 1000
    except (ValueError, OverflowError):
        asked = math.nan
    return gate(retry_after_ms(reply.headers, now) if math.isnan(asked) else asked)


def _chat_id(value: int | str | None) -> str | None:
    """A chat id to keep: only digits get into the destination's address."""
    text = str(value) if isinstance(value, int) else (value or "").strip()
    digits = text.removeprefix("-")
    return text if digits.isascii() and digits.isdigit() and len(digits) <= 20 else None


def _says(description: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in description for phrase in phrases)
