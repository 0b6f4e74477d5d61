"""The two ways out: from a search's outbox at once (Notify), and from the queue when a row is due (Drain)."""

import logging
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from lago.courier import PARKED, Candidate, Courier, DeliverySettings, Sent, Tally
from lago.domain.backoff import Backoff
from lago.domain.event import AdEvent, OperatorAlert, Trial
from lago.domain.hours import held_until, quiet_until
from lago.domain.ids import DestinationId, EpochMs, Milliseconds
from lago.domain.mailbox import Head, Row, Settlement, dead, lost_in_the_air
from lago.domain.notification import Notification
from lago.domain.watch import Filters
from lago.errors import NewerItemError
from lago.ports import Searches

log = logging.getLogger(__name__)

LATE = Milliseconds(120_000)
"""From this age on a notification is looked up again before it is sent: its price may have fallen since."""


class Sender:
    """One sender per mailbox, in order, on every path (design, rule 4)."""

    def __init__(self, courier: Courier, searches: Searches) -> None:
        """The two paths differ in what they send, not in how. `searches` knows the latest price of an ad."""
        self._courier, self._searches = courier, searches
        self._mailboxes, self._watches = courier.mailboxes, courier.watches
        self._settings, self._clock = courier.settings, courier.clock

    def deliver(self, destination: DestinationId, candidates: Sequence[Candidate], *, deadline: EpochMs) -> Tally:
        """Send what a search found to one destination; what can't be sent now is queued.

        `deadline` is when the function must have ended. Raises StoreError: nothing is lost then, the outbox is still
        there and what was delivered is in the log.
        """
        tally = Tally()
        head = self._mailboxes.head(destination)
        if head is None:
            log.error("destination is gone", extra={"destination": destination})
            tally.cancelled = len(candidates)
            return tally
        rest, held = self._held(head, candidates)
        for size in _sizes(len(rest), self._settings):
            message, later = rest[:size], rest[size:]
            sent = self._deliver_one(head, message, deadline)
            if sent is None:
                break
            head, rest = sent.head, later
            tally.add(sent.tally)
        for rows in (tuple(candidate.row for candidate in rest), held):
            if rows:
                tally.queued += self._enqueue(head, rows)
                if head.destination.disabled:
                    self._courier.pause_watches(rows, head.destination.disabled)
        return tally

    def _held(self, head: Head, candidates: Sequence[Candidate]) -> tuple[list[Candidate], tuple[Row, ...]]:
        """What may be told now, and the rows of what a digest, a club or quiet hours hold back, with their time.

        A millisecond apart they keep their order, also behind what waits already.
        """
        now = self._clock()
        until = held_until(head.destination, now)
        if until <= now:
            return list(candidates), ()
        urgent = [each for each in candidates if self._urgent(each.row)]
        later = [each.row for each in candidates if not self._urgent(each.row)]
        return urgent, tuple(
            replace(row, next_attempt_at=EpochMs(until + n)) for n, row in enumerate(later, head.waiting)
        )

    def _deliver_one(self, head: Head, message: list[Candidate], deadline: EpochMs) -> Sent | None:
        """One message at once, or None when it has to queue: rows that wait are never overtaken."""
        now = self._clock()
        ids = [candidate.row.id for candidate in message]
        crashed = head.lost(now).intersection(ids)
        blocked = head.waiting or head.failures or head.destination.disabled or head.leased(now) or crashed
        if blocked or not self._courier.may_start(head, deadline) or not self._courier.gate_opened(head):
            return None
        claim = self._courier.claim(head, ids)
        if claim is None:
            return None
        return self._courier.send(claim, message, stored=False, next_row_at=None, deadline=deadline)

    def _enqueue(self, head: Head, rows: tuple[Row, ...]) -> int:
        """Queue rows; what a dead sender left in the air is charged now that it is back (design, rule 4)."""
        now = self._clock()

        def charged(row: Row) -> Row:
            return lost_in_the_air(row, self._backoff(head, row), now)

        return self._mailboxes.enqueue(head.destination, rows, now=now, charged=charged)

    def drain(self, destination: DestinationId, *, soft: EpochMs, deadline: EpochMs) -> Tally:
        """Send what is due in one mailbox, oldest first, until nothing is or time is up.

        No send starts after `soft`; `deadline` is when the function must have ended. Raises StoreError.
        """
        tally = Tally()
        while self._clock() < soft:
            sent = self._drain_one(destination, deadline)
            if sent is None:
                break
            tally.add(sent)
        return tally

    def _drain_one(self, destination: DestinationId, deadline: EpochMs) -> Tally | None:
        now = self._clock()
        head = self._mailboxes.head(destination)
        if head is None or head.leased(now) or not self._courier.may_start(head, deadline):
            return None
        if not self._courier.gate_opened(head):
            self._postpone(head, head.gate_until)
            return None
        rows = self._mailboxes.waiting(destination, self._settings.batch + 1)
        lost = self._lost_rows(head, rows)
        if lost:
            return self._charge_lost(head, lost)
        now = self._clock()
        ready = [row for row in rows if row.next_attempt_at <= now]
        expired = [row for row in ready if now - row.aging_since > self._expiry(row)]
        if expired:
            return self._bury(head, expired, rows)
        quiet = quiet_until(head.destination, now)
        ready = [row for row in ready if quiet <= now or self._urgent(row)]
        if head.destination.disabled or not ready:
            times = (row.next_attempt_at if self._urgent(row) else max(quiet, row.next_attempt_at) for row in rows)
            self._postpone(head, min(times, default=EpochMs(now + PARKED)))
            return None
        message = self._choose(head, ready)
        chosen = {row.id for row in message}
        claim = self._courier.claim(head, chosen)
        if claim is None:
            return None
        with self._courier.refunding(claim):
            candidates = [Candidate(row, self._filters(row.notification)) for row in message]
        following = next((row.next_attempt_at for row in rows if row.id not in chosen), None)
        sent = self._courier.send(
            claim, candidates, stored=True, next_row_at=following, deadline=deadline, latest=self._up_to_date
        )
        return sent.tally

    def _choose(self, head: Head, ready: list[Row]) -> list[Row]:
        """The next message: one probe after an outage, one row alone after a crash, else a club or the oldest row.

        Up to the threshold rows go one by one, unless the person wants them clubbed.
        """
        if head.failures or ready[0].alone:
            return ready[:1]
        clubbable = [row for row in ready if not row.alone][: self._settings.batch]
        together = head.destination.club_seconds or head.destination.digest_at is not None
        most = 0 if together else self._settings.club_threshold
        return clubbable if len(clubbable) > most else clubbable[:1]

    def _lost_rows(self, head: Head, rows: list[Row]) -> list[Row]:
        lost = frozenset(head.in_flight)
        found = {row.id: row for row in rows if row.id in lost}
        for id_ in lost - found.keys():
            try:
                row = self._mailboxes.row(head.destination.id, id_)
            except NewerItemError:
                continue  # left in the air by a newer version: it waits for that, uncharged
            if row is not None and row.died is None:
                found[id_] = row
        return list(found.values())

    def _charge_lost(self, head: Head, lost: list[Row]) -> Tally | None:
        """Charge what a dead claimer left in the air, in one write with the claim that notices it.

        What the log knows as delivered was sent before the claimer died: it is done, not charged and never dead.
        """
        told = self._courier.told(head.destination.id, lost)
        now = self._clock()
        charged = tuple(lost_in_the_air(row, self._backoff(head, row), now) for row in lost if row.id not in told)
        claim = self._courier.claim(head, told, lost=charged)
        if claim is None:
            return None
        done = Settlement(done=told, failures=head.failures, gate_until=head.gate_until)
        self._mailboxes.record(claim, done, new=False, next_row_at=now, now=now)
        log.error("a sender stopped in the middle", extra={"notifications": [row.id for row in lost]})
        return Tally(dead=sum(row.died is not None for row in charged), silent=len(told))

    def _bury(self, head: Head, expired: list[Row], rows: list[Row]) -> Tally | None:
        now = self._clock()
        claim = self._courier.claim(head, ())
        if claim is None:
            return None
        buried = tuple(dead(row, "expired", now) for row in expired)
        gone = {row.id for row in expired}
        following = next((row.next_attempt_at for row in rows if row.id not in gone), None)
        settlement = Settlement(kept=buried, failures=head.failures, gate_until=head.gate_until)
        self._mailboxes.record(claim, settlement, new=False, next_row_at=following, now=now)
        return Tally(dead=len(buried))

    def _postpone(self, head: Head, at: EpochMs) -> None:
        """Set when the mailbox is looked at again: when its rows, its gate or the end of its quiet hours say.

        Later while it is disabled, never when it is empty. Nothing is written when that is set already.
        """
        now = self._clock()
        timed = head.due_at > now if head.due_at is not None else not head.waiting
        if timed:
            return
        claim = self._courier.claim(head, ())
        if claim is None:
            return
        if claim.destination.disabled:
            at = EpochMs(now + self._settings.policies.alert.cap)
        settlement = Settlement(failures=head.failures, gate_until=head.gate_until)
        self._mailboxes.record(claim, settlement, new=False, next_row_at=at if claim.waiting else None, now=now)

    def _backoff(self, head: Head, row: Row) -> Backoff:
        return self._settings.policies.backoff(row.notification.kind, head.destination.channel)

    def _expiry(self, row: Row) -> Milliseconds:
        return self._settings.policies.of(row.notification.kind).expiry

    def _urgent(self, row: Row) -> bool:
        return self._settings.policies.of(row.notification.kind).urgent

    def _up_to_date(self, notification: Notification) -> Notification:
        """News that is told late, with the ad's latest known price."""
        event = notification.event
        if not isinstance(event, AdEvent) or self._clock() - event.found < LATE:
            return notification
        search = self._searches.get(notification.search)
        known = search.cursor.window if search is not None and search.cursor is not None else ()
        low = next((ad.low for ad in known if ad.id == event.ad), None)
        if low is None or event.price is None or low >= event.price:
            return notification
        return replace(notification, event=replace(event, price=low))

    def _filters(self, notification: Notification) -> tuple[Filters, ...]:
        """The filters of the watches that still want it; none when they were all removed."""
        if isinstance(notification.event, OperatorAlert | Trial):
            return (Filters(),)
        found = (self._watches.get(notification.search, watch) for watch in notification.watches)
        return tuple(watch.filters for watch in found if watch is not None)


def _sizes(count: int, settings: DeliverySettings) -> Iterable[int]:
    """How many notifications each message takes: one by one up to the threshold, clubs beyond it."""
    if count <= settings.club_threshold:
        return [1] * count
    full, left = divmod(count, settings.batch)
    return [settings.batch] * full + ([left] if left else [])
