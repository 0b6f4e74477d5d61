"""How a send ended. The channel decides the class; each class has its own cost (design, rule 6)."""

from enum import StrEnum

from msgspec import Struct

from lago.domain.ids import Milliseconds


class OutcomeKind(StrEnum):
    """The classes of rule 6, and success."""

    DELIVERED = "delivered"
    MESSAGE = "message"
    """The far side refuses this message for good: it is dead, others go on."""
    DESTINATION = "destination"
    """Blocked or gone: the mailbox is disabled, the person's watches pause with the reason."""
    GATE = "gate"
    """Told to wait: this mailbox waits exactly `retry_after`, uncharged."""
    OUTAGE = "outage"
    """5xx or no connection: the mailbox backs off, one message probes."""
    AMBIGUOUS = "ambiguous"
    """The request left, no answer came."""
    RENDER = "render"
    """Our own fault: charged to its message."""


class Outcome(Struct, frozen=True, kw_only=True):
    """`reason` is for people and rows: at most 500 bytes, free of secrets and query strings.

    `address` is the destination's new address when the far side named one (a migrated chat): to be kept.
    """

    kind: OutcomeKind
    reason: str = ""
    retry_after: Milliseconds | None = None
    address: str | None = None


DELIVERED = Outcome(kind=OutcomeKind.DELIVERED)
