"""When whoever runs Lago is told that something is wrong: at first, once an hour at most, and when it is over. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from lago.domain.event import OperatorAlert
from lago.domain.ids import EpochMs, Milliseconds

HOUR = Milliseconds(3_600_000)
SIGNS = 50
"""How many signs are remembered: the memory is one item."""


class Sign(Struct, frozen=True, kw_only=True):
    """Something that is wrong now.

    `key` says what, "source/willhaben" for example; `over` is said when it is no more. A `mark` above the one that was
    told means that it got worse: more is dead than before.
    """

    key: str
    text: str
    over: str
    mark: int = 0


class Known(Struct, frozen=True, kw_only=True):
    """What was told of a sign: when last, whether it is still on, and how bad it was."""

    alerted: EpochMs
    open: bool
    over: str
    mark: int


class Told(Struct, frozen=True, kw_only=True):
    """What the operator was told.

    `due` are messages that are decided and maybe not queued yet: whoever finds them queues them, twice is once.
    `running` is the version that was running last.
    """

    version: int = 0
    signs: dict[str, Known] = {}
    due: tuple[OperatorAlert, ...] = ()
    running: str = ""


class Decision(NamedTuple):
    """What is to be told. `again` is when something that is kept back may be told, None for nothing."""

    told: Told
    again: EpochMs | None


def decide(told: Told, scope: Iterable[str], signs: Iterable[Sign], now: EpochMs, *, running: str = "") -> Decision:
    """What follows from `signs`, all there are now of what `scope` names: "source" stands for all "source/…".

    What is not among them and in the scope is over. Another `running` version than the last is told once.
    """
    here = {sign.key: sign for sign in signs}
    # what is over for an hour may be told anew: no need to know it
    known = {key: each for key, each in told.signs.items() if each.open or now - each.alerted < HOUR}
    due, again = list(told.due), []
    for key, sign in here.items():
        before = known.get(key)
        if before is not None and before.open and sign.mark <= before.mark:
            continue
        if before is not None and now - before.alerted < HOUR:
            again.append(EpochMs(before.alerted + HOUR))
            continue
        if before is None and len(known) >= SIGNS:
            continue  # whoever was told of so many need not be told of one more
        known[key] = Known(alerted=now, open=True, over=sign.over, mark=sign.mark)
        due.append(OperatorAlert(key=key, found=now, text=sign.text))
    names = tuple(scope)
    for key, before in known.items():
        if before.open and key not in here and _within(key, names):
            known[key] = replace(before, open=False)
            due.append(OperatorAlert(key=f"{key}-over", found=now, text=before.over))
    if running and running != told.running:
        if told.running:
            due.append(OperatorAlert(key="version", found=now, text=f"A new version runs: {running}."))
        told = replace(told, running=running)
    return Decision(replace(told, signs=known, due=tuple(due)), min(again, default=None))


def settled(told: Told) -> Told:
    """After what was due is in the queue."""
    return replace(told, due=())


def _within(key: str, scope: tuple[str, ...]) -> bool:
    return any(key == name or key.startswith(f"{name}/") for name in scope)
