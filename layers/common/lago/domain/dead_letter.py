"""Dead letters: which of them are meant, their place in the list, and when one that is brought back is tried. Pure."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from re import fullmatch
from typing import NamedTuple, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from lago.domain.event import EventKind
from lago.domain.ids import DestinationId, EpochMs, NotificationId
from lago.domain.mailbox import DeadReason, Row
from lago.errors import BadInputError

GENERATIONS = 3
"""How often a dead letter is brought back at most, by hand or by itself: one that always dies is to be looked at."""
JITTER = 0.1
"""By which share of the time between two redriven letters each is moved either way."""
KINDS: tuple[str, ...] = get_args(EventKind)
REASONS: tuple[str, ...] = get_args(DeadReason)

_MINUTE_MS = 60_000
_TOKEN_LENGTH = 600
_LATEST = 2**47
"""Epoch ms beyond the year 6000: whatever is later was never written by this program."""
_A_CURSOR = "a cursor as an answer gave it"


class Wanted(Struct, frozen=True, kw_only=True):
    """Which dead letters are meant: all that fit everything that is set. `since` is the earliest death."""

    destination: DestinationId | None = None
    kind: str | None = None
    reason: str | None = None
    since: EpochMs | None = None

    def fits(self, row: Row) -> bool:
        """Whether the dead row is meant."""
        return (
            self.destination in {None, row.notification.destination}
            and self.kind in {None, row.notification.kind}
            and self.reason in {None, row.dead_reason}
            and (self.since is None or (row.died or 0) >= self.since)
        )


EVERY = Wanted()


class Place(NamedTuple):
    """Where a dead letter stands in the list: newest death first, those of one moment by destination and id."""

    died: EpochMs
    destination: DestinationId
    id: NotificationId

    @property
    def order(self) -> tuple[int, str, str]:
        """What the list is sorted by."""
        return (-self.died, self.destination, self.id)


class Letters(NamedTuple):
    """A part of the list. `after` is where the next part begins, None at the end; a part may be short all the same."""

    rows: list[Row]
    after: Place | None


def place(row: Row) -> Place:
    """The place of a dead row."""
    return Place(row.died or EpochMs(0), row.notification.destination, row.id)


def may_return(row: Row) -> bool:
    """Whether a dead letter may be brought back once more."""
    return row.generation < GENERATIONS


def revived(row: Row, at: EpochMs) -> Row:
    """The row alive again, with all its attempts and its history, to be tried at `at`; of use from then on."""
    return replace(
        row,
        died=None,
        dead_reason=None,
        attempts=0,
        lost=0,
        generation=row.generation + 1,
        created=at,
        next_attempt_at=at,
    )


def spread(start: EpochMs, per_minute: int, random: Callable[[], float]) -> Iterator[EpochMs]:
    """The times of letters brought back one after the other: `per_minute` of them, each moved by `JITTER` at most."""
    gap = _MINUTE_MS / per_minute
    number = 0
    while True:
        moved = JITTER * (2 * random() - 1)
        yield EpochMs(start + max(0, int(gap * (number + moved))))
        number += 1


def letter_id(row: Row) -> str:
    """What names a letter outside: its destination and its id in one opaque word."""
    return _word([row.notification.destination, row.id])


def read_letter_id(word: str, field: str = "id") -> tuple[DestinationId, NotificationId]:
    """What `letter_id` put together. Raises BadInputError for anything else."""
    match _read(word):
        case [str(destination), str(id_)] if destination and fullmatch("[0-9a-f]{24}", id_):
            return DestinationId(destination), NotificationId(id_)
    raise BadInputError(field, word, "the id of a dead letter as the list shows it")


def cursor(after: Place, at: EpochMs | None = None) -> str:
    """A place in the list as an opaque word; `at` is when the next letter of a redrive in several steps is tried."""
    return _word([*after] if at is None else [*after, at])


def read_cursor(word: str) -> tuple[Place, EpochMs | None]:
    """What `cursor` put together. Raises BadInputError for anything else."""
    match _read(word):
        case [int(died), str(destination), str(id_), *rest] if 0 <= died <= _LATEST and destination:
            place_ = Place(EpochMs(died), DestinationId(destination), NotificationId(id_))
            match rest:
                case []:
                    return place_, None
                case [int(at)] if 0 <= at <= _LATEST:
                    return place_, EpochMs(at)
    raise BadInputError("cursor", word, _A_CURSOR)


def _word(parts: list[str | int]) -> str:
    return urlsafe_b64encode(msgspec.json.encode(parts)).decode().rstrip("=")


def _read(word: str) -> object:
    if len(word) > _TOKEN_LENGTH or not fullmatch("[A-Za-z0-9_-]+", word):
        return None
    try:
        found: object = msgspec.json.decode(urlsafe_b64decode(word + "=" * (-len(word) % 4)))
    except (binascii.Error, msgspec.DecodeError):
        return None
    return found
