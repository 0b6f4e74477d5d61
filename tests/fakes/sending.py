"""A channel, secrets and a clock that do as they are told."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lago.courier import Courier, DeliverySettings
from lago.delivery import Sender
from lago.domain.backoff import ALERT, Backoff
from lago.domain.event import EventKind
from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.kinds import KINDS, KindPolicy, Policies
from lago.domain.notification import Destination, Message
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.store.deliveries import DeliveryStore
from lago.store.mailboxes import MailboxStore
from lago.store.searches import SearchStore
from lago.store.watches import WatchStore
from tests.builders import NOW, a_watch
from tests.fakes.deliveries import FakeDeliveries
from tests.fakes.mailboxes import FakeMailboxes
from tests.fakes.searches import FakeSearches
from tests.fakes.watches import FakeWatches

MINUTE = 60_000
TIMEOUT = Milliseconds(10_000)


class FakeClock:
    """Time that moves when it is told to, or slept."""

    def __init__(self, now: int = NOW) -> None:
        self.now = now

    def __call__(self) -> EpochMs:
        return EpochMs(self.now)

    def sleep(self, length: Milliseconds) -> None:
        self.now += length


class WorkerKilledError(BaseException):
    """The process is gone: nothing in it gets to clean up."""


@dataclass
class FakeChannel:
    """Answers with the outcomes it was given, then delivers; remembers every message."""

    outcomes: list[Outcome | BaseException] = field(default_factory=list)
    sent: list[Message] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    before_send: Callable[[Message], None] | None = None
    name: str = "telegram"
    timeout: Milliseconds = TIMEOUT

    def spacing(self, address: str) -> Milliseconds:
        return Milliseconds(1_000)

    def send(self, destination: Destination, secret: str, message: Message) -> Outcome:
        if self.before_send:
            self.before_send(message)
        self.sent.append(message)
        self.secrets.append(secret)
        outcome = self.outcomes.pop(0) if self.outcomes else DELIVERED
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    @property
    def ads(self) -> list[list[str]]:
        """The ads of each message that was sent."""
        return [[getattr(each.event, "ad", "live") for each in message.notifications] for message in self.sent]


@dataclass
class FakeSecrets:
    """`known` is what the function remembers, `stored` what is kept by now."""

    known: str = "1:secret"
    stored: str = "1:secret"

    def get(self, name: str, *, anew: bool = False) -> str:
        self.known = self.stored if anew else self.known
        return self.known


@dataclass
class Post:
    """A sender on the store under test, with everything it needs at hand."""

    clock: FakeClock
    channel: FakeChannel
    mailboxes: MailboxStore
    deliveries: DeliveryStore
    watches: WatchStore
    sender: Sender

    @property
    def deadline(self) -> EpochMs:
        return EpochMs(self.clock() + 60_000)


def a_post(
    *outcomes: Outcome | BaseException,
    policy: Backoff = ALERT,
    jitter: float = 0.5,
    threshold: int = 3,
    channel: Any = None,
    channel_name: str = "telegram",
    kinds: Mapping[EventKind, KindPolicy] = KINDS,
    in_memory: bool = False,
    secrets: FakeSecrets | None = None,
) -> Post:
    """`channel` stands in for one that answers with `outcomes`; `in_memory` needs no database and is as quick."""
    clock, channel = FakeClock(), channel or FakeChannel(list(outcomes))
    mailboxes: Any = FakeMailboxes() if in_memory else MailboxStore(1)
    deliveries: Any = FakeDeliveries() if in_memory else DeliveryStore(400)
    watches: Any = FakeWatches(a_watch()) if in_memory else WatchStore(1)
    searches: Any = FakeSearches() if in_memory else SearchStore()
    courier = Courier(
        mailboxes=mailboxes,
        deliveries=deliveries,
        watches=watches,
        channels={channel_name: channel},
        secrets=secrets or FakeSecrets(),
        settings=DeliverySettings(
            policies=Policies(alert=policy, kinds=kinds), lease=Milliseconds(60_000), club_threshold=threshold
        ),
        clock=clock,
        sleep=clock.sleep,
        random=lambda: jitter,
    )
    return Post(clock, channel, mailboxes, deliveries, watches, Sender(courier, searches))


def outage(reason: str = "HTTP 500") -> Outcome:
    return Outcome(kind=OutcomeKind.OUTAGE, reason=reason)


def gate(ms: int) -> Outcome:
    return Outcome(kind=OutcomeKind.GATE, reason="HTTP 429", retry_after=Milliseconds(ms))


def refused(kind: OutcomeKind, reason: str = "no") -> Outcome:
    return Outcome(kind=kind, reason=reason)
