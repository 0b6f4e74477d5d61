"""What every store of watches must do, the in-memory fake and DynamoDB alike. Subclass and implement `make_watches`."""

import pytest

from lago.domain.ids import EpochMs, Minor, SearchId, WatchId
from lago.domain.watch import Filters
from lago.errors import ConflictError
from lago.ports import Watches
from tests.builders import NOW, a_query, a_search_id, a_watch

SEARCH = a_search_id()


class WatchesContract:
    def make_watches(self) -> Watches:
        """A fresh, empty store."""
        raise NotImplementedError

    def given(self, *ids: str) -> Watches:
        watches = self.make_watches()
        for id_ in ids or ("w1",):
            watches.add(a_query(), a_watch(id_))
        return watches

    def test_a_watch_comes_back_as_it_was_added(self) -> None:
        watches = self.make_watches()
        filters = Filters(exclude_words=("defekt",), drop_percent=5.0, price_to=Minor(30_000))
        watch = a_watch("w1", destinations=("me", "you"), filters=filters, near=(48.2, 16.4))

        watches.add(a_query(), watch)

        assert watches.get(SEARCH, WatchId("w1")) == watch
        assert watches.of(SEARCH) == [watch]

    def test_a_search_lists_its_own_watches_only(self) -> None:
        watches = self.given("w1", "w2")
        watches.add(a_query("regal"), a_watch("w3", keyword="regal"))

        assert sorted(watch.id for watch in watches.of(SEARCH)) == ["w1", "w2"]
        assert watches.of(SearchId("0.nowhere")) == []
        assert watches.get(SEARCH, WatchId("w3")) is None

    def test_an_id_that_is_taken_conflicts_and_changes_nothing(self) -> None:
        watches = self.given("w1")

        with pytest.raises(ConflictError):
            watches.add(a_query(), a_watch("w1", destinations=("you",)))

        assert watches.of(SEARCH) == [a_watch("w1")]

    def test_a_watch_is_removed_once(self) -> None:
        watches = self.given("w1", "w2")

        assert watches.remove(a_watch("w1"))
        assert not watches.remove(a_watch("w1"))

        assert [watch.id for watch in watches.of(SEARCH)] == ["w2"]

    def test_a_watch_rests_with_a_reason_and_goes_on(self) -> None:
        watches = self.given()

        assert watches.set_paused(a_watch(), "holiday")
        assert watches.get(SEARCH, WatchId("w1")).paused == "holiday"

        assert watches.set_paused(a_watch(), "")
        assert watches.get(SEARCH, WatchId("w1")).paused == ""

    def test_pausing_a_watch_that_is_gone_brings_it_not_back(self) -> None:
        watches = self.given()
        watches.remove(a_watch())

        assert not watches.set_paused(a_watch(), "holiday")
        watches.count_missed(a_watch(), (NOW,))

        assert watches.of(SEARCH) == []

    def test_what_was_missed_is_counted_once_however_often_it_is_told(self) -> None:
        watches = self.given()
        first = (NOW, EpochMs(NOW + 1))

        watches.count_missed(a_watch(), first)
        watches.count_missed(a_watch(), first)
        watches.count_missed(a_watch(), (*first, EpochMs(NOW + 2)))

        assert watches.get(SEARCH, WatchId("w1")).missed == 3
