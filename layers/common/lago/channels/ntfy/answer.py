"""What ntfy's answer means for the message, its topic and all others (design, rule 6).

A message that was taken is answered with itself, a refusal with `code`, `http` and `error` (ntfy's server/errors.go).
Only answers of these shapes count as ntfy's: a web page with 200 is no delivery, and a proxy's 400 kills no message.
"""

from http import HTTPStatus

import msgspec
from msgspec import Struct

from lago.channels.gate import gate
from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.domain.redact import reason
from lago.http import Reply
from lago.retry_after import retry_after_ms

DEFAULT_GATE = Milliseconds(60_000)
"""For a 429 that names no time: a visitor of ntfy.sh gets a request back every five seconds, a burst within minutes."""
DAILY_GATE = Milliseconds(3_600_000)
"""For the limit of a day, which a minute does not change."""

_DAILY = (42905, 42908)
"""Bandwidth and messages of a day are used up."""
_TOPIC_REFUSED = (40009, 40010)
"""The topic's name is invalid, or reserved for the server itself."""


class _Taken(Struct):
    id: str
    event: str


class _Refusal(Struct):
    code: int = 0
    error: str = ""


def judge(reply: Reply, *, now: EpochMs, secrets: tuple[str, ...]) -> Outcome:
    """The meaning of an answer; `secrets` are kept out of the reason. Never raises."""
    if HTTPStatus.OK <= reply.status < HTTPStatus.MULTIPLE_CHOICES:
        return _taken(reply)
    refusal = _refusal(reply.content)
    kind, hint = _class(reply.status, refusal)
    said = f": {refusal.error}" if refusal and refusal.error else ""
    return Outcome(
        kind=kind,
        reason=reason(f"ntfy {reply.status}{said}{hint}", *secrets),
        retry_after=_gate(reply, refusal, now) if kind is OutcomeKind.GATE else None,
    )


def _taken(reply: Reply) -> Outcome:
    try:
        taken = msgspec.json.decode(reply.content, type=_Taken)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        taken = None
    if taken and taken.id and taken.event == "message":
        return DELIVERED
    text = f"HTTP {reply.status} with an answer that is not ntfy's (is there an ntfy server at this host?)"
    return Outcome(kind=OutcomeKind.AMBIGUOUS, reason=text)


def _class(status: int, refusal: _Refusal | None) -> tuple[OutcomeKind, str]:
    """The class of a refusal, and what its reader can do about it."""
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return OutcomeKind.GATE, ""
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return OutcomeKind.OUTAGE, " (the topic wants an access token that may write to it: add it again with one)"
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return OutcomeKind.MESSAGE, ""
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return OutcomeKind.OUTAGE, " (redirects are not followed: give the URL that it leads to)"
    if refusal and refusal.code in _TOPIC_REFUSED:
        return OutcomeKind.OUTAGE, " (add another topic)"
    if refusal and refusal.code and status == HTTPStatus.BAD_REQUEST:
        return OutcomeKind.MESSAGE, ""
    if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return OutcomeKind.OUTAGE, " (is there an ntfy server at this host?)"
    return OutcomeKind.OUTAGE, ""


def _refusal(content: bytes) -> _Refusal | None:
    try:
        return msgspec.json.decode(content, type=_Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _gate(reply: Reply, refusal: _Refusal | None, now: EpochMs) -> Milliseconds:
    default = DAILY_GATE if refusal and refusal.code in _DAILY else DEFAULT_GATE
    return gate(retry_after_ms(reply.headers, now), default)
