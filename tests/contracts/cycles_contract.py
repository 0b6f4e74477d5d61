"""What every record of cycles must do, the in-memory fake and DynamoDB alike. Implement `make_cycles`."""

from lago.domain.ids import EpochMs, Milliseconds
from lago.ports import Cycles
from tests.contracts.searches_contract import NOW


class CyclesContract:
    lease = Milliseconds(90_000)

    def make_cycles(self) -> Cycles:
        raise NotImplementedError

    def test_the_first_cycle_has_none_before_it(self) -> None:
        cycle = self.make_cycles().begin(0, NOW, self.lease)

        assert cycle is not None
        assert (cycle.shard, cycle.started, cycle.previous) == (0, NOW, None)
        assert cycle.lease_until == NOW + self.lease

    def test_a_cycle_that_would_overlap_does_not_begin(self) -> None:
        cycles = self.make_cycles()
        cycles.begin(0, NOW, self.lease)

        assert cycles.begin(0, EpochMs(NOW + 60_000), self.lease) is None

    def test_shards_share_the_lease_so_that_a_marketplace_is_not_asked_twice_at_a_time(self) -> None:
        cycles = self.make_cycles()
        first = cycles.begin(0, NOW, self.lease)
        assert first is not None
        assert cycles.begin(1, NOW, self.lease) is None

        cycles.end(first, NOW)

        assert cycles.begin(1, NOW, self.lease) is not None

    def test_each_shard_has_its_own_record(self) -> None:
        cycles = self.make_cycles()
        for shard in (0, 1):
            cycle = cycles.begin(shard, EpochMs(NOW + shard), self.lease)
            assert cycle is not None
            cycles.end(cycle, EpochMs(NOW + shard))

        second = cycles.begin(0, EpochMs(NOW + 60_000), self.lease)

        assert second is not None
        assert second.previous == NOW

    def test_after_the_end_of_one_cycle_the_next_knows_when_it_started(self) -> None:
        cycles = self.make_cycles()
        first = cycles.begin(0, NOW, self.lease)
        assert first is not None
        cycles.end(first, EpochMs(NOW + 5_000))

        second = cycles.begin(0, EpochMs(NOW + 60_000), self.lease)

        assert second is not None
        assert second.previous == NOW

    def test_a_crashed_cycle_holds_the_shard_no_longer_than_its_lease(self) -> None:
        cycles = self.make_cycles()
        cycles.begin(0, NOW, self.lease)

        second = cycles.begin(0, EpochMs(NOW + self.lease), self.lease)

        assert second is not None
        assert second.previous == NOW

    def test_a_cycle_that_outlived_its_lease_does_not_end_its_successor(self) -> None:
        cycles = self.make_cycles()
        slow = cycles.begin(0, NOW, self.lease)
        cycles.begin(0, EpochMs(NOW + 100_000), self.lease)
        assert slow is not None

        cycles.end(slow, EpochMs(NOW + 101_000))

        assert cycles.begin(0, EpochMs(NOW + 102_000), self.lease) is None
