"""What Notify sends test messages with."""

import secrets
from collections.abc import Callable

from lago.delivery import Sender
from lago.domain.ids import DestinationId, EpochMs
from lago.store.dead_letters import DeadLetterStore
from lago.store.deliveries import DeliveryStore
from lago.store.mailboxes import MailboxStore
from lago.trial import TrialReport, try_destination
from lago.wiring.clock import now
from lago.wiring.sending import SendingSettings


def make_trial(
    settings: SendingSettings, mailboxes: MailboxStore, sender: Sender
) -> Callable[[DestinationId, EpochMs], TrialReport]:
    """Tries a destination, until a deadline."""

    def try_one(destination: DestinationId, deadline: EpochMs) -> TrialReport:
        return try_destination(
            destination,
            key=secrets.token_hex(8),
            mailboxes=mailboxes,
            deliveries=DeliveryStore(settings.log_days),
            letters=DeadLetterStore(mailboxes),
            sender=sender,
            clock=now,
            deadline=deadline,
        )

    return try_one
