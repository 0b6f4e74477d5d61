"""One cycle over a shard: what is read, committed and told."""

from msgspec.structs import replace

from lago.domain.event import PENDING_EVENTS, WatchLive
from lago.domain.ids import AdId, EpochMs, Milliseconds, SearchId, WatchId
from lago.errors import (
    SourceBlockedError,
    SourceUnavailableError,
)
from lago.scrape import ScrapeSettings
from tests.fakes.house import SETTINGS, House, a_known_house, a_new_ad, a_search
from tests.fakes.market import MINUTE, START, WILLHABEN, an_ad

# baseline, news, nothing


def test_the_first_cycle_makes_a_baseline_and_one_live_message_without_a_flood() -> None:
    house = House(a_search(awaiting=("w1",)))

    report = house.cycle()

    live = house.search().outbox[0]
    assert isinstance(live, WatchLive)
    assert (live.watch, live.total) == ("w1", 30)
    assert [line.title for line in live.newest] == ["Anzeige 920000030", "Anzeige 920000029", "Anzeige 920000028"]
    assert len(house.search().outbox) == 1
    assert house.search().awaiting == frozenset()
    assert (report.committed, report.live, report.new_ads) == (1, 1, 0)


def test_a_new_ad_is_committed_with_the_cursor() -> None:
    house = a_known_house()
    ad = a_new_ad(house)

    report = house.cycle()

    assert house.told() == [("new_ad", ad)]
    assert ad in [known.id for known in house.cursor().window]
    assert (report.new_ads, report.committed, report.interval_ms) == (1, 1, MINUTE)
    assert report.notes == ("0.a: 1 new",)


def test_a_cheaper_ad_is_committed_as_a_drop() -> None:
    house = a_known_house()
    house.market.change(920_000_030, price=90)

    report = house.cycle()

    assert house.told() == [("price_drop", "920000030")]
    assert report.price_drops == 1


def test_an_unchanged_search_costs_one_request_and_no_write() -> None:
    house = a_known_house()

    report = house.cycle()

    assert house.market.fetched == [1]
    assert house.searches.writes == 0
    assert (report.unchanged, report.read, report.committed) == (1, 1, 0)


def test_a_bump_is_silent() -> None:
    house = a_known_house()
    house.market.change(920_000_027, published=EpochMs(house.time.now + 1), bumped=True)

    house.cycle()

    assert house.told() == []


def test_drops_on_later_pages_are_seen_by_the_full_read() -> None:
    house = House(a_search())
    house.cycle()
    house.market.change(920_000_023, price=90)

    for _ in range(SETTINGS.full_every // MINUTE):
        house.cycle()

    assert house.told() == [("price_drop", "920000023")]


def test_an_unchanged_full_read_writes_nothing_either() -> None:
    house = House(a_search(), settings=replace(SETTINGS, full_every=Milliseconds(MINUTE)))
    house.cycle()

    report = house.cycle()

    assert house.market.fetched == [1, 2]
    assert house.searches.writes == 0
    assert report.unchanged == 1


def test_an_ad_that_is_published_while_the_baseline_is_read_is_new() -> None:
    house = House(a_search())
    house.time.step = 1_000
    house.market.between = lambda: house.market.publish(an_ad("named", published=house.time.now))
    house.cycle()
    house.market.between = lambda: None

    house.cycle()

    assert house.told() == [("new_ad", "named")]


# watches that wait for their baseline


def test_a_second_watch_gets_its_live_message_from_a_fetch_although_nothing_changed() -> None:
    house = a_known_house()
    house.searches.add_watch(SearchId("0.a"), WatchId("w2"))

    house.cycle()

    assert house.market.fetched == [1]
    assert [event.kind for event in house.search().outbox] == ["watch_live"]


def test_ads_found_in_the_same_read_precede_a_live_message() -> None:
    house = a_known_house()
    house.searches.add_watch(SearchId("0.a"), WatchId("w2"))
    a_new_ad(house)

    house.cycle()

    assert [event.kind for event in house.search().outbox] == ["new_ad", "watch_live"]


def test_live_messages_without_room_wait_for_the_next_commit() -> None:
    house = a_known_house()
    full = tuple(WatchLive(watch=WatchId("x"), found=START, total=0, newest=()) for _ in range(PENDING_EVENTS - 1))
    house.searches.put(
        replace(
            house.search(), outbox=full, outbox_id="o", outbox_since=house.time.now, awaiting=frozenset({"w2", "w3"})
        )
    )

    house.cycle(after=1_000)
    assert house.search().awaiting == {"w3"}

    house.deliver()
    house.cycle()
    assert house.search().awaiting == frozenset()


# asking the ads' own pages


def test_ads_in_doubt_are_asked_about_a_few_at_a_time_until_all_are_decided() -> None:
    house = a_known_house(settings=ScrapeSettings(threads=1, asks=2))
    for number in (910_000_001, 910_000_002, 910_000_003):
        house.market.publish(an_ad(number, published=house.time.now + number % 10))

    first = house.cycle()
    assert house.market.asked == ["910000001", "910000002"]
    assert (first.new_ads, first.waiting) == (2, 1)

    second = house.cycle()
    assert house.market.asked == ["910000003"]
    assert (second.new_ads, second.waiting) == (1, 0)


def test_asking_ends_with_the_time_but_gets_on_by_one_in_each_cycle() -> None:
    house = a_known_house(settings=ScrapeSettings(threads=1, budget=Milliseconds(1)))
    for number in (910_000_001, 910_000_002):
        house.market.publish(an_ad(number, published=house.time.now + number % 10))
    ask = house.market.first_published

    def slowly(ad: AdId, url: str) -> EpochMs | None:
        house.time.now += 10_000
        return ask(ad, url)

    house.market.first_published = slowly  # type: ignore[method-assign]

    reports = [house.cycle(), house.cycle()]

    assert [(report.new_ads, report.waiting) for report in reports] == [(1, 1), (1, 0)]


def test_an_ad_whose_page_fails_is_new() -> None:
    house = a_known_house()
    house.market.publish(an_ad(910_000_001, published=house.time.now + 1))
    house.market.ad_errors = [SourceUnavailableError("502")]

    house.cycle()

    assert house.told() == [("new_ad", "910000001")]
    assert house.health.health(WILLHABEN) is None


def test_a_block_while_asking_rests_the_source_and_keeps_what_was_found() -> None:
    house = a_known_house()
    a_new_ad(house)
    house.market.publish(an_ad(910_000_001, published=house.time.now + 1))
    house.market.ad_errors = [SourceBlockedError("403")]

    report = house.cycle()

    assert house.told() == [("new_ad", "920000099")]
    assert set(report.resting_because) == {WILLHABEN}
    assert "910000001" not in [known.id for known in house.cursor().window]
