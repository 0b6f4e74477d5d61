"""Dead letters for people: listed, shown whole, brought back, discarded. What `/dead-letters` and `lago dead` do."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from msgspec import Struct

from lago.dead_letter_answers import Export, Handled, LetterList, WholeLetter, iso, line, refusal, whole
from lago.domain.dead_letter import (
    Letters,
    Place,
    Wanted,
    cursor,
    letter_id,
    may_return,
    read_cursor,
    read_letter_id,
    spread,
)
from lago.domain.ids import Clock, DestinationId, EpochMs, NotificationId
from lago.domain.mailbox import Row
from lago.domain.notification import Destination
from lago.errors import BadInputError, NotFoundError

AT_ONCE = 100
"""Letters of one request: every one of another destination, each takes a transaction, and the function has 10 s."""
PER_MINUTE = 30
"""How many redriven letters are tried a minute unless told otherwise."""
FASTEST = 600
LONGEST_REASON = 200
FARTHEST_MS = 30 * 86_400_000
"""How far ahead a redrive may plan: what lies beyond is no cursor of ours."""


class Store(Protocol):
    """The dead letters of all mailboxes. Every method may raise StoreUnavailableError."""

    def part(self, wanted: Wanted, *, limit: int, after: Place | None = None) -> Letters:
        """The next letters that fit, newest first; a part may be short although more follow."""
        ...

    def get(self, destination: DestinationId, id_: NotificationId) -> Row | None:
        """One dead letter; None when there is none."""
        ...

    def beginning(self, prefix: str) -> list[Row]:
        """The dead letters whose ids begin so."""
        ...

    def redrive(self, letters: Iterable[tuple[Row, EpochMs]], *, now: EpochMs) -> set[NotificationId]:
        """Bring letters back, each to be tried at its time. Returns which were still dead."""
        ...

    def discard(self, destination: Destination, row: Row, reason: str) -> bool:
        """Remove a letter for good. Says whether it was still dead."""
        ...

    def destination(self, name: DestinationId) -> Destination | None:
        """The destination of a letter."""
        ...


class Selection(Struct, frozen=True, kw_only=True):
    """The letters of a request: those of `ids`, or else all that are `wanted`, from `cursor` on."""

    ids: tuple[str, ...] = ()
    wanted: Wanted = Wanted()
    cursor: str | None = None


class DeadLetters:
    """All that can be done with dead letters. Every method may raise BadInputError and StoreUnavailableError."""

    def __init__(self, store: Store, *, clock: Clock, random: Callable[[], float]) -> None:
        """`random` spreads what is brought back."""
        self._store, self._clock, self._random = store, clock, random

    def part(self, wanted: Wanted, *, limit: int, after: str | None = None) -> LetterList:
        """A part of the list, newest first."""
        part = self._store.part(wanted, limit=limit, after=_place(after))
        return LetterList(letters=[line(row) for row in part.rows], cursor=_next(part))

    def show(self, id_: str) -> WholeLetter:
        """One letter with its history. Raises NotFoundError."""
        row = self._store.get(*read_letter_id(id_))
        if row is None:
            raise NotFoundError(f"there is no dead letter {id_}: it was delivered, brought back or discarded")
        return whole(row)

    def export_part(self, wanted: Wanted, *, limit: int, after: str | None = None) -> Export:
        """A part of the list, whole."""
        part = self._store.part(wanted, limit=limit, after=_place(after))
        return Export(letters=[whole(row) for row in part.rows], cursor=_next(part))

    def export(self, wanted: Wanted) -> Iterator[WholeLetter]:
        """All that are wanted, whole, newest first."""
        part = self.export_part(wanted, limit=AT_ONCE)
        yield from part.letters
        while part.cursor is not None:
            part = self.export_part(wanted, limit=AT_ONCE, after=part.cursor)
            yield from part.letters

    def ids_beginning(self, prefix: str) -> list[str]:
        """The ids of the letters whose notification's id begins so."""
        return [letter_id(row) for row in self._store.beginning(prefix)]

    def redrive(self, selection: Selection, *, per_minute: int = PER_MINUTE) -> Handled:
        """Bring letters back, `per_minute` of them, at most three times each (`GENERATIONS`); the oldest of them first.

        What was delivered is not sent again: the delivery log is read when a letter is due. Raises NotFoundError when
        none of the ids is a dead letter.
        """
        now = self._clock()
        start = now
        if selection.cursor is not None:
            start = max(now, read_cursor(selection.cursor)[1] or now)
            if start > now + FARTHEST_MS:
                raise BadInputError("cursor", selection.cursor, "a cursor as an answer gave it")
        part, gone = self._selected(selection)
        rows = sorted((row for row in part.rows if may_return(row)), key=lambda row: row.died or 0)
        refused = [refusal(row) for row in part.rows if not may_return(row)]
        times = spread(start, per_minute, self._random)
        planned = [(row, next(times)) for row in rows]
        alive = self._store.redrive(planned, now=now)
        following = next(times)
        return Handled(
            done=len(alive),
            refused=refused,
            gone=[*gone, *(letter_id(row) for row in rows if row.id not in alive)],
            cursor=None if part.after is None else cursor(part.after, following),
            until=iso(planned[-1][1]) if alive else None,
        )

    def discard(self, selection: Selection, reason: str) -> Handled:
        """Remove letters for good; a log line each keeps its id and the reason. Raises NotFoundError as `redrive`."""
        part, gone = self._selected(selection)
        done = 0
        for row in part.rows:
            destination = self._store.destination(row.notification.destination)
            if destination is not None and self._store.discard(destination, row, reason):
                done += 1
            else:
                gone.append(letter_id(row))
        return Handled(done=done, refused=[], gone=gone, cursor=_next(part))

    def _selected(self, selection: Selection) -> tuple[Letters, list[str]]:
        """The letters of a request, and the ids that are none."""
        if not selection.ids:
            return self._store.part(selection.wanted, limit=AT_ONCE, after=_place(selection.cursor)), []
        rows, gone = [], []
        for id_ in dict.fromkeys(selection.ids):
            row = self._store.get(*read_letter_id(id_, "ids"))
            if row is None:
                gone.append(id_)
            else:
                rows.append(row)
        if not rows:
            raise NotFoundError("none of these is a dead letter: they were delivered, brought back or discarded")
        return Letters(rows, None), gone


def _place(cursor_: str | None) -> Place | None:
    return None if cursor_ is None else read_cursor(cursor_)[0]


def _next(part: Letters) -> str | None:
    return None if part.after is None else cursor(part.after)
