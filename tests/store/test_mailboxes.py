"""The notification queue on DynamoDB keeps the contract that the in-memory fake keeps."""

from msgspec.structs import replace

from lago.domain.ids import EpochMs
from lago.domain.mailbox import Settlement
from lago.domain.notification import Destination
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

    def test_of_two_changes_at_once_none_is_lost(self) -> None:
        queue = self.a_queue()

        def while_another_disables_it(each: Destination) -> Destination:
            if not each.disabled:
                queue.change_destination(ME, lambda now: replace(now, disabled="blocked"))
            return replace(each, quiet=(60, 120))

        queue.change_destination(ME, while_another_disables_it)

        head = queue.head(ME)
        assert head is not None
        assert (head.destination.disabled, head.destination.quiet) == ("blocked", (60, 120))

    def test_a_change_that_met_a_verdict_of_the_far_side_keeps_it(self) -> None:
        queue = self.a_queue()
        claim = queue.claim(queue.head(ME), [a_row().id], now=NOW, lease_until=EpochMs(NOW + 60_000))

        def while_the_far_side_refuses(each: Destination) -> Destination:
            if not each.disabled:
                verdict = Settlement(kept=(a_row(),), disabled="blocked")
                queue.record(claim, verdict, new=True, next_row_at=None, now=EpochMs(NOW + 1))
            return replace(each, quiet=(60, 120))

        queue.change_destination(ME, while_the_far_side_refuses)

        head = queue.head(ME)
        assert head is not None
        assert (head.destination.disabled, head.destination.quiet) == ("blocked", (60, 120))
