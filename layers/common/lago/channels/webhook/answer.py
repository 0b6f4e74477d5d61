"""What a webhook's answer means for the message, its destination and all others (design, rule 6).

Standard Webhooks ("Delivery success and failure") says what 2xx, 3xx, 410 and 429 mean. Of the other refusals those
that speak of what was sent cost the message, and those that speak of the endpoint (a lock before it, a path that is
not there) are kept as for an outage: its owner mends them, and what waits arrives.
"""

from http import HTTPStatus

from lago.channels.gate import gate
from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.domain.redact import reason
from lago.http import Reply
from lago.retry_after import retry_after_ms

DEFAULT_GATE = Milliseconds(60_000)
"""For a 429 that names no time."""

_SAID = 200
"""Characters of an answer's text in a reason: what helps its owner stands at the beginning."""
_MESSAGE = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.NOT_ACCEPTABLE,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    }
)
_HINTS: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: " (the endpoint wants credentials: Lago signs what it sends, and has no others)",
    HTTPStatus.FORBIDDEN: " (the endpoint lets nobody in, or wants credentials: Lago signs what it sends)",
    HTTPStatus.NOT_FOUND: " (is the URL still right?)",
    HTTPStatus.METHOD_NOT_ALLOWED: " (the endpoint must take POST)",
}


def judge(reply: Reply, *, now: EpochMs, secrets: tuple[str, ...]) -> Outcome:
    """The meaning of an answer; `secrets` are kept out of the reason. Never raises."""
    if HTTPStatus.OK <= reply.status < HTTPStatus.MULTIPLE_CHOICES:
        return DELIVERED
    kind, hint = _class(reply)
    return Outcome(
        kind=kind,
        reason=reason(f"Webhook {reply.status}{hint}{_said(reply)}", *secrets),
        retry_after=gate(retry_after_ms(reply.headers, now), DEFAULT_GATE) if kind is OutcomeKind.GATE else None,
    )


def _class(reply: Reply) -> tuple[OutcomeKind, str]:
    """The class of a refusal, and what its reader can do about it."""
    status = reply.status
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return OutcomeKind.GATE, ""
    if status == HTTPStatus.SERVICE_UNAVAILABLE and "retry-after" in reply.headers:
        return OutcomeKind.GATE, ""
    if status == HTTPStatus.GONE:
        return OutcomeKind.DESTINATION, " (the endpoint says that it is gone)"
    if status in _MESSAGE:
        return OutcomeKind.MESSAGE, ""
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return OutcomeKind.OUTAGE, " (redirects are not followed: give the URL that it leads to)"
    return OutcomeKind.OUTAGE, _HINTS.get(status, "")


def _said(reply: Reply) -> str:
    """The beginning of an answer that is meant to be read by people or programs, not of a web page."""
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/plain" and not kind.endswith("json"):
        return ""
    text = reply.content[: 4 * _SAID].decode(errors="replace")[:_SAID].strip()
    return f": {text}" if text else ""
