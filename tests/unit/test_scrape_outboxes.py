"""What a cycle does with outboxes, retired searches and too little time."""

from itertools import count

import pytest
from msgspec.structs import replace

from lago.domain.event import PENDING_EVENTS, AdEvent
from lago.domain.ids import EpochMs, Milliseconds, SearchId
from lago.domain.search import Health
from lago.scrape import ScrapeSettings, in_turn
from tests.fakes.house import House, a_known_house, a_search, stranded
from tests.fakes.market import MINUTE, START, WILLHABEN, an_ad

# outboxes and retirement


def test_an_outbox_older_than_a_minute_is_handed_over() -> None:
    house = House()
    stranded(house, "0.old")
    house.time.now += 1
    stranded(house, "0.young")

    report = house.cycle(after=MINUTE - 1)

    assert house.handed_over == ["0.old"]
    assert report.handed_over == 1


def test_outboxes_are_handed_over_whatever_health_and_retirement_say() -> None:
    house = House()
    stranded(house, "0.retired", watches=0)
    stranded(house, "0.full", events=PENDING_EVENTS)
    stranded(house, "0.sick")
    sick = Health(kind="search", reason="404", failures=9, since=START, retry_at=EpochMs(10**15))
    house.searches.set_health(SearchId("0.sick"), sick)
    house.health.set_health(WILLHABEN, replace(sick, kind="blocked"))

    house.cycle(after=2 * MINUTE)

    assert sorted(house.handed_over) == ["0.full", "0.retired", "0.sick"]
    assert house.market.fetched == []


def test_a_hand_over_that_fails_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    house = a_known_house()
    stranded(house, "0.b")
    calls = count()

    def fail(search: SearchId) -> None:
        next(calls)
        raise OSError("no answer")

    house.hand_over = fail

    report = house.cycle(after=2 * MINUTE)

    assert next(calls) == 1
    assert report.errors == {"hand_over": 1}
    assert report.read == 2
    assert "no answer" in caplog.text


def test_a_full_outbox_holds_its_search() -> None:
    house = House()
    stranded(house, events=PENDING_EVENTS)

    report = house.cycle()

    assert report.held == 1
    assert house.market.fetched == []


def test_no_more_events_are_committed_than_may_be_pending_and_the_rest_follows() -> None:
    house = a_known_house()
    for number in range(1, 121):
        house.market.publish(an_ad(930_000_000 + number, published=house.time.now + number))
    house.settings = replace(house.settings, hard_pages=40)

    report = house.cycle()
    assert (report.new_ads, report.waiting) == (PENDING_EVENTS, 20)
    assert house.told()[0] == ("new_ad", "930000001")

    house.deliver()
    house.cycle()
    assert house.told() == [("new_ad", str(930_000_000 + number)) for number in range(101, 121)]


def test_a_gap_is_said_in_health_and_in_the_events_and_ends() -> None:
    house = a_known_house()
    house.settings = replace(house.settings, hard_pages=3)
    for number in range(1, 41):
        house.market.publish(an_ad(930_000_000 + number, published=house.time.now + number))

    report = house.cycle()
    assert house.cursor().gap
    assert all(isinstance(event, AdEvent) and event.gap for event in house.search().outbox)
    assert report.notes == ("0.a: 15 new, some may be missing",)

    house.cycle()
    assert not house.cursor().gap


def test_a_search_that_nobody_watches_is_retired_once_its_outbox_is_empty() -> None:
    house = House(a_search("0.a", watches=0))
    stranded(house, "0.b", watches=0)

    report = house.cycle()
    assert report.retired == 1
    assert house.searches.get(SearchId("0.a")) is None
    assert house.market.fetched == []

    house.deliver("0.b")
    assert house.cycle().retired == 1


# time and order


def test_no_search_is_begun_when_the_time_is_used_up() -> None:
    house = a_known_house(*(a_search(f"0.{number}") for number in range(10)))
    house.time.step = 5_000
    house.settings = replace(house.settings, budget=Milliseconds(45_000))

    report = house.cycle()

    assert 0 < report.read < 10
    assert report.late == 10 - report.read


def test_a_long_list_is_read_by_all_in_turn() -> None:
    searches = [a_search(f"0.{number:02}") for number in range(50)]

    read = [{search.id for search in in_turn(searches, EpochMs(START + minute * MINUTE))[:10]} for minute in range(10)]

    assert set.union(*read) == {search.id for search in searches}


def test_a_search_with_a_waiting_watch_is_read_first() -> None:
    searches = [a_search("0.a"), a_search("0.b", awaiting=("w1",)), a_search("0.c")]

    assert in_turn(searches, START)[0].id == "0.b"


def test_two_threads_read_the_same_as_one() -> None:
    searches = [a_search(f"0.{number}", awaiting=(f"w{number}",)) for number in range(8)]
    house = House(*searches, settings=ScrapeSettings(threads=2))

    report = house.cycle()

    assert (report.committed, report.live, report.searches) == (8, 8, 8)


def test_an_empty_shard_is_a_cycle_too() -> None:
    report = House().cycle()

    assert (report.searches, report.read, report.errors) == (0, 0, {})
