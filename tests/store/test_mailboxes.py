"""The notification queue on DynamoDB keeps the contract that the in-memory fake keeps."""

from lago.domain.ids import EpochMs
from lago.ports import Mailboxes
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import QueueItem
from tests.builders import ME, NOW, a_row
from tests.contracts.mailboxes_contract import MailboxesContract
from tests.contracts.mailboxes_dead_contract import MailboxesDeadContract
from tests.contracts.mailboxes_destinations_contract import MailboxesDestinationsContract
from tests.contracts.mailboxes_outcomes_contract import MailboxesOutcomesContract


class TestMailboxStore(MailboxesContract):
    def make_queue(self, shards: int = 1) -> Mailboxes:
        return MailboxStore(shards)

    def test_a_claim_whose_answer_was_lost_and_repeated_is_still_a_claim(self, monkeypatch) -> None:
        queue, row = self.a_queue(), a_row()
        head = queue.head(ME)
        apply = QueueItem.update

        def applied_twice(item, actions, condition=None):
            apply(item, actions, condition=condition)
            return apply(item, actions, condition=condition)

        monkeypatch.setattr(QueueItem, "update", applied_twice)

        claim = queue.claim(head, [row.id], now=NOW, lease_until=EpochMs(NOW + 60_000))

        assert claim.epoch == 1


class TestMailboxStoreDestinations(MailboxesDestinationsContract):
    def make_queue(self, shards: int = 1) -> Mailboxes:
        return MailboxStore(shards)


class TestMailboxStoreOutcomes(MailboxesOutcomesContract):
    def make_queue(self, shards: int = 1) -> Mailboxes:
        return MailboxStore(shards)


class TestMailboxStoreDead(MailboxesDeadContract):
    def make_queue(self, shards: int = 1) -> Mailboxes:
        return MailboxStore(shards)
