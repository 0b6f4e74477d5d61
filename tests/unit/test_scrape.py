"""One cycle over a shard: what is read, committed, handed over, rested and left alone."""

from collections.abc import Callable
from itertools import count

import pytest
from msgspec.structs import replace

from lago.domain.event import PENDING_EVENTS, AdEvent, WatchLive
from lago.domain.ids import AdId, EpochMs, Milliseconds, SearchId, SourceName, WatchId
from lago.domain.query import Query
from lago.domain.search import Cursor, Health, Search
from lago.errors import (
    SearchError,
    SourceBlockedError,
    SourceUnavailableError,
    StoreUnavailableError,
)
from lago.scrape import ScrapeReport, ScrapeSettings, in_turn, scrape_shard
from tests.fakes.market import MINUTE, START, WILLHABEN, Market, an_ad
from tests.fakes.searches import FakeCycles, FakeSearches, FakeSources

SETTINGS = ScrapeSettings(threads=1)
FULL_EVERY = SETTINGS.full_every


class Time:
    """A clock that goes on `step` ms with every look."""

    def __init__(self, now: int = START, step: int = 0) -> None:
        self.now, self.step = now, step

    def __call__(self) -> EpochMs:
        self.now += self.step
        return EpochMs(self.now)


class House:
    """A marketplace, a store and the cycles that bring them together."""

    def __init__(self, *searches: Search, market: Market | None = None, settings: ScrapeSettings = SETTINGS) -> None:
        self.market = market or a_market()
        self.searches = FakeSearches(*searches)
        self.health = FakeSources()
        self.cycles = FakeCycles()
        self.time = Time()
        self.settings = settings
        self.handed_over: list[SearchId] = []
        self.hand_over: Callable[[SearchId], None] = self.handed_over.append

    def cycle(self, *, after: int = MINUTE, shard: int = 0) -> ScrapeReport:
        self.time.now += after
        self.market.fetched.clear()
        self.market.asked.clear()
        self.searches.writes = 0
        return scrape_shard(
            shard,
            searches=self.searches,
            sources={WILLHABEN: self.market},
            health=self.health,
            cycles=self.cycles,
            hand_over=self.hand_over,
            settings=self.settings,
            clock=self.time,
            random=lambda: 0.5,
        )

    def search(self, number: str = "0.a") -> Search:
        found = self.searches.get(SearchId(number))
        assert found is not None
        return found

    def cursor(self, number: str = "0.a") -> Cursor:
        cursor = self.search(number).cursor
        assert cursor is not None
        return cursor

    def told(self, number: str = "0.a") -> list[tuple[str, str]]:
        return [(event.kind, event.ad) for event in self.search(number).outbox if isinstance(event, AdEvent)]

    def deliver(self, number: str = "0.a") -> None:
        assert self.searches.clear_outbox(SearchId(number), self.search(number).outbox_id or "")


def a_search(number: str = "0.a", *, watches: int = 1, awaiting: tuple[str, ...] = (), **fields: object) -> Search:
    return Search(
        id=SearchId(number),
        query=Query(source=WILLHABEN, path="/", params=(("keyword", number),)),
        version=0,
        watches=watches,
        awaiting=frozenset(WatchId(watch) for watch in awaiting),
        **fields,  # type: ignore[arg-type]
    )


def a_market() -> Market:
    return Market(*(an_ad(920_000_000 + number) for number in range(1, 31)), rows=5)


def a_new_ad(house: House, number: int = 920_000_099) -> AdId:
    house.market.publish(an_ad(number, published=house.time.now + 1))
    return AdId(str(number))


def a_known_house(*searches: Search, settings: ScrapeSettings = SETTINGS) -> House:
    """Its baselines are read and its full reads are far away."""
    house = House(*(searches or (a_search(),)), settings=replace(settings, full_every=Milliseconds(10**15)))
    house.cycle()
    return house


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

    for _ in range(FULL_EVERY // MINUTE):
        house.cycle()

    assert house.told() == [("price_drop", "920000023")]


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
    assert report.resting_sources == (WILLHABEN,)
    assert "910000001" not in [known.id for known in house.cursor().window]


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
    assert (report.resting, report.resting_sources) == (1, (WILLHABEN,))


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


# outboxes and retirement


def stranded(house: House, number: str = "0.a", *, since: int = 0, watches: int = 1, events: int = 1) -> None:
    live = WatchLive(watch=WatchId("w1"), found=START, total=0, newest=())
    house.searches.put(
        a_search(
            number,
            watches=watches,
            outbox=(live,) * events,
            outbox_id="stranded",
            outbox_since=EpochMs(house.time.now - since),
        )
    )


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
