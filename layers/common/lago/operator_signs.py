"""What each function sees that whoever runs Lago should know: signs for `lago.operator_alerts`."""

import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import Struct

from lago.domain.dead_letter import Letters, Wanted
from lago.domain.ids import Clock, DestinationId, EpochMs
from lago.domain.mailbox import Row
from lago.domain.operator import HOUR, Sign
from lago.errors import StoreError
from lago.operator_alerts import OperatorAlerts
from lago.ports import Mailboxes
from lago.scrape_report import ScrapeReport

log = logging.getLogger(__name__)

DEAD, DISABLED, SOURCE, GAP, CYCLE = "dead-letters", "disabled", "source", "gap", "cycle"
DRAIN, SCRAPE = f"{CYCLE}/drain", f"{CYCLE}/scrape"
NEWEST = 20
"""Letters looked at for whose they are."""
_SAID = 80


class LetterList(Protocol):
    """The dead letters."""

    def part(self, wanted: Wanted, *, limit: int) -> Letters:
        """The newest letters that fit."""
        ...


class Report(Struct, frozen=True, kw_only=True):
    """Signs on their way from one function to the one that may tell: see `lago.domain.operator.decide`."""

    scope: tuple[str, ...] = ()
    signs: tuple[Sign, ...] = ()


class DrainSigns:
    """Looks at the queue after a drain: dead letters, disabled destinations, and which version runs."""

    def __init__(
        self, alerts: OperatorAlerts, *, mailboxes: Mailboxes, letters: LetterList, clock: Clock, running: str = ""
    ) -> None:
        """`running` names the version of this code."""
        self._alerts, self._mailboxes, self._letters, self._clock = alerts, mailboxes, letters, clock
        self._running = running
        self._seen: tuple[int, int] | None = None
        self._again = EpochMs(0)
        self._begun = False

    def begin(self) -> None:
        """A drain begins. When the one before never came to `look`, it failed: that this one does not is news."""
        if self._begun:
            self._seen = None
        self._begun = True

    def look(self, *, dead: int, pending: int) -> bool:
        """Tell what is to be told while there are so many rows; says whether a message was queued.

        Reads nothing while the numbers stay the same, but once an hour: an idle drain costs what it did. Never raises
        for a store that is away: the next drain looks again.
        """
        now, self._begun = self._clock(), False
        if not self._alerts.destination or ((dead, pending) == self._seen and now < self._again):
            return False
        self._seen = None
        try:
            newest = self._letters.part(Wanted(), limit=NEWEST).rows if dead else ()
            # a destination that fails is not told about its own letters
            others = [row for row in newest if row.notification.destination != self._alerts.destination]
            signs = (*(_letters(dead, row) for row in others[:1]), *self._disabled())
            scope = (DISABLED, DRAIN) if dead and not others else (DEAD, DISABLED, DRAIN)
            told = self._alerts.report(scope, signs, running=self._running)
        except StoreError as error:
            log.warning("could not tell the operator", extra={"reason": str(error)})
            return False
        if newest or not dead:  # else counted, but not in the index yet: the next drain looks again
            self._seen = (dead, pending)
        self._again = EpochMs(now + HOUR) if told.again is None else told.again
        return told.queued > 0

    def _disabled(self) -> Iterable[Sign]:
        for name in self._mailboxes.destinations():
            head = self._mailboxes.head(name)
            if head is not None and head.destination.disabled and name != self._alerts.destination:
                yield _disabled(name, head.destination.disabled)


class ScrapeSigns:
    """Looks at a scrape's report: sources that can't be read, searches with a gap. It has no hands: `tell` has."""

    def __init__(self, tell: Callable[[Report], None], *, operator: DestinationId, clock: Clock) -> None:
        """`tell` carries a report to the function that may tell; nothing is carried without an `operator`."""
        self._tell, self._operator, self._clock = tell, operator, clock
        self._carried: dict[int, tuple[Report, EpochMs]] = {}
        self._begun = False

    def begin(self) -> None:
        """A scrape begins. When the one before never came to `look`, it failed: that this one does not is news."""
        if self._begun:
            self._carried.clear()
        self._begun = True

    def look(self, report: ScrapeReport) -> None:
        """Carry what changed, and once an hour what did not. Raises what `tell` raises: the next scrape looks again."""
        self._begun = False
        if not self._operator or report.skipped:
            return
        signs = (*(_source(name, why) for name, why in sorted(report.resting_because.items())), *_gaps(report))
        gap, asked = f"{GAP}/{report.shard}", tuple(f"{SOURCE}/{name}" for name in report.sources)
        found, now = Report(scope=(gap, *asked, f"{SCRAPE}/{report.shard}"), signs=signs), self._clock()
        carried, at = self._carried.get(report.shard, (None, now))
        if found == carried and (not signs or now - at < HOUR):
            return
        self._tell(found)
        self._carried[report.shard] = (found, now)


def _letters(dead: int, newest: Row) -> Sign:
    note = newest.notification
    said = newest.history[-1].reason[:_SAID] if newest.history else ""
    letters = "1 dead letter" if dead == 1 else f"{dead} dead letters"
    why = f"{newest.dead_reason}: {said}" if said else str(newest.dead_reason)
    return Sign(
        key=DEAD,
        text=f"{letters}; the newest: {note.kind} to {note.destination} ({why}). `lago dead list` shows them.",
        over="No dead letter is left.",
        mark=newest.died or 0,
    )


def _disabled(name: DestinationId, why: str) -> Sign:
    return Sign(
        key=f"{DISABLED}/{name}",
        text=f"The destination {name} takes no messages: {why[:_SAID]}. What waits for it is kept for a day; "
        f"`lago destination enable {name}` when it works again.",
        over=f"The destination {name} takes messages again.",
    )


def _source(name: str, why: str) -> Sign:
    return Sign(
        key=f"{SOURCE}/{name}",
        text=f"{name} cannot be read: {why[:_SAID]}. It is tried again by itself; nothing is concluded about ads.",
        over=f"{name} is read again.",
    )


def _gaps(report: ScrapeReport) -> Iterable[Sign]:
    if report.gaps:
        which = "A search has" if len(report.gaps) == 1 else f"{len(report.gaps)} searches have"
        yield Sign(
            key=f"{GAP}/{report.shard}",
            text=f"{which} more new ads than could be read, some may be missing: {', '.join(report.gaps[:5])}.",
            over="No search has a gap any more.",
        )
