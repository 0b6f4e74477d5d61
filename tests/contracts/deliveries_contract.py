"""What every delivery log must do, the in-memory fake and DynamoDB alike. Subclass and implement `make_deliveries`."""

from lago.domain.ids import DestinationId, EpochMs, Minor
from lago.domain.resolve import Told
from lago.ports import Deliveries
from tests.builders import ME, NOW, a_live_event, an_event

YOU = DestinationId("you")


class DeliveriesContract:
    def make_deliveries(self) -> Deliveries:
        """A fresh, empty log."""
        raise NotImplementedError

    def test_what_nobody_was_told_is_not_in_the_log(self) -> None:
        assert self.make_deliveries().told(ME, [an_event("1"), a_live_event("w1")]) == {}

    def test_an_ad_that_was_told_is_known_with_its_price_to_that_destination_alone(self) -> None:
        log = self.make_deliveries()

        log.log(ME, [an_event("1", price=12_000)], NOW)

        assert log.told(ME, [an_event("1"), an_event("2")]) == {"willhaben/1": Told(Minor(12_000), NOW)}
        assert log.told(YOU, [an_event("1")]) == {}

    def test_an_ad_without_a_price_and_a_watch_that_began_are_known_too(self) -> None:
        log = self.make_deliveries()

        log.log(ME, [an_event("1", price=None), a_live_event("w1")], NOW)

        told = {"willhaben/1": Told(None, NOW), "live/w1": Told(None, NOW)}
        assert log.told(ME, [an_event("1"), a_live_event("w1"), a_live_event("w2")]) == told

    def test_the_price_that_counts_is_the_one_told_last(self) -> None:
        log, later = self.make_deliveries(), EpochMs(NOW + 60_000)
        log.log(ME, [an_event("1", price=12_000)], NOW)

        log.log(ME, [an_event("1", kind="price_drop", price=9_000)], later)

        assert log.told(ME, [an_event("1")]) == {"willhaben/1": Told(Minor(9_000), later)}

    def test_logging_the_same_twice_is_once(self) -> None:
        log = self.make_deliveries()
        for _ in range(2):
            log.log(ME, [an_event("1")], NOW)

        assert log.told(ME, [an_event("1")]) == {"willhaben/1": Told(Minor(12_000), NOW)}

    def test_two_events_of_one_ad_are_asked_for_together(self) -> None:
        log = self.make_deliveries()
        log.log(ME, [an_event("1", price=12_000)], NOW)

        asked = [an_event("1", price=12_000), an_event("1", kind="price_drop", price=9_000)]

        assert log.told(ME, asked) == {"willhaben/1": Told(Minor(12_000), NOW)}

    def test_as_many_ads_as_an_outbox_holds_are_looked_up_at_once(self) -> None:
        log = self.make_deliveries()
        events = [an_event(str(n)) for n in range(150)]
        log.log(ME, events, NOW)

        assert len(log.told(ME, events)) == 150
