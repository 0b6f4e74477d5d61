"""Mail's feedback: a bounce or a complaint disables every destination with that address.

Notify is told by SNS. What comes twice changes nothing twice; when the database does not answer the error passes
through, and Lambda tries again. Watches that have no other destination are paused by the next delivery to it.
"""

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lago.channels.email.feedback import Feedback, plain_address, read_feedback
from lago.domain.ids import DestinationId
from lago.domain.notification import Destination
from lago.ports import Mailboxes

log = logging.getLogger(__name__)

CHANNEL = "email"


class FeedbackReport(Struct, frozen=True, kw_only=True):
    """How many SNS messages there were, how many meant something, and what they disabled."""

    messages: int
    understood: int
    disabled: tuple[DestinationId, ...]


def is_mail_feedback(event: Mapping[str, Any]) -> bool:
    """Whether a function was invoked by SNS."""
    return bool(_sns_records(event))


def take_mail_feedback(event: Mapping[str, Any], *, mailboxes: Mailboxes) -> FeedbackReport:
    """Disable what the SNS messages in a Lambda event say is not to be written to. May raise StoreUnavailableError."""
    messages = _messages(event)
    found = [feedback for feedback in map(read_feedback, messages) if feedback is not None]
    disabled = _disable(found, mailboxes) if found else ()
    return FeedbackReport(messages=len(messages), understood=len(found), disabled=disabled)


def _sns_records(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records of `{"Records": [{"EventSource": "aws:sns", "Sns": {"Message": …}}]}` that are of SNS."""
    records = event.get("Records")
    if not isinstance(records, list):
        return []
    return [each for each in records if isinstance(each, dict) and each.get("EventSource") == "aws:sns"]


def _messages(event: Mapping[str, Any]) -> list[str]:
    """Their texts."""
    sns = (each.get("Sns") for each in _sns_records(event))
    texts = (each.get("Message") for each in sns if isinstance(each, dict))
    return [text for text in texts if isinstance(text, str)]


def _disable(found: list[Feedback], mailboxes: Mailboxes) -> tuple[DestinationId, ...]:
    reasons = {address: feedback.reason for feedback in found for address in feedback.addresses}
    disabled = []
    for id_ in mailboxes.destinations():
        head = mailboxes.head(id_)
        if head is None or head.destination.channel != CHANNEL or head.destination.disabled:
            continue
        why = reasons.get(plain_address(head.destination.address))
        if why:
            mailboxes.change_destination(id_, partial(_refused, address=head.destination.address, why=why))
            disabled.append(id_)
            log.warning("destination disabled", extra={"destination": id_, "reason": why})
    return tuple(disabled)


def _refused(destination: Destination, *, address: str, why: str) -> Destination:
    """Disabled, if it still has the address that mail came back from, and was not disabled for another reason."""
    if destination.address != address or destination.disabled:
        return destination
    return replace(destination, disabled=why)
