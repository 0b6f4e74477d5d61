"""What is told of dead letters. Names and units are part of the interface: see docs/operations.md."""

from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import asdict

from lago.domain.dead_letter import GENERATIONS, letter_id, may_return
from lago.domain.event import AdEvent, OperatorAlert, Trial, WatchLive
from lago.domain.ids import EpochMs
from lago.domain.mailbox import Row


class Letter(Struct, frozen=True, kw_only=True):
    """A line of the list. `said` is what the far side said last, `generation` how often it was brought back."""

    id: str
    notification: str
    destination: str
    kind: str
    reason: str
    died: str
    about: str
    said: str
    attempts: int
    generation: int


class Try(Struct, frozen=True):
    """One attempt of a letter's history."""

    at: str
    outcome: str
    said: str


class WholeLetter(Letter, frozen=True, kw_only=True):
    """A letter with its history and all it was to tell."""

    created: str
    lost: int
    may_return: bool
    history: list[Try]
    search: str
    watches: list[str]
    label: str
    search_url: str
    event: dict[str, object]


class LetterList(Struct, frozen=True, kw_only=True):
    """A part of the list; the next one is asked for with its `cursor`, null at the end."""

    letters: list[Letter]
    cursor: str | None


class Export(Struct, frozen=True, kw_only=True):
    """As `LetterList`, of letters whole."""

    letters: list[WholeLetter]
    cursor: str | None


class Refusal(Struct, frozen=True):
    """A letter that stays dead, and why."""

    id: str
    reason: str


class Handled(Struct, frozen=True, kw_only=True):
    """What became of the letters of a request: `done`, refused, or `gone` (not dead any more).

    `until` is when the last redriven one is tried. While `cursor` is not null, more are left: ask again with it.
    """

    done: int
    refused: list[Refusal]
    gone: list[str]
    cursor: str | None
    until: str | None = None


def refusal(row: Row) -> Refusal:
    """Why a letter may not return."""
    return Refusal(
        letter_id(row), f"brought back {row.generation} times already, {GENERATIONS} are allowed: discard it"
    )


def line(row: Row) -> Letter:
    """A dead row as a line of the list."""
    return Letter(
        id=letter_id(row),
        notification=row.id,
        destination=row.notification.destination,
        kind=row.notification.kind,
        reason=row.dead_reason or "",
        died=iso(row.died or EpochMs(0)),
        about=_about(row),
        said=row.history[-1].reason if row.history else "",
        attempts=row.spent,
        generation=row.generation,
    )


def whole(row: Row) -> WholeLetter:
    """A dead row whole."""
    note = row.notification
    return WholeLetter(
        **asdict(line(row)),
        created=iso(row.created),
        lost=row.lost,
        may_return=may_return(row),
        history=[Try(iso(each.at), each.kind, each.reason) for each in row.history],
        search=note.search,
        watches=list(note.watches),
        label=note.label,
        search_url=note.search_url,
        event={"kind": note.kind, **_fields(note.event)},
    )


def _about(row: Row) -> str:
    match row.notification.event:
        case AdEvent(title=title):
            return title
        case OperatorAlert(text=text):
            return text
        case WatchLive():
            return row.notification.label
        case Trial():
            return "a test message"


def _fields(value: Struct) -> dict[str, object]:
    """By name: the stored forms of events are arrays to save space."""
    return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}


def _plain(value: object) -> object:
    if isinstance(value, Struct):
        return _fields(value)
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def iso(at: EpochMs) -> str:
    """A time in UTC, to the second."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")
