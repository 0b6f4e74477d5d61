"""A marketplace, a store in memory and the cycles that bring them together, for tests of the scrape use case."""

from collections.abc import Callable

from msgspec.structs import replace

from lago.domain.event import AdEvent, WatchLive
from lago.domain.ids import AdId, EpochMs, Milliseconds, SearchId, WatchId
from lago.domain.query import Query
from lago.domain.search import Cursor, Search
from lago.scrape import ScrapeReport, ScrapeSettings, scrape_shard
from tests.fakes.market import MINUTE, START, WILLHABEN, Market, an_ad
from tests.fakes.searches import FakeCycles, FakeSearches, FakeSources

SETTINGS = ScrapeSettings(threads=1)


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
