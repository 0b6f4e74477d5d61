"""What is told of destinations. Names and units are part of the interface: see docs/operations.md. Never a secret."""

from msgspec import Struct

from lago.destination_options import digest_text, quiet_text
from lago.domain.ids import DestinationId, WatchId
from lago.domain.mailbox import Head

REMOVING = "it is being removed"
"""Why a destination is disabled whose removal began: until that is finished, nothing is sent there."""


class DestinationAnswer(Struct, frozen=True, kw_only=True):
    """A destination and how it does. `disabled` says why nothing is sent there; empty while it works."""

    id: str
    channel: str = ""
    address: str = ""
    disabled: str = ""
    time_zone: str = ""
    quiet: str | None = None
    club_seconds: int = 0
    digest: str | None = None
    waiting: int = 0
    dead: int = 0


class Added(Struct, frozen=True, kw_only=True):
    """A destination that was added. `show` is told this once: a key to check signatures with, for example."""

    destination: DestinationAnswer
    show: str
    resumed: tuple[WatchId, ...]


class Woken(Struct, frozen=True, kw_only=True):
    """A destination that is enabled, and the watches that rested because it was not."""

    destination: DestinationAnswer
    resumed: tuple[WatchId, ...]


class Removed(Struct, frozen=True, kw_only=True):
    """How far a removal came: unless `done`, the same is to be asked for again. The numbers are those of this time.

    `turned` are watches that told others too and go on with these, `removed` those that told nobody else.
    """

    id: DestinationId
    done: bool
    turned: tuple[WatchId, ...] = ()
    removed: tuple[WatchId, ...] = ()
    messages: int = 0
    log_entries: int = 0


def answer(head: Head) -> DestinationAnswer:
    """The destination of a mailbox."""
    destination = head.destination
    return DestinationAnswer(
        id=destination.id,
        channel=destination.channel,
        address=destination.address,
        disabled=destination.disabled,
        time_zone=destination.time_zone,
        quiet=quiet_text(destination),
        club_seconds=destination.club_seconds,
        digest=digest_text(destination),
        waiting=head.waiting,
        dead=head.dead,
    )
