"""When whoever runs Lago is told of dead letters: at the first, once an hour at most, and when none is left. Pure."""

from msgspec import Struct
from msgspec.structs import replace

from lago.domain.event import OperatorAlert
from lago.domain.ids import EpochMs, Milliseconds

HOUR = Milliseconds(3_600_000)
KEY = "dead-letters"


class Told(Struct, frozen=True, kw_only=True):
    """What the operator was told. `alerted` is when of dead letters last, `open` until it was said that none is left.

    `owed` is a message that is decided and maybe not queued yet: whoever finds it queues it, twice is once.
    """

    version: int = 0
    alerted: EpochMs | None = None
    open: bool = False
    owed: OperatorAlert | None = None


def may_alert(told: Told, now: EpochMs) -> bool:
    """Whether an hour has passed since the last alert."""
    return told.alerted is None or now - told.alerted >= HOUR


def alerted(told: Told, text: str, now: EpochMs) -> Told:
    """After an alert."""
    alert = OperatorAlert(key=KEY, found=now, text=text)
    return replace(told, version=told.version + 1, alerted=now, open=True, owed=alert)


def recovered(told: Told, now: EpochMs) -> Told:
    """After it was said that no dead letter is left."""
    message = OperatorAlert(key=f"{KEY}-recovered", found=now, text="No dead letter is left.")
    return replace(told, version=told.version + 1, open=False, owed=message)


def settled(told: Told) -> Told:
    """After what was owed is in the queue."""
    return replace(told, version=told.version + 1, owed=None)
