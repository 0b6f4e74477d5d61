"""What fails rests alone, concludes nothing about ads and is found again."""

import pytest
from msgspec.structs import replace

from lago.domain.ids import EpochMs, SearchId, SourceName
from lago.domain.query import Query
from lago.domain.search import Search
from lago.errors import (
    SearchError,
    SourceBlockedError,
    SourceUnavailableError,
    StoreUnavailableError,
)
from tests.fakes.house import SETTINGS, House, a_known_house, a_new_ad, a_search
from tests.fakes.market import MINUTE, WILLHABEN, an_ad

# failures


@pytest.mark.parametrize(
    ("error", "kind"), [(SourceBlockedError("403"), "blocked"), (SourceUnavailableError("time-out"), "unavailable")]
)
def test_an_outage_rests_the_source_and_concludes_nothing(error: Exception, kind: str) -> None:
    house = a_known_house(a_search("0.a"), a_search("0.b"))
    before = house.cursor("0.a"), house.cursor("0.b")
    house.market.errors = [error]

    report = house.cycle()

    assert len(house.market.fetched) == 1
    assert (house.cursor("0.a"), house.cursor("0.b")) == before
    health = house.health.health(WILLHABEN)
    assert health is not None
    assert (health.kind, health.failures, health.retry_at) == (kind, 1, house.time.now + MINUTE)
    assert report.errors == {"source": 1}
    assert (report.resting, set(report.resting_because)) == (1, {WILLHABEN})


def test_a_resting_source_is_not_read() -> None:
    house = a_known_house()
    house.market.errors = [SourceBlockedError("403", retry_after_ms=5 * MINUTE)]
    house.cycle()

    report = house.cycle(after=4 * MINUTE)

    assert house.market.fetched == []
    assert report.resting == 1


def test_a_source_is_probed_by_one_search_and_rests_twice_as_long_when_it_fails_again() -> None:
    house = a_known_house(a_search("0.a"), a_search("0.b"))
    house.market.errors = [SourceBlockedError("403"), SourceBlockedError("403")]
    house.cycle()

    house.cycle()

    assert len(house.market.fetched) == 1
    health = house.health.health(WILLHABEN)
    assert health is not None
    assert (health.failures, health.retry_at) == (2, house.time.now + 2 * MINUTE)
    assert health.since == house.time.now - MINUTE


def test_a_source_that_answers_its_probe_is_read_again_by_all_and_in_full() -> None:
    house = a_known_house(a_search("0.a"), a_search("0.b"))
    house.market.errors = [SourceBlockedError("403")]
    house.cycle()

    report = house.cycle()

    assert house.health.health(WILLHABEN) is None
    assert house.market.fetched == [1, 2, 1, 2]
    assert report.read == 2


def test_what_happened_during_an_outage_is_found_after_it() -> None:
    house = a_known_house()
    house.market.errors = [SourceUnavailableError("502")]
    house.cycle()
    ad = a_new_ad(house)

    house.cycle(after=5 * MINUTE)

    assert house.told() == [("new_ad", ad)]


def test_a_source_is_never_silenced_for_more_than_a_day_by_what_it_asks_for() -> None:
    house = a_known_house()
    house.market.errors = [SourceBlockedError("429", retry_after_ms=10**15)]

    house.cycle()

    health = house.health.health(WILLHABEN)
    assert health is not None
    assert health.retry_at == house.time.now + 24 * 60 * MINUTE


def test_a_search_that_cannot_be_read_rests_alone() -> None:
    house = a_known_house(a_search("0.a"), a_search("0.b"))
    before = house.cursor("0.a"), house.cursor("0.b")
    house.market.errors = [SearchError("404")]

    report = house.cycle()

    assert (report.errors, report.read) == ({"search": 1}, 1)
    assert house.health.health(WILLHABEN) is None
    assert (house.cursor("0.a"), house.cursor("0.b")) == before
    resting = [search for search in (house.search("0.a"), house.search("0.b")) if search.health]
    assert [(search.health.kind, search.health.reason) for search in resting if search.health] == [("search", "404")]

    house.cycle(after=MINUTE - 1)
    assert len(house.market.fetched) == 1


def test_a_search_that_can_be_read_again_is_healthy_again() -> None:
    house = a_known_house()
    house.market.errors = [SearchError("404"), SearchError("404")]
    house.cycle()
    house.cycle()
    failed = house.search().health
    assert failed is not None
    assert failed.failures == 2

    house.cycle(after=2 * MINUTE)

    assert house.search().health is None


def test_a_search_error_answers_a_probe() -> None:
    house = a_known_house(a_search("0.a"), a_search("0.b"))
    house.market.errors = [SourceBlockedError("403"), SearchError("404")]
    house.cycle()

    report = house.cycle()

    assert house.health.health(WILLHABEN) is None
    assert (report.errors, report.read) == ({"search": 1}, 1)


def test_an_ignored_filter_is_an_error_and_not_a_thousand_messages() -> None:
    house = a_known_house()
    house.market.ads = {ad.id: ad for ad in (an_ad(930_000_000 + i, published=house.time.now + i) for i in range(99))}
    house.market.total = 12_000_000

    report = house.cycle()

    assert house.told() == []
    assert report.errors == {"search": 1}
    assert "the filter seems to be ignored" in report.notes[0]


def test_a_bug_in_one_search_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    house = a_known_house(a_search("0.a"), a_search("0.b"))
    house.market.errors = [ZeroDivisionError("a bug")]

    report = house.cycle()

    assert report.errors == {"bug": 1}
    assert report.read == 1
    assert "a bug" in caplog.text


def test_a_bug_does_not_keep_a_source_from_being_probed_by_the_next_search() -> None:
    house = a_known_house(a_search("0.a"), a_search("0.b"))
    house.market.errors = [SourceBlockedError("403"), ZeroDivisionError("a bug")]
    house.cycle()

    report = house.cycle()

    assert (report.errors, report.read) == ({"bug": 1}, 1)
    assert house.health.health(WILLHABEN) is None


def test_a_throttled_write_is_counted_and_found_again() -> None:
    house = a_known_house(a_search("0.a"), a_search("0.b"))
    ad = a_new_ad(house)
    house.searches.down = {SearchId("0.a")}

    report = house.cycle()
    assert report.errors == {"store": 1}
    assert house.told("0.b") == [("new_ad", ad)]

    house.searches.down = set()
    house.cycle()
    assert house.told("0.a") == [("new_ad", ad)]


def test_a_commit_that_came_second_writes_nothing_and_leaves_it_to_the_next_cycle() -> None:
    house = a_known_house()
    ad = a_new_ad(house)
    stale = house.search()
    house.searches.in_shard = lambda shard: [stale]  # type: ignore[method-assign]
    house.searches.put(replace(stale, version=stale.version + 1))

    report = house.cycle()

    assert report.conflicts == 1
    assert house.told() == []
    del house.searches.in_shard
    house.cycle()
    assert house.told() == [("new_ad", ad)]


def test_an_unknown_source_is_an_error_of_its_search() -> None:
    house = House(replace(a_search(), query=Query(source=SourceName("gone"), path="/")))

    report = house.cycle()

    assert report.errors == {"search": 1}
    assert "no source named gone" in report.notes[0]


# overlapping cycles


def test_a_cycle_that_would_overlap_is_skipped() -> None:
    house = a_known_house()
    house.cycles.begin(0, EpochMs(house.time.now), SETTINGS.lease)

    report = house.cycle()

    assert report.skipped
    assert house.market.fetched == []


def test_the_lease_is_given_back_even_when_the_cycle_fails() -> None:
    house = a_known_house()

    def fail(shard: int) -> list[Search]:
        raise StoreUnavailableError("throttled")

    house.searches.in_shard = fail  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailableError):
        house.cycle()

    del house.searches.in_shard
    assert not house.cycle().skipped


def test_a_lease_that_cannot_be_given_back_costs_no_result() -> None:
    house = a_known_house()
    ad = a_new_ad(house)

    def fail(cycle: object, now: EpochMs) -> None:
        raise StoreUnavailableError("throttled")

    house.cycles.end = fail  # type: ignore[method-assign]

    assert house.cycle().new_ads == 1
    assert house.told() == [("new_ad", ad)]
