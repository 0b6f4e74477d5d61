"""Dead letters in memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lago.domain.dead_letter import Letters, Place, Wanted, place, revived
from lago.domain.ids import DestinationId, EpochMs, NotificationId
from lago.domain.mailbox import Row
from lago.domain.notification import Destination
from tests.builders import a_destination


@dataclass
class FakeDeadLetters:
    dead: list[Row] = field(default_factory=list)
    alive: list[Row] = field(default_factory=list)
    discarded: list[tuple[NotificationId, str]] = field(default_factory=list)

    def part(self, wanted: Wanted, *, limit: int, after: Place | None = None) -> Letters:
        listed = sorted(self.dead, key=lambda row: place(row).order)
        left = [row for row in listed if wanted.fits(row) and (after is None or place(row).order > after.order)]
        return Letters(left[:limit], place(left[limit - 1]) if len(left) > limit else None)

    def get(self, destination: DestinationId, id_: NotificationId) -> Row | None:
        return next((row for row in self.dead if (row.notification.destination, row.id) == (destination, id_)), None)

    def beginning(self, prefix: str) -> list[Row]:
        return [row for row in self.dead if row.id.startswith(prefix)]

    def redrive(self, letters: Iterable[tuple[Row, EpochMs]], *, now: EpochMs) -> set[NotificationId]:
        back = [(row, at) for row, at in letters if row in self.dead]
        self.dead = [row for row in self.dead if row.id not in {each.id for each, _ in back}]
        self.alive += [revived(row, at) for row, at in back]
        return {row.id for row, _ in back}

    def discard(self, destination: Destination, row: Row, reason: str) -> bool:
        if row not in self.dead:
            return False
        self.dead.remove(row)
        self.discarded.append((row.id, reason))
        return True

    def destination(self, name: DestinationId) -> Destination | None:
        return a_destination(name)
