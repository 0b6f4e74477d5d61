"""What a mail server's answer means for the message, its reader and all others (design, rule 6). Pure.

Reply codes are RFC 5321's, enhanced codes (5.1.1) RFC 3463's. To disable a reader's address is the severest of the
outcomes, so it takes an answer that speaks of that address; a refusal of whoever sends is the owner's to set right.
"""

import re
from typing import Literal

from lago.domain.ids import Milliseconds
from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.redact import reason

RATE_GATE = Milliseconds(60_000)
"""For a server that says "too fast" and not for how long."""
QUOTA_GATE = Milliseconds(3_600_000)
"""For a daily quota (454 Throttling failure: Daily message quota exceeded, says SES)."""

Step = Literal["greeting", "login", "sender", "recipient", "data"]
"""What the server answered to: the connection and EHLO, AUTH, MAIL, RCPT, or DATA with the mail itself."""

_ENHANCED = re.compile(r"\b([245]\.\d{1,3}\.\d{1,3})\b")
_GREYLISTED = (421, 450, 451)
_TOO_FAST = ("rate limit", "sending rate", "throttl", "too many", "too fast", "rate exceeded")
_NO_SUCH_READER = frozenset({"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"})
"""No such mailbox, no such system, bad syntax, moved without a trace, no mail accepted (RFC 7505), disabled."""
_UNKNOWN = (
    "user unknown",
    "unknown user",
    "unknown recipient",
    "recipient unknown",
    "unknown address",
    "no such",
    "does not exist",
    "doesn't exist",
    "not found",
    "mailbox unavailable",
    "invalid recipient",
    "invalid mailbox",
    "user not local",
    "no mailbox",
    "account disabled",
    "mailbox disabled",
)
_RELAY = ("relay", "authentication required", "authenticate first", "not authenticated")
_UNVERIFIED = "not verified"
"""SES's own SMTP door says 554 of a sender or, in its sandbox, of a reader that was not verified."""

_HINTS: dict[Step, str] = {
    "greeting": "",
    "login": "wrong user or password in the secret SMTP URL",
    "sender": "the server does not let this sender send: see the parameter MailFrom",
    "recipient": "the server does not send for us: a user and password in the secret SMTP URL?",
    "data": "see the parameter MailFrom",
}


def judge_reply(step: Step, code: int, said: str, *secrets: str) -> Outcome:
    """The meaning of a reply code that is no success. Never raises."""
    lower = said.lower()
    text = f"SMTP {code} to {step}"
    if code < 500:
        # 454 to AUTH is a server whose passwords are away for a moment
        too_fast = code not in _GREYLISTED and step != "login" and any(phrase in lower for phrase in _TOO_FAST)
        kind = OutcomeKind.GATE if too_fast else OutcomeKind.OUTAGE
        gate = (QUOTA_GATE if "daily" in lower else RATE_GATE) if too_fast else None
        return Outcome(kind=kind, reason=reason(f"{text}: {said}", *secrets), retry_after=gate)
    kind = _refusal(step, code, lower)
    hint = f" ({_HINTS[step]})" if kind is OutcomeKind.OUTAGE and _HINTS[step] else ""
    return Outcome(kind=kind, reason=reason(f"{text}{hint}: {said}", *secrets))


def _refusal(step: Step, code: int, lower: str) -> OutcomeKind:
    if step in ("greeting", "login", "sender") or code in (530, 535, 538) or _UNVERIFIED in lower:
        return OutcomeKind.OUTAGE
    if step == "data":
        return OutcomeKind.MESSAGE
    if any(phrase in lower for phrase in _RELAY):
        return OutcomeKind.OUTAGE
    enhanced = _ENHANCED.search(lower)
    if enhanced:
        return OutcomeKind.DESTINATION if enhanced[1] in _NO_SUCH_READER else OutcomeKind.MESSAGE
    unknown = code in (550, 551, 553) and any(phrase in lower for phrase in _UNKNOWN)
    return OutcomeKind.DESTINATION if unknown else OutcomeKind.MESSAGE
