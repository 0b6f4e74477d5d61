"""A far side on a bad day, and the time in which it is written to."""

import time
from collections import Counter, defaultdict
from random import Random
from threading import Lock

from lago.domain.ids import DestinationId, EpochMs, Milliseconds, NotificationId
from lago.domain.notification import Destination, Message
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from tests.builders import NOW

SHARES = {
    OutcomeKind.OUTAGE: 0.20,
    OutcomeKind.GATE: 0.05,
    OutcomeKind.AMBIGUOUS: 0.05,
    OutcomeKind.MESSAGE: 0.02,
    OutcomeKind.DESTINATION: 0.01,
}
"""Answers of 500, 429, none at all, 400 and 403; the rest is delivered."""
LATENCY = 0.0005
"""Seconds, for real: long enough that every other thread gets its turn meanwhile."""


class StandingClock:
    """Time that stands still while drains run, so that no lease ends under a thread that had to wait for its turn.

    What a sender would sleep (a channel's own pace) is added up.
    """

    def __init__(self) -> None:
        self.now = int(NOW)
        self.slept = 0
        self._lock = Lock()

    def __call__(self) -> EpochMs:
        return EpochMs(self.now)

    def sleep(self, length: Milliseconds) -> None:
        with self._lock:
            self.slept += length


class FarSide:
    """A channel that answers by its dice: the n-th try of a message has one fate, whichever thread brings it."""

    name = "telegram"
    timeout = Milliseconds(10_000)

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.heard: dict[NotificationId, list[OutcomeKind]] = defaultdict(list)
        self.charged: Counter[NotificationId] = Counter()
        """What each message should have been charged for: see `lago.domain.mailbox.settle`."""
        self.told: dict[DestinationId, list[NotificationId]] = defaultdict(list)
        """What each chat was told, in that order."""
        self.answers: Counter[OutcomeKind] = Counter()
        self.blocked: set[DestinationId] = set()
        self.broken: list[str] = []
        """Promises that were not kept."""
        self._sending: set[DestinationId] = set()
        self._lock = Lock()

    def spacing(self, address: str) -> Milliseconds:
        return Milliseconds(1_000)

    def send(self, destination: Destination, secret: str, message: Message) -> Outcome:
        chat, ids = destination.id, [each.id for each in message.notifications]
        with self._lock:
            if chat in self._sending:
                self.broken.append(f"two senders at a time for {chat}")
            if chat in self.blocked:
                self.broken.append(f"{chat} blocked us and is still written to")
            self._sending.add(chat)
            tries = len(self.heard[ids[0]])
        time.sleep(LATENCY)  # others come in between: a second sender would be caught here
        outcome = self._answer(Random(f"{self.seed} {ids[0]} {tries}"))
        with self._lock:
            self._remember(chat, ids, outcome.kind)
            self._sending.discard(chat)
        return outcome

    def _answer(self, dice: Random) -> Outcome:
        thrown = dice.random()
        for kind, share in SHARES.items():
            if thrown < share:
                retry_after = Milliseconds(dice.randrange(5_000, 90_000)) if kind is OutcomeKind.GATE else None
                return Outcome(kind=kind, reason=f"a bad day: {kind.value}", retry_after=retry_after)
            thrown -= share
        return DELIVERED

    def _remember(self, chat: DestinationId, ids: list[NotificationId], kind: OutcomeKind) -> None:
        self.answers[kind] += 1
        for id_ in ids:
            self.heard[id_].append(kind)
        if kind is OutcomeKind.OUTAGE:
            self.charged[ids[0]] += 1
        if kind is OutcomeKind.AMBIGUOUS:
            self.charged.update(ids)
        if kind is OutcomeKind.DELIVERED:
            self.told[chat] += ids
        if kind is OutcomeKind.DESTINATION:
            self.blocked.add(chat)
