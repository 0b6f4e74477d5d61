"""Sends messages under their mailbox's claim: the one way out, shared by Notify (from the outbox) and Drain (rows)."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from lago.channels.base import Channel
from lago.domain.backoff import Backoff
from lago.domain.ids import Clock, DestinationId, EpochMs, Milliseconds, NotificationId, Sleep
from lago.domain.mailbox import Head, Row, Settlement, dead, lost_in_the_air, settle, settled
from lago.domain.notification import Destination, Message, Notification
from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.resolve import resolve
from lago.domain.watch import Filters
from lago.errors import ConflictError, LagoError, StoreUnavailableError
from lago.store.deliveries import DeliveryStore, subject, telling
from lago.store.mailboxes import MailboxStore
from lago.store.watches import WatchStore

log = logging.getLogger(__name__)

PATIENCE = Milliseconds(3_500)
"""A gate that opens this soon (a channel's own pace) is waited for; a longer one sends the message to the queue."""
RETURNED = Milliseconds(1_000)
"""How soon a message comes again whose claim the store's slowness used up before it was sent, uncharged."""
PARKED = Milliseconds(300_000)
"""How long a message of a channel that this version does not know waits, uncharged."""


class DeliverySettings(Struct, frozen=True, kw_only=True):
    """`lease` outlasts a send, `expiry` is how long an alert is of use, `batch` the rows of a club at most. In ms."""

    policy: Backoff
    lease: Milliseconds
    club_threshold: int
    batch: int = 50
    margin: Milliseconds = Milliseconds(2_000)
    expiry: Milliseconds = Milliseconds(24 * 3_600_000)


class Secrets(Protocol):
    """The one store of user-given secrets."""

    def get(self, name: str) -> str:
        """The secret of that name. Raises LagoError when it can't be read."""
        ...


class Candidate(NamedTuple):
    """A row on its way, and the filters of the watches that it is for."""

    row: Row
    filters: tuple[Filters, ...]


class Tally(Struct, kw_only=True):
    """What became of notifications: delivered, queued, without news, cancelled, dead; and messages retried."""

    delivered: int = 0
    queued: int = 0
    silent: int = 0
    cancelled: int = 0
    dead: int = 0
    retried: int = 0

    def add(self, other: "Tally") -> None:
        """Sum up."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class _Sent(NamedTuple):
    head: Head
    tally: Tally


class Sender:
    """One sender per mailbox, in order, on every path (design, rule 4)."""

    def __init__(
        self,
        *,
        mailboxes: MailboxStore,
        deliveries: DeliveryStore,
        watches: WatchStore,
        channels: Mapping[str, Channel],
        secrets: Secrets,
        settings: DeliverySettings,
        clock: Clock,
        sleep: Sleep,
        random: Callable[[], float],
    ) -> None:
        """Everything that is not a decision comes in here: stores, channels, clock, sleep and randomness."""
        self._mailboxes, self._deliveries, self._watches = mailboxes, deliveries, watches
        self._channels, self._secrets, self._settings = channels, secrets, settings
        self._clock, self._sleep, self._random = clock, sleep, random

    # from the outbox

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
        rest = list(candidates)
        for size in _sizes(len(rest), self._settings):
            message, later = rest[:size], rest[size:]
            sent = self._deliver_one(head, message, deadline)
            if sent is None:
                break
            head, rest = sent.head, later
            tally.add(sent.tally)
        if rest:
            rows = tuple(candidate.row for candidate in rest)
            tally.queued += self._enqueue(head, rows)
            if head.destination.disabled:
                self._pause_watches(rows, head.destination.disabled)
        return tally

    def _deliver_one(self, head: Head, message: list[Candidate], deadline: EpochMs) -> _Sent | None:
        """One message at once, or None when it has to queue: rows that wait are never overtaken."""
        now = self._clock()
        ids = [candidate.row.id for candidate in message]
        crashed = head.lost(now).intersection(ids)
        blocked = head.waiting or head.failures or head.destination.disabled or head.leased(now) or crashed
        if blocked or not self._may_start(head, deadline) or not self._gate_opened(head):
            return None
        claim = self._claim(head, ids)
        if claim is None:
            return None
        return self._send(claim, message, stored=False, next_row_at=None)

    def _enqueue(self, head: Head, rows: tuple[Row, ...]) -> int:
        """Queue rows; what a dead sender left in the air is charged now that it is back (design, rule 4)."""
        now = self._clock()

        def charged(row: Row) -> Row:
            return lost_in_the_air(row, self._settings.policy, now)

        return self._mailboxes.enqueue(head.destination, rows, now=now, charged=charged)

    # from the queue

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
        if head is None or head.leased(now) or not self._may_start(head, deadline):
            return None
        if not self._gate_opened(head):
            self._postpone(head, [])
            return None
        rows = self._mailboxes.waiting(destination, self._settings.batch + 1)
        lost = self._lost_rows(head, rows)
        if lost:
            return self._charge_lost(head, lost)
        now = self._clock()
        ready = [row for row in rows if row.next_attempt_at <= now]
        expired = [row for row in ready if now - row.created > self._settings.expiry]
        if expired:
            return self._bury(head, expired, rows)
        if head.destination.disabled or not ready:
            self._postpone(head, rows)
            return None
        message = self._choose(head, ready)
        chosen = {row.id for row in message}
        claim = self._claim(head, chosen)
        if claim is None:
            return None
        with self._refunding(claim):
            candidates = [Candidate(row, self._filters(row.notification)) for row in message]
        following = next((row.next_attempt_at for row in rows if row.id not in chosen), None)
        sent = self._send(claim, candidates, stored=True, next_row_at=following)
        return sent.tally

    def _choose(self, head: Head, ready: list[Row]) -> list[Row]:
        """The next message: one probe after an outage, one row alone after a crash, else a club or the oldest row."""
        if head.failures or ready[0].alone:
            return ready[:1]
        clubbable = [row for row in ready if not row.alone][: self._settings.batch]
        return clubbable if len(clubbable) > self._settings.club_threshold else clubbable[:1]

    def _lost_rows(self, head: Head, rows: list[Row]) -> list[Row]:
        lost = frozenset(head.in_flight)
        found = {row.id: row for row in rows if row.id in lost}
        for id_ in lost - found.keys():
            row = self._mailboxes.row(head.destination.id, id_)
            if row is not None and row.died is None:
                found[id_] = row
        return list(found.values())

    def _charge_lost(self, head: Head, lost: list[Row]) -> Tally | None:
        """Charge what a dead claimer left in the air, in one write with the claim that notices it."""
        now = self._clock()
        charged = tuple(lost_in_the_air(row, self._settings.policy, now) for row in lost)
        claim = self._claim(head, (), lost=charged)
        if claim is None:
            return None
        kept = Settlement(failures=head.failures, gate_until=head.gate_until)
        self._mailboxes.record(claim, kept, new=False, next_row_at=now, now=now)
        log.error("a sender stopped in the middle", extra={"rows": [row.id for row in charged]})
        return Tally(dead=sum(row.died is not None for row in charged))

    def _bury(self, head: Head, expired: list[Row], rows: list[Row]) -> Tally | None:
        now = self._clock()
        claim = self._claim(head, ())
        if claim is None:
            return None
        buried = tuple(dead(row, "expired", now) for row in expired)
        gone = {row.id for row in expired}
        following = next((row.next_attempt_at for row in rows if row.id not in gone), None)
        settlement = Settlement(kept=buried, failures=head.failures, gate_until=head.gate_until)
        self._mailboxes.record(claim, settlement, new=False, next_row_at=following, now=now)
        return Tally(dead=len(buried))

    def _postpone(self, head: Head, rows: list[Row]) -> None:
        """Set when the mailbox is looked at again: when its rows or its gate say, later while it is disabled, or never.

        `rows` are the first that wait, as far as they were read. Nothing is written when that is set already.
        """
        now = self._clock()
        timed = head.due_at > now if head.due_at is not None else not head.waiting
        if timed:
            return
        claim = self._claim(head, ())
        if claim is None:
            return
        gate = EpochMs(now + self._settings.policy.cap) if head.destination.disabled else head.gate_until
        settlement = Settlement(failures=head.failures, gate_until=gate)
        following = min((row.next_attempt_at for row in rows), default=None)
        self._mailboxes.record(claim, settlement, new=False, next_row_at=following, now=now)

    def _filters(self, notification: Notification) -> tuple[Filters, ...]:
        """The filters of the watches that still want it; none when they were all removed."""
        found = (self._watches.get(notification.search, watch) for watch in notification.watches)
        return tuple(watch.filters for watch in found if watch is not None)

    # both

    def _may_start(self, head: Head, deadline: EpochMs) -> bool:
        """Whether a send that starts now ends, at its slowest, before the function and the lease do."""
        channel = self._channels.get(head.destination.channel)
        slowest = (channel.timeout if channel else 0) + self._settings.margin + PATIENCE
        return self._clock() + slowest <= deadline and slowest <= self._settings.lease

    def _gate_opened(self, head: Head) -> bool:
        pause = head.gate_until - self._clock()
        if pause > PATIENCE:
            return False
        if pause > 0:
            self._sleep(Milliseconds(pause))
        return True

    def _claim(self, head: Head, ids: Iterable[NotificationId], *, lost: tuple[Row, ...] = ()) -> Head | None:
        now = self._clock()
        ids = tuple(ids)
        try:
            return self._mailboxes.claim(
                head,
                ids,
                now=now,
                lease_until=EpochMs(now + self._settings.lease),
                lost=lost,
                suspects=head.suspects_beside((*ids, *(row.id for row in lost)), now),
            )
        except ConflictError:
            return None

    @contextmanager
    def _refunding(self, claim: Head) -> Iterator[None]:
        """Give the claim back when the store fails before anything was sent: nothing was in the air."""
        try:
            yield
        except StoreUnavailableError:
            same = Settlement(failures=claim.failures, gate_until=claim.gate_until)
            with suppress(StoreUnavailableError):
                self._mailboxes.release(claim, same, now=self._clock())
            raise

    def _send(self, claim: Head, candidates: list[Candidate], *, stored: bool, next_row_at: EpochMs | None) -> _Sent:
        """Under the claim: look up what was told, send what is news, log it, settle."""
        with self._refunding(claim):
            told = self._deliveries.told(
                claim.destination.id, [candidate.row.notification.event for candidate in candidates]
            )
        rows, silent, cancelled = [], [], []
        for row, filters in candidates:
            about = subject(row.notification.event)
            news = resolve(row.notification, told.get(about), filters)
            if not filters:
                cancelled.append(row.id)
            elif news is None:
                silent.append(row.id)
            else:
                rows.append(replace(row, notification=news))
                told[about] = telling(news.event, self._clock())  # two of one ad in a club are one story
        settlement = Settlement(failures=claim.failures, gate_until=claim.gate_until)
        if rows:
            settlement = self._send_rows(claim, tuple(rows))
        settlement = replace(settlement, done=(*settlement.done, *silent, *cancelled))
        self._settle(claim, settlement, tuple(rows), stored=stored, next_row_at=next_row_at)
        died = sum(row.died is not None for row in settlement.kept)
        tally = Tally(
            delivered=len(rows) if settlement.delivered else 0,
            silent=len(silent),
            cancelled=len(cancelled),
            dead=died,
            queued=0 if stored else len(settlement.kept) - died,
            retried=int(stored and bool(rows)),
        )
        head = settled(claim, settlement, self._clock())
        if not stored:
            head = replace(head, waiting=claim.waiting + tally.queued)
        return _Sent(head, tally)

    def _send_rows(self, claim: Head, rows: tuple[Row, ...]) -> Settlement:
        destination = claim.destination
        channel = self._channels.get(destination.channel)
        outcome = self._outcome(channel, claim, Message(notifications=tuple(row.notification for row in rows)))
        now = self._clock()
        extra = {"destination": destination.id, "outcome": outcome.kind.value, "reason": outcome.reason}
        kinds = [row.notification.kind for row in rows]
        log.info("sent", extra={**extra, "kinds": kinds, "ids": [row.id for row in rows]})
        if outcome.kind is OutcomeKind.DELIVERED:
            self._log(destination, rows, now)
        if outcome.kind is OutcomeKind.DESTINATION:
            self._pause_watches(rows, outcome.reason)
        return settle(
            claim,
            rows,
            outcome,
            policy=self._settings.policy,
            spacing=channel.spacing(outcome.address or destination.address) if channel else Milliseconds(0),
            now=now,
            random=self._random,
        )

    def _log(self, destination: Destination, rows: tuple[Row, ...], now: EpochMs) -> None:
        try:
            self._deliveries.log(destination.id, (row.notification.event for row in rows), now)
        except StoreUnavailableError:
            # told all the same: what is a row by now is not to be sent again
            self._mailboxes.acknowledge(destination, [row.id for row in rows])
            raise

    def _outcome(self, channel: Channel | None, claim: Head, message: Message) -> Outcome:
        destination = claim.destination
        if channel is None:
            reason = f"this version knows no channel {destination.channel!r}"
            return Outcome(kind=OutcomeKind.GATE, reason=reason, retry_after=PARKED)
        try:
            secret = self._secrets.get(destination.credentials)
        except LagoError as error:
            return Outcome(kind=OutcomeKind.OUTAGE, reason=str(error))
        if claim.lease_until is not None and self._clock() + channel.timeout > claim.lease_until:
            # another may claim the mailbox before this send ends
            return Outcome(kind=OutcomeKind.GATE, reason="no time left under the claim", retry_after=RETURNED)
        return channel.send(destination, secret, message)

    def _settle(
        self,
        claim: Head,
        settlement: Settlement,
        rows: tuple[Row, ...],
        *,
        stored: bool,
        next_row_at: EpochMs | None,
    ) -> None:
        if settlement.recovered:
            self._redrive_outage(claim)  # before the recovery is recorded: dying in between, it is noticed again
        now = self._clock()
        if stored:
            self._mailboxes.record(claim, settlement, new=False, next_row_at=next_row_at, now=now)
        elif not settlement.kept and not settlement.address:
            self._mailboxes.release(claim, settlement, now=now)
        elif not self._mailboxes.record(claim, settlement, new=True, next_row_at=None, now=now) and settlement.kept:
            # the claim was lost, so the failure is not ours to record; the message is still to be kept
            self._mailboxes.enqueue(claim.destination, rows, now=now)

    def _redrive_outage(self, claim: Head) -> None:
        """What died of an outage comes back once by itself when its destination answers again (design, rule 6)."""
        rows = [row for row in self._mailboxes.dead(claim.destination.id) if row.dead_reason == "outage"]
        first_time = [row for row in rows if row.generation == 0]
        if first_time:
            self._mailboxes.redrive(claim.destination, first_time, now=self._clock())

    def _pause_watches(self, rows: tuple[Row, ...], reason: str) -> None:
        """Pause the watches that have no working destination left, with the reason."""
        for notification in (row.notification for row in rows):
            for id_ in notification.watches:
                watch = self._watches.get(notification.search, id_)
                if watch is None or watch.paused:
                    continue
                others = [
                    self._mailboxes.head(other) for other in watch.destinations if other != notification.destination
                ]
                if all(head is None or head.destination.disabled for head in others):
                    self._watches.set_paused(watch, reason or "the destination refuses messages")


def _sizes(count: int, settings: DeliverySettings) -> Iterable[int]:
    """How many notifications each message takes: one by one up to the threshold, clubs beyond it."""
    if count <= settings.club_threshold:
        return [1] * count
    full, left = divmod(count, settings.batch)
    return [settings.batch] * full + ([left] if left else [])
