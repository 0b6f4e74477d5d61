"""What Discord's answer to a webhook post means (docs.discord.com/developers/topics/opcodes-and-status-codes).

A refusal of Discord's is a JSON object with `code` and `message`. Only such a one may kill a message or disable a
destination: a page of Cloudflare's or of a proxy says nothing about either, and counts as an outage.
"""

from http import HTTPStatus

import msgspec
from msgspec import Struct

from lago.channels.gate import gate
from lago.domain.ids import EpochMs
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.domain.redact import reason
from lago.http import Reply
from lago.retry_after import retry_after_ms

_GONE = frozenset({10_003, 10_015, 50_001, 50_013, 50_027, 50_083, 160_005, 220_001, 220_003})
"""Channel or webhook unknown, no access, wrong token, thread archived or locked, a forum that wants a thread: what
Discord refuses is the webhook or its channel, not the message, even where it says so with 400."""
_NOT_ABOUT_US = frozenset({40_333})
""" "Internal network error": what Discord's edge says with 403 to an address that it takes for a robot."""
_REFUSED_FOR_GOOD = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
_HINT = " (make a new webhook and add the destination anew)"


class _Refusal(Struct):
    code: int
    message: str = ""


class _Limited(Struct):
    retry_after: float


class _Stored(Struct):
    id: str


def judge(reply: Reply, *, now: EpochMs, secrets: tuple[str, ...]) -> Outcome:
    """The meaning of an answer; `secrets` are kept out of the reason. Never raises."""
    if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
        limited = _read(reply.content, _Limited)
        asked = retry_after_ms(reply.headers, now) if limited is None else limited.retry_after * 1000
        return Outcome(kind=OutcomeKind.GATE, reason="Discord 429: rate limited", retry_after=gate(asked))
    if reply.status == HTTPStatus.NO_CONTENT:
        return DELIVERED
    if reply.status < HTTPStatus.MULTIPLE_CHOICES:
        if _read(reply.content, _Stored):
            return DELIVERED
        # Accepted by the status, unreadable by the body: it may well have been posted.
        return Outcome(kind=OutcomeKind.AMBIGUOUS, reason=f"HTTP {reply.status} with an answer that is not Discord's")
    refusal = _read(reply.content, _Refusal)
    if refusal is None:
        text = f"HTTP {reply.status} with an answer that is not Discord's"
        return Outcome(kind=OutcomeKind.OUTAGE, reason=text)
    kind = _class(reply.status, refusal.code)
    hint = _HINT if kind is OutcomeKind.DESTINATION else ""
    said = f"Discord {reply.status}: {refusal.message or 'no message'} ({refusal.code}){hint}"
    return Outcome(kind=kind, reason=reason(said, *secrets))


def _class(status: int, code: int) -> OutcomeKind:
    if not HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR or code in _NOT_ABOUT_US:
        return OutcomeKind.OUTAGE
    if code in _GONE or status in _REFUSED_FOR_GOOD:
        return OutcomeKind.DESTINATION
    return OutcomeKind.OUTAGE if status == HTTPStatus.REQUEST_TIMEOUT else OutcomeKind.MESSAGE


def _read[T](content: bytes, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
