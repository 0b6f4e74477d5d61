"""The delivery log on DynamoDB keeps the contract that the in-memory fake keeps."""

from lago.ports import Deliveries
from lago.store.deliveries import DeliveryStore
from tests.contracts.deliveries_contract import DeliveriesContract


class TestDeliveryStore(DeliveriesContract):
    def make_deliveries(self) -> Deliveries:
        return DeliveryStore(days=400)
