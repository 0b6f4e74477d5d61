"""What a refusal of SES means for the message, its reader and all others (design, rule 6). Pure.

The codes are those of SendEmail in Amazon SES API v2; the texts are from "Amazon SES email sending errors" in its
developer guide. A code that is not known here blames nobody: it counts as an outage.
"""

from http import HTTPStatus

from lago.domain.ids import Milliseconds
from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.redact import reason

RATE_GATE = Milliseconds(10_000)
"""For "Maximum sending rate exceeded": the rate is counted by the second."""
QUOTA_GATE = Milliseconds(3_600_000)
"""For the daily quota, which is counted over the last 24 hours and opens bit by bit."""

_RATE = ("TooManyRequestsException", "ThrottlingException", "Throttling", "RequestLimitExceeded", "RequestThrottled")
_QUOTA = ("daily message quota", "sending quota")
_BAD_RECIPIENT = (
    "illegal address",
    "missing final '@domain'",
    "missing local",
    "local address contains control or whitespace",
    "domain contains control or whitespace",
    "domain contains illegal character",
    "domain contains dot-dot",
    "domain starts with dot",
    "domain ends with dot",
)
_QUOTES_THE_REQUEST = ("SignatureDoesNotMatch", "IncompleteSignature", "InvalidSignatureException")
"""Their texts repeat the signed request, its session token too."""
_HINTS = {
    "AccountSuspendedException": "AWS has suspended sending for this account: see the SES console",
    "SendingPausedException": "sending is paused: resume it in the SES console",
    "MailFromDomainNotVerifiedException": "the MAIL FROM domain is not verified: see the SES console",
    "NotFoundException": "the configuration set is not there: deploy again",
}
_UNVERIFIED = "verify the sender in the SES console; in SES's sandbox each reader's address, too"
_CREDENTIALS = "the function may not send with SES: deploy again"


def judge_refusal(status: int, code: str, said: str) -> Outcome:
    """The meaning of an HTTP status, SES's error code and its text. Never raises."""
    lower = said.lower()
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT:
        return _outcome(OutcomeKind.OUTAGE, code, said)
    if code == "LimitExceededException" or any(phrase in lower for phrase in _QUOTA):
        return _outcome(OutcomeKind.GATE, code, said, retry_after=QUOTA_GATE)
    if code in _RATE or status == HTTPStatus.TOO_MANY_REQUESTS or "maximum sending rate" in lower:
        return _outcome(OutcomeKind.GATE, code, said, retry_after=RATE_GATE)
    if code in _HINTS:
        return _outcome(OutcomeKind.OUTAGE, code, said, _HINTS[code])
    if code == "MessageRejected":
        return _rejected(code, said)
    if code == "BadRequestException":
        bad_recipient = any(phrase in lower for phrase in _BAD_RECIPIENT)
        return _outcome(OutcomeKind.DESTINATION if bad_recipient else OutcomeKind.MESSAGE, code, said)
    if code in _QUOTES_THE_REQUEST:
        return _outcome(OutcomeKind.OUTAGE, code, "", _CREDENTIALS)
    hint = _CREDENTIALS if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) else ""
    return _outcome(OutcomeKind.OUTAGE, code, said, hint)


def _rejected(code: str, said: str) -> Outcome:
    """Of its content, which costs the message; or of who sends, which is the owner's to set right."""
    lower = said.lower()
    if "not verified" in lower:
        return _outcome(OutcomeKind.OUTAGE, code, said, _UNVERIFIED)
    if "sending suspended" in lower or "sending paused" in lower or "has been disabled" in lower:
        return _outcome(OutcomeKind.OUTAGE, code, said, "see the SES console")
    return _outcome(OutcomeKind.MESSAGE, code, said)


def _outcome(
    kind: OutcomeKind, code: str, said: str, hint: str = "", retry_after: Milliseconds | None = None
) -> Outcome:
    # what is to be done comes first: a long text must not cut it off
    parts = [f"SES {code or 'error'}", f"({hint})" if hint else "", said]
    return Outcome(kind=kind, reason=reason(" ".join(filter(None, parts))), retry_after=retry_after)
