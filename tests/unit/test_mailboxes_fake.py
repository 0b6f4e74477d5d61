"""The in-memory queue, delivery log and watches keep the same promises as DynamoDB."""

from lago.ports import Deliveries, Mailboxes, Watches
from tests.contracts.deliveries_contract import DeliveriesContract
from tests.contracts.mailboxes_contract import MailboxesContract
from tests.contracts.mailboxes_dead_contract import MailboxesDeadContract
from tests.contracts.mailboxes_destinations_contract import MailboxesDestinationsContract
from tests.contracts.mailboxes_outcomes_contract import MailboxesOutcomesContract
from tests.contracts.mailboxes_races_contract import MailboxesRacesContract
from tests.contracts.watches_contract import WatchesContract
from tests.fakes.deliveries import FakeDeliveries
from tests.fakes.mailboxes import FakeMailboxes
from tests.fakes.watches import FakeWatches


class TestFakeMailboxes(MailboxesContract):
    def make_queue(self, shards: int = 1) -> Mailboxes:
        return FakeMailboxes(shards)


class TestFakeMailboxesRaces(MailboxesRacesContract):
    def make_queue(self, shards: int = 1) -> Mailboxes:
        return FakeMailboxes(shards)


class TestFakeMailboxesDestinations(MailboxesDestinationsContract):
    def make_queue(self, shards: int = 1) -> Mailboxes:
        return FakeMailboxes(shards)


class TestFakeMailboxesOutcomes(MailboxesOutcomesContract):
    def make_queue(self, shards: int = 1) -> Mailboxes:
        return FakeMailboxes(shards)


class TestFakeMailboxesDead(MailboxesDeadContract):
    def make_queue(self, shards: int = 1) -> Mailboxes:
        return FakeMailboxes(shards)


class TestFakeDeliveries(DeliveriesContract):
    def make_deliveries(self) -> Deliveries:
        return FakeDeliveries()


class TestFakeWatches(WatchesContract):
    def make_watches(self) -> Watches:
        return FakeWatches()
