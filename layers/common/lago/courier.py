"""Carries one message under its mailbox's claim: looks up what was told, sends what is news, logs it, settles."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from lago.channels.base import Channel
from lago.domain.ids import Clock, DestinationId, EpochMs, Milliseconds, NotificationId, Sleep
from lago.domain.kinds import Policies
from lago.domain.mailbox import Head, Row, Settlement, settle, settled
from lago.domain.notification import Message, Notification
from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.resolve import resolve
from lago.domain.watch import Filters
from lago.errors import ConflictError, LagoError, StoreUnavailableError
from lago.ports import Deliveries, Mailboxes, Watches
from lago.store.deliveries import telling

log = logging.getLogger(__name__)

PATIENCE = Milliseconds(3_500)
"""A gate that opens this soon (a channel's own pace) is waited for; a longer one sends the message to the queue."""
RETURNED = Milliseconds(1_000)
"""How soon a message comes again whose claim the store's slowness used up before it was sent, uncharged."""
PARKED = Milliseconds(300_000)
"""How long a message of a channel that this version does not know waits, uncharged."""


class DeliverySettings(Struct, frozen=True, kw_only=True):
    """`lease` outlasts a send (ms), `policies` say what holds for each kind, `batch` is the rows of a club at most."""

    policies: Policies
    lease: Milliseconds
    club_threshold: int
    batch: int = 50
    margin: Milliseconds = Milliseconds(2_000)


class Secrets(Protocol):
    """The one store of user-given secrets."""

    def get(self, name: str, *, anew: bool = False) -> str:
        """The secret of that name, read `anew` or as it was up to some minutes ago. Raises LagoError."""
        ...


class Channels(Protocol):
    """The channels by name."""

    def get(self, name: str, /) -> Channel | None:
        """The channel, or None for one that this version does not know."""
        ...


class Candidate(NamedTuple):
    """A row on its way, and the filters of the watches that it is for."""

    row: Row
    filters: tuple[Filters, ...]


class Tally(Struct, kw_only=True):
    """What became of notifications; `retried` and `ambiguous` (no answer came) count messages."""

    delivered: int = 0
    queued: int = 0
    silent: int = 0
    cancelled: int = 0
    dead: int = 0
    retried: int = 0
    ambiguous: int = 0

    def add(self, other: "Tally") -> None:
        """Sum up."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Sent(NamedTuple):
    """A message that was settled: the mailbox as it is then, and what became of the notifications."""

    head: Head
    tally: Tally


class Courier:
    """What both ways out share: from the outbox and from the queue."""

    def __init__(
        self,
        *,
        mailboxes: Mailboxes,
        deliveries: Deliveries,
        watches: Watches,
        channels: Channels,
        secrets: Secrets,
        settings: DeliverySettings,
        clock: Clock,
        sleep: Sleep,
        random: Callable[[], float],
    ) -> None:
        """Everything that is not a decision comes in here: stores, channels, clock, sleep and randomness."""
        self.mailboxes, self.watches, self.settings, self.clock = mailboxes, watches, settings, clock
        self._deliveries, self._channels, self._secrets = deliveries, channels, secrets
        self._sleep, self._random = sleep, random

    def may_start(self, head: Head, deadline: EpochMs) -> bool:
        """Whether a send that starts now ends, at its slowest, before the function and the lease do."""
        channel = self._channels.get(head.destination.channel)
        slowest = (channel.timeout if channel else 0) + self.settings.margin + PATIENCE
        return self.clock() + slowest <= deadline and slowest <= self.settings.lease

    def gate_opened(self, head: Head) -> bool:
        """Whether the mailbox may send now; waits for a gate that opens within `PATIENCE`."""
        pause = head.gate_until - self.clock()
        if pause > PATIENCE:
            return False
        if pause > 0:
            self._sleep(Milliseconds(pause))
        return True

    def claim(self, head: Head, ids: Iterable[NotificationId], *, lost: tuple[Row, ...] = ()) -> Head | None:
        """Become the one sender of a message; None when another was first. See `Mailboxes.claim`."""
        now = self.clock()
        ids = tuple(ids)
        try:
            return self.mailboxes.claim(
                head,
                ids,
                now=now,
                lease_until=EpochMs(now + self.settings.lease),
                lost=lost,
                suspects=head.suspects_beside((*ids, *(row.id for row in lost)), now),
            )
        except ConflictError:
            return None

    def told(self, destination: DestinationId, rows: Iterable[Row]) -> tuple[NotificationId, ...]:
        """Which of these rows the log knows as delivered: no news is left in them."""
        rows = tuple(rows)
        log_ = self._deliveries.told(destination, [row.notification.event for row in rows])
        anyone = (Filters(),)

        def is_told(row: Row) -> bool:
            before = log_.get(row.notification.event.subject)
            return before is not None and resolve(row.notification, before, anyone) is None

        return tuple(row.id for row in rows if is_told(row))

    @contextmanager
    def refunding(self, claim: Head) -> Iterator[None]:
        """Give the claim back when the store fails before anything was sent: nothing was in the air."""
        try:
            yield
        except StoreUnavailableError:
            same = Settlement(failures=claim.failures, gate_until=claim.gate_until)
            with suppress(StoreUnavailableError):
                self.mailboxes.release(claim, same, now=self.clock())
            raise

    def send(
        self,
        claim: Head,
        candidates: list[Candidate],
        *,
        stored: bool,
        next_row_at: EpochMs | None,
        deadline: EpochMs,
        latest: Callable[[Notification], Notification] = lambda news: news,
    ) -> Sent:
        """Under the claim: look up what was told, send what is news as `latest` has it, log it, settle."""
        rows, silent, cancelled = [], [], []
        with self.refunding(claim):
            told = self._deliveries.told(
                claim.destination.id, [candidate.row.notification.event for candidate in candidates]
            )
            for row, filters in candidates:
                about = row.notification.event.subject
                news = resolve(row.notification, told.get(about), filters)
                if not filters:
                    cancelled.append(row.id)
                elif news is None:
                    silent.append(row.id)
                else:
                    news = latest(news)
                    rows.append(replace(row, notification=news))
                    told[about] = telling(news.event, self.clock())  # two of one ad in a club are one story
        settlement = Settlement(failures=claim.failures, gate_until=claim.gate_until)
        if rows:
            settlement = self._send_rows(claim, tuple(rows), stored=stored, deadline=deadline)
        settlement = replace(settlement, done=(*settlement.done, *silent, *cancelled))
        self._settle(claim, settlement, stored=stored, next_row_at=next_row_at)
        died = sum(row.died is not None for row in settlement.kept)
        tally = Tally(
            delivered=len(rows) if settlement.delivered else 0,
            silent=len(silent),
            cancelled=len(cancelled),
            dead=died,
            queued=0 if stored else len(settlement.kept) - died,
            retried=int(stored and bool(rows)),
            ambiguous=int(any(row.history[-1].kind == OutcomeKind.AMBIGUOUS for row in settlement.kept if row.history)),
        )
        head = settled(claim, settlement, self.clock())
        if not stored:
            head = replace(head, waiting=claim.waiting + tally.queued)
        return Sent(head, tally)

    def _send_rows(self, claim: Head, rows: tuple[Row, ...], *, stored: bool, deadline: EpochMs) -> Settlement:
        destination, policies = claim.destination, self.settings.policies
        channel = self._channels.get(destination.channel)
        message = Message(notifications=tuple(row.notification for row in rows))
        outcome = self._outcome(channel, claim, message, deadline)
        now = self.clock()
        extra = {"destination": destination.id, "outcome": outcome.kind.value, "reason": outcome.reason}
        kinds = [row.notification.kind for row in rows]
        log.info("sent", extra={**extra, "kinds": kinds, "notifications": [row.id for row in rows]})
        if outcome.kind is OutcomeKind.DELIVERED:
            self._log(claim, rows, now, stored=stored)
        if outcome.kind is OutcomeKind.DESTINATION:
            self.pause_watches(rows, outcome.reason)
        return settle(
            claim,
            rows,
            outcome,
            policy=lambda row: policies.backoff(row.notification.kind, destination.channel),
            resend=lambda row: policies.of(row.notification.kind).resend,
            spacing=channel.spacing(outcome.address or destination.address) if channel else Milliseconds(0),
            now=now,
            random=self._random,
        )

    def _log(self, claim: Head, rows: tuple[Row, ...], now: EpochMs, *, stored: bool) -> None:
        try:
            self._deliveries.log(claim.destination.id, (row.notification.event for row in rows), now)
        except StoreUnavailableError:
            # told all the same: what is a row by now is not to be sent again
            self.mailboxes.acknowledge(claim.destination, [row.id for row in rows])
            if stored:
                self.mailboxes.release(claim, Settlement(gate_until=claim.gate_until, delivered=1), now=now)
            raise

    def _outcome(self, channel: Channel | None, claim: Head, message: Message, deadline: EpochMs) -> Outcome:
        destination = claim.destination
        if channel is None:
            reason = f"this version knows no channel {destination.channel!r}"
            return Outcome(kind=OutcomeKind.GATE, reason=reason, retry_after=PARKED)
        try:
            fresh = any(self.settings.policies.of(each.kind).fresh_secret for each in message.notifications)
            secret = self._secrets.get(destination.credentials, anew=fresh)
        except LagoError as error:
            return Outcome(kind=OutcomeKind.OUTAGE, reason=str(error))
        ends = self.clock() + channel.timeout
        if ends + self.settings.margin > deadline or (claim.lease_until is not None and ends > claim.lease_until):
            # store and secret were slow: the function would end in the middle, or another claim the mailbox
            return Outcome(kind=OutcomeKind.GATE, reason="no time left under the claim", retry_after=RETURNED)
        outcome = channel.send(destination, secret, message)
        if outcome.kind is OutcomeKind.DESTINATION and self._is_replaced(destination.credentials, secret):
            # what was refused is what the person has mended since
            return Outcome(kind=OutcomeKind.GATE, reason=outcome.reason, retry_after=RETURNED)
        return outcome

    def _is_replaced(self, name: str, secret: str) -> bool:
        with suppress(LagoError):
            return self._secrets.get(name, anew=True) != secret
        return False

    def _settle(self, claim: Head, settlement: Settlement, *, stored: bool, next_row_at: EpochMs | None) -> None:
        if settlement.recovered and claim.dead:
            self._redrive_outage(claim)  # before the recovery is recorded: dying in between, it is noticed again
        now = self.clock()
        if stored or settlement.kept or settlement.address:
            self.mailboxes.record(claim, settlement, new=not stored, next_row_at=next_row_at, now=now)
        else:
            self.mailboxes.release(claim, settlement, now=now)

    def _redrive_outage(self, claim: Head) -> None:
        """What died of an outage comes back once by itself when its destination answers again (design, rule 6)."""
        rows = [row for row in self.mailboxes.dead(claim.destination.id) if row.dead_reason == "outage"]
        first_time = [row for row in rows if row.generation == 0]
        if first_time:
            self.mailboxes.redrive(claim.destination, first_time, now=self.clock())

    def pause_watches(self, rows: tuple[Row, ...], reason: str) -> None:
        """Pause the watches that have no working destination left, with the reason."""
        for notification in (row.notification for row in rows):
            for id_ in notification.watches:
                watch = self.watches.get(notification.search, id_)
                if watch is None or watch.paused:
                    continue
                others = [
                    self.mailboxes.head(other) for other in watch.destinations if other != notification.destination
                ]
                if all(head is None or head.destination.disabled for head in others):
                    self.watches.set_paused(watch, reason or "the destination refuses messages")
