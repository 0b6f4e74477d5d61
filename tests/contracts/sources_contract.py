"""What every store of source health must do, the in-memory fake and DynamoDB alike. Implement `make_sources`."""

from lago.domain.ids import SourceName
from lago.ports import Sources
from tests.contracts.searches_contract import BLOCKED, WILLHABEN


class SourcesContract:
    def make_sources(self) -> Sources:
        raise NotImplementedError

    def test_a_source_is_healthy_until_something_else_is_recorded(self) -> None:
        sources = self.make_sources()
        assert sources.health(WILLHABEN) is None

        sources.set_health(WILLHABEN, BLOCKED)
        assert sources.health(WILLHABEN) == BLOCKED
        assert sources.health(SourceName("other")) is None

    def test_a_recovery_is_recorded_and_can_be_recorded_twice(self) -> None:
        sources = self.make_sources()
        sources.set_health(WILLHABEN, BLOCKED)

        sources.set_health(WILLHABEN, None)
        sources.set_health(WILLHABEN, None)

        assert sources.health(WILLHABEN) is None
