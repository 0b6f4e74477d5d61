"""What the directory of destinations works with, in memory."""

from dataclasses import dataclass, field

from lago.channels.target import RandomBytes, Target, TargetSpec
from lago.domain.ids import DestinationId
from lago.domain.mailbox import Head
from lago.domain.watch import Watch
from lago.errors import BadInputError
from tests.fakes.mailboxes import FakeMailboxes
from tests.fakes.watches import FakeWatches


@dataclass
class KeptSecrets:
    kept: dict[str, str] = field(default_factory=dict)

    def put(self, name: str, value: str) -> None:
        self.kept[name] = value

    def put_if_missing(self, name: str, value: str) -> None:
        self.kept.setdefault(name, value)

    def delete(self, names: tuple[str, ...]) -> None:
        for name in names:
            self.kept.pop(name, None)


class TurningWatches(FakeWatches):
    """Watches that can be listed and sent elsewhere."""

    def all(self) -> list[Watch]:
        return list(self._watches.values())

    def turn(self, watch: Watch, destinations: tuple[DestinationId, ...]) -> bool:
        return self._change((watch.search, watch.id), destinations=destinations)


class FakeRemovals:
    """Takes two rows, and two entries of the log, at a step."""

    def __init__(self, mailboxes: FakeMailboxes) -> None:
        self._mailboxes = mailboxes
        self.listed_ones: set[DestinationId] = set()
        """Destinations of which only the log is left."""
        self.log: dict[DestinationId, int] = {}

    def listed(self, destination: DestinationId) -> bool:
        return destination in self.listed_ones or self._mailboxes.head(destination) is not None

    def clear(self, claim: Head) -> int:
        name = claim.destination.id
        rows = [*self._mailboxes.waiting(name, 2), *self._mailboxes.dead(name)][:2]
        self._mailboxes.acknowledge(claim.destination, [row.id for row in rows])
        return len(rows)

    def forget(self, claim: Head) -> bool:
        self._mailboxes._boxes.pop(claim.destination.id)
        self.listed_ones.add(claim.destination.id)
        return True

    def erase_log(self, destination: DestinationId) -> int:
        erased = min(2, self.log.get(destination, 0))
        self.log[destination] = self.log.get(destination, 0) - erased
        return erased

    def strike(self, destination: DestinationId) -> bool:
        self.listed_ones.discard(destination)
        return True


def a_spec(channel: str) -> TargetSpec:
    """`telegram` takes chats, `email` readers, who get a key each; others secret addresses that begin with https."""

    def chat(given: str, random: RandomBytes) -> Target:
        return Target(address=given)

    def secret(given: str, random: RandomBytes) -> Target:
        if not given.startswith("https://"):
            raise BadInputError("url", "what was given", "an https address")
        return Target(address=given.split("/")[2], secret=given, show=f"key {random(2).hex()}")

    def reader(given: str, random: RandomBytes) -> Target:
        return Target(address=given, secret=random(2).hex())

    makers = {"telegram": chat, "email": reader, "slack": secret, "webhook": secret}
    if channel not in makers:
        raise BadInputError("channel", channel, f"one of {', '.join(makers)}")
    make = makers[channel]
    return TargetSpec(channel=channel, asks="an address", private=make is secret, make=make)
