"""The stores keep on every engine what they keep on moto: the same suites, and what threads do to a queue."""

import pytest

from lago.ports import Mailboxes
from lago.store.mailboxes import MailboxStore
from tests.contracts.mailboxes_races_contract import MailboxesRacesContract
from tests.store.test_deliveries import TestDeliveryStore
from tests.store.test_mailboxes import (
    TestMailboxStore,
    TestMailboxStoreDead,
    TestMailboxStoreDestinations,
    TestMailboxStoreOutcomes,
)
from tests.store.test_searches import TestCycleStore, TestSearchStore, TestSourceStore
from tests.store.test_watches import TestWatchStore

__all__ = [
    "TestCycleStore",
    "TestDeliveryStore",
    "TestMailboxStore",
    "TestMailboxStoreDead",
    "TestMailboxStoreDestinations",
    "TestMailboxStoreOutcomes",
    "TestSearchStore",
    "TestSourceStore",
    "TestWatchStore",
]
pytestmark = pytest.mark.usefixtures("tables")


class TestMailboxStoreRaces(MailboxesRacesContract):
    def make_queue(self, shards: int = 1) -> Mailboxes:
        return MailboxStore(shards)
