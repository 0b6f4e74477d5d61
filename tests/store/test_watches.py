"""Watches on DynamoDB keep the contract that the in-memory fake keeps."""

from lago.ports import Watches
from lago.store.watches import WatchStore
from tests.contracts.watches_contract import WatchesContract


class TestWatchStore(WatchesContract):
    def make_watches(self) -> Watches:
        return WatchStore()
