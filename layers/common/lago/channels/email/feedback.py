"""What SES tells later of a mail it took: that it bounced, or that its reader complained. Pure.

The shape is "Contents of event data that Amazon SES publishes to Amazon SNS" in its developer guide; notifications of
an identity have the same but for `notificationType`. What is not understood says nothing.
"""

from email.utils import parseaddr

import msgspec
from msgspec import Struct

from lago.domain.redact import reason

MESSAGE_BYTES = 256 * 1024
"""SNS takes no longer ones."""
ADDRESSES = 50
"""SES takes no more recipients for one mail."""


class Feedback(Struct, frozen=True, kw_only=True):
    """Addresses to which nothing more is to be sent, in lower case, and why."""

    addresses: frozenset[str]
    reason: str


class _Recipient(Struct):
    emailAddress: str | None = None  # noqa: N815 (SES's names)
    diagnosticCode: str | None = None  # noqa: N815


class _Bounce(Struct):
    bounceType: str | None = None  # noqa: N815
    bounceSubType: str | None = None  # noqa: N815
    bouncedRecipients: tuple[_Recipient, ...] | None = None  # noqa: N815


class _Complaint(Struct):
    complainedRecipients: tuple[_Recipient, ...] | None = None  # noqa: N815
    complaintFeedbackType: str | None = None  # noqa: N815


class _Mail(Struct):
    destination: tuple[str, ...] | None = None


class _Event(Struct):
    eventType: str | None = None  # noqa: N815
    notificationType: str | None = None  # noqa: N815
    bounce: _Bounce | None = None
    complaint: _Complaint | None = None
    mail: _Mail | None = None


def read_feedback(text: str) -> Feedback | None:
    """What an SNS message of SES means; None when nothing follows from it. Never raises.

    A permanent bounce or a complaint ends an address. A transient or undetermined bounce does not: SES tries for
    hours itself, and a full mailbox is emptied.
    """
    event = _read(text)
    if event is None:
        return None
    type_ = event.eventType or event.notificationType
    if type_ == "Bounce" and event.bounce and event.bounce.bounceType == "Permanent":
        bounced = event.bounce.bouncedRecipients or ()
        kind = event.bounce.bounceSubType
        said = bounced[0].diagnosticCode if bounced else None
        words = ("mail to it bounced for good", f"({kind})" if kind else None, said)
        return _feedback(event, bounced, " ".join(filter(None, words)))
    # "not-spam" is a reader who takes a mail out of the spam folder
    if type_ == "Complaint" and event.complaint and event.complaint.complaintFeedbackType != "not-spam":
        return _feedback(event, event.complaint.complainedRecipients or (), "its reader reported a mail as spam")
    return None


def _read(text: str) -> _Event | None:
    if len(text) > MESSAGE_BYTES:
        return None
    try:
        return msgspec.json.decode(text, type=_Event)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _feedback(event: _Event, recipients: tuple[_Recipient, ...], why: str) -> Feedback | None:
    """Of whom it speaks. Each of our mails has one recipient: what it was forwarded to is not ours to know."""
    given = (event.mail.destination if event.mail else None) or ()
    if len(given) != 1:
        given = tuple(recipient.emailAddress or "" for recipient in recipients[:ADDRESSES])
    addresses = frozenset(filter(None, (plain_address(each) for each in given)))
    return Feedback(addresses=addresses, reason=reason(why)) if addresses else None


def plain_address(given: str) -> str:
    """The address in `Anna <anna@example.org>`, in lower case; "" for what is none."""
    address = parseaddr(given)[1].lower()
    return address if "@" in address else ""
