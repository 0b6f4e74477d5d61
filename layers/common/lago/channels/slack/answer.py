"""What Slack's answer to a webhook post means (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).

An answer of Slack's is "ok", or one word such as `no_service`, perhaps with details behind it. Only such a word may
kill a message or disable a destination: a page of a proxy says nothing about either, and counts as an outage.
"""

import re
from http import HTTPStatus

from lago.channels.gate import gate
from lago.domain.ids import EpochMs
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.domain.redact import reason
from lago.http import Reply
from lago.retry_after import retry_after_ms

_WORD = re.compile(r"[a-z]+(?:_[a-z]+)+(?=$|[\s:;,.\[])", re.ASCII)
"""All of Slack's have an underscore; "access denied" is somebody else's."""
_GONE = frozenset(
    {
        "action_prohibited",
        "channel_is_archived",
        "channel_not_found",
        "invalid_token",
        "no_active_hooks",
        "no_service",
        "no_service_id",
        "no_team",
        "org_login_required",
        "posting_to_general_channel_denied",
        "team_disabled",
        "user_not_found",
    }
)
"""The webhook or its channel, not the message, is what Slack refuses; some are said with 400."""
_REFUSED_FOR_GOOD = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_HINT = " (make a new webhook and add the destination anew)"


def judge(reply: Reply, *, now: EpochMs, secrets: tuple[str, ...]) -> Outcome:
    """The meaning of an answer; `secrets` are kept out of the reason. Never raises."""
    said = reply.content[:500].decode(errors="replace").strip()
    if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = gate(retry_after_ms(reply.headers, now))
        return Outcome(kind=OutcomeKind.GATE, reason="Slack 429: rate limited", retry_after=wait)
    if reply.status < HTTPStatus.MULTIPLE_CHOICES:
        if said == "ok":
            return DELIVERED
        # Accepted by the status, unreadable by the body: it may well have been posted.
        return Outcome(kind=OutcomeKind.AMBIGUOUS, reason=f"HTTP {reply.status} with an answer that is not Slack's")
    word = _WORD.match(said)
    if word is None:
        text = f"HTTP {reply.status} with an answer that is not Slack's"
        return Outcome(kind=OutcomeKind.OUTAGE, reason=text)
    kind = _class(reply.status, word[0])
    hint = _HINT if kind is OutcomeKind.DESTINATION else ""
    return Outcome(kind=kind, reason=reason(f"Slack {reply.status}: {said}{hint}", *secrets))


def _class(status: int, word: str) -> OutcomeKind:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status < HTTPStatus.BAD_REQUEST:
        return OutcomeKind.OUTAGE
    if word in _GONE or status in _REFUSED_FOR_GOOD:
        return OutcomeKind.DESTINATION
    return OutcomeKind.OUTAGE if status == HTTPStatus.REQUEST_TIMEOUT else OutcomeKind.MESSAGE
