"""The kinds of notification, registered by name: their retries, how long they are of use, whether they wake people.

What a kind is about and what makes two of it the same news is its event's (`subject`, `identity`); how it reads is the
channels' (`lago.channels.wording`). A kind that is not registered here cannot be read: its rows wait, uncharged, for a
version that knows it.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from lago.domain.backoff import PATIENT, Backoff
from lago.domain.event import EventKind
from lago.domain.ids import Milliseconds

HOUR = Milliseconds(3_600_000)
DAY = Milliseconds(24 * HOUR)

Preset = Literal["alert", "patient"]
"""A retry schedule by name: `alert` for what is worth little later, `patient` for what may take hours."""


class KindPolicy(Struct, frozen=True, kw_only=True):
    """`expiry` is how long after it was found it is of use, in ms; an `urgent` kind is told in quiet hours too."""

    preset: Preset = "alert"
    expiry: Milliseconds = DAY
    urgent: bool = False
    resend: bool = True
    """Sent again when no answer came: once too often rather than never. Without it, such a one is dead."""
    fresh_secret: bool = False
    """Sent with the secret as it is stored now, whatever is cached."""


KINDS: Mapping[EventKind, KindPolicy] = {
    "new_ad": KindPolicy(),
    "price_drop": KindPolicy(),
    # whoever made the watch is waiting for it
    "watch_live": KindPolicy(urgent=True),
    "operator_alert": KindPolicy(preset="patient", expiry=Milliseconds(7 * DAY), urgent=True),
    # it tells whether the secret that was given just now is right
    "test": KindPolicy(expiry=HOUR, urgent=True, fresh_secret=True),
}
"""Every kind, as it is agreed where no setting says otherwise."""


class Policies(Struct, frozen=True, kw_only=True):
    """What holds for a notification, by its kind and the channel it takes.

    `patient_channels` retry patiently whatever the kind: a mail server may greylist for an hour.
    """

    alert: Backoff
    patient: Backoff = PATIENT
    kinds: Mapping[EventKind, KindPolicy] = field(default_factory=lambda: KINDS)
    patient_channels: frozenset[str] = frozenset({"email"})

    def of(self, kind: EventKind) -> KindPolicy:
        """What is agreed for the kind."""
        return self.kinds[kind]

    def backoff(self, kind: EventKind, channel: str) -> Backoff:
        """Its retry schedule on that channel."""
        patient = self.kinds[kind].preset == "patient" or channel in self.patient_channels
        return self.patient if patient else self.alert
