"""Whatever a market does between and during reads: every new ad once, every drop as a plain model has it, no flood."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from lago.domain.ad import Ad, Page
from lago.domain.detect import Detection, detect, unsure
from lago.domain.event import EVENT_BYTES, AdEvent, event_size
from lago.domain.ids import AdId, EpochMs, Minor
from lago.domain.paging import read_pages
from lago.domain.query import Query
from lago.domain.search import Cursor
from tests.fakes.market import MINUTE, START, WILLHABEN, Market, an_ad

QUERY = Query(source=WILLHABEN, path="/")
ROWS = 3
EVERYTHING = 1_000
"""Pages enough to see the whole market: what no limit hides must be found."""

Move = tuple[str, int, int | None]
"""What happens, to which ad (counted from the top of the list), and a price where it matters."""

prices = st.none() | st.integers(0, 50)
kinds = st.sampled_from(["publish", "publish", "bump", "silent bump", "promote", "price", "remove"])
moves: st.SearchStrategy[Move] = st.tuples(kinds, st.integers(0, 30), prices)
shifts = st.lists(st.tuples(st.sampled_from(["publish", "remove"]), st.integers(0, 8), st.just(20)), max_size=4)
between_reads = st.lists(moves, max_size=6)
histories = st.lists(between_reads, min_size=1, max_size=6)


@dataclass
class Seen:
    """A plain model of one ad's prices, as the reads saw them."""

    first: int | None
    low: int | None
    told: list[int] = field(default_factory=list)

    def see(self, price: int | None) -> None:
        if price is None:
            return
        if self.low is None:
            self.first = self.low = price
        elif price < self.low:
            self.low = price
            self.told.append(price)


class World:
    """A market, its clock and a search that reads it."""

    def __init__(self, baseline: int) -> None:
        self.now = int(START)
        self.number = 920_000_000
        self.market = Market(*(an_ad(self.number - 1 - i, price=20) for i in range(baseline)), rows=ROWS)
        self.published: set[AdId] = set()
        self.cursor: Cursor | None = None
        self.events: list[AdEvent] = []

    def move(self, move: Move) -> None:
        kind, index, price = move
        self.now += 1_000
        if kind == "publish":
            self.number += 1
            self.market.publish(an_ad(self.number, price=price, published=self.now))
            self.published.add(AdId(str(self.number)))
            return
        if not self.market.ads:
            return
        by_age = sorted(self.market.ads.values(), key=lambda ad: ad.published or 0, reverse=True)
        ad = by_age[index % len(by_age)].id
        if kind == "bump":
            self.market.change(ad, published=EpochMs(self.now), bumped=True)
        elif kind == "silent bump":
            self.market.change(ad, published=EpochMs(self.now))
        elif kind == "promote":
            self.market.promoted ^= {ad}
        elif kind == "price":
            self.market.change(ad, price=None if price is None else Minor(price))
        else:
            self.market.remove(ad)

    def read(
        self, *, max_pages: int = EVERYTHING, full: bool = True, room: int = 100, window_size: int = 1_000
    ) -> Detection:
        self.now += MINUTE
        began = EpochMs(self.now)
        reading = read_pages(
            lambda number: self.market.fetch(QUERY, number),
            self.cursor,
            max_pages=max_pages,
            hard_pages=EVERYTHING,
            full=full,
        )
        detection = self.look(reading.pages, began, room=room, window_size=window_size)
        self.cursor = detection.cursor
        self.events += detection.events
        return detection

    def look(self, pages: tuple[Page, ...], now: EpochMs, *, room: int, window_size: int) -> Detection:
        answers = {ad.id: self.market.first[ad.id] for ad in unsure(pages, self.cursor)}
        return detect(pages, self.cursor, answers, now=now, window_size=window_size, room=room)

    def name_ads(self) -> None:
        """Ids that are no numbers, as some marketplaces have them."""
        ads = [replace(ad, id=AdId(f"m{ad.id}")) for ad in self.market.ads.values()]
        self.market = Market(*ads, rows=ROWS)

    def told(self, kind: str) -> list[AdId]:
        return sorted(event.ad for event in self.events if event.kind == kind)

    def listed(self) -> set[AdId]:
        return set(self.market.ads)


@given(st.integers(0, 8), histories, st.integers(1, EVERYTHING), st.booleans())
def test_every_ad_published_after_the_baseline_is_told_exactly_once_and_none_before(
    baseline: int, history: list[list[Move]], max_pages: int, full: bool
) -> None:
    world = World(baseline)
    world.read(max_pages=max_pages)

    listed: set[AdId] = set()
    for moves_now in history:
        for move in moves_now:
            world.move(move)
        listed |= world.listed()
        world.read(max_pages=max_pages, full=full)

    assert world.told("new_ad") == sorted(world.published & listed)


@given(st.integers(1, 8), histories)
def test_drops_are_those_of_a_plain_model(baseline: int, history: list[list[Move]]) -> None:
    world = World(baseline)
    world.read()
    model = {ad.id: Seen(ad.price, ad.price) for ad in world.market.ads.values()}

    for moves_now in history:
        for move in moves_now:
            world.move(move)
        for ad in world.market.ads.values():
            model.setdefault(ad.id, Seen(ad.price, ad.price)).see(ad.price)
        world.read()

    drops: dict[AdId, list[int | None]] = {}
    for event in world.events:
        if event.kind == "price_drop":
            drops.setdefault(event.ad, []).append(event.price)
    assert drops == {ad: seen.told for ad, seen in model.items() if seen.told}


@given(st.integers(0, 8), histories)
def test_a_read_that_sees_nothing_else_changes_nothing(baseline: int, history: list[list[Move]]) -> None:
    world = World(baseline)
    for moves_now in history:
        for move in moves_now:
            world.move(move)
        world.read()
    world.read()  # settles a border between pages of new ads

    before = world.cursor
    again = world.read()

    assert not again.changed
    assert again.events == ()
    assert world.cursor == before


@given(st.integers(0, 8), histories, st.integers(1, 3))
def test_little_room_delays_but_loses_nothing(baseline: int, history: list[list[Move]], room: int) -> None:
    world = World(baseline)
    world.read()

    for moves_now in history:
        for move in moves_now:
            world.move(move)
    assert world.cursor is not None
    for _ in range(40):
        detection = world.read(room=room, max_pages=2, full=False)
        assert len(detection.events) <= room
        if not detection.waiting:
            break

    assert world.told("new_ad") == sorted(world.published & world.listed())


@given(st.integers(0, 8), st.lists(st.tuples(st.integers(0, 9), shifts), max_size=5))
@settings(max_examples=300)
def test_rows_that_shift_while_they_are_paged_hide_no_ad(baseline: int, history: list[tuple[int, list[Move]]]) -> None:
    world = World(baseline)
    world.read()

    for published_before, moves_between_requests in history:
        for _ in range(published_before):
            world.move(("publish", 0, 20))
        world.market.between = one_at_a_time(world, moves_between_requests)
        world.read(max_pages=2, full=False)
        for _ in range(published_before):
            world.move(("publish", 0, 20))
        world.market.between = lambda: None
        world.read(max_pages=2, full=False)

    told = world.told("new_ad")
    assert len(told) == len(set(told))
    assert world.published & world.listed() <= set(told) <= world.published


@given(st.integers(ROWS + 1, 12), st.lists(moves.filter(lambda move: move[0] != "publish"), max_size=6), st.booleans())
def test_ads_that_were_deeper_than_the_baseline_are_never_new(
    baseline: int, moves_now: list[Move], numbered: bool
) -> None:
    world = World(baseline)
    if not numbered:
        world.name_ads()
        moves_now = [move for move in moves_now if move[0] != "silent bump"]
    world.read(max_pages=1)

    for move in moves_now:
        world.move(move)
        world.read()

    assert world.told("new_ad") == []


@given(st.integers(0, 8), between_reads, st.randoms(use_true_random=False))
def test_order_and_copies_make_no_difference(baseline: int, moves_now: list[Move], random: Random) -> None:
    world = World(baseline)
    world.read()
    for move in moves_now:
        world.move(move)
    page = read_everything(world.market)
    mixed = [*page.ads, *page.ads[:2]]
    random.shuffle(mixed)

    plain = world.look((page,), EpochMs(world.now), room=100, window_size=1_000)
    shuffled = world.look(
        (Page(number=1, ads=tuple(mixed), rows=page.rows, total=page.total, listed=len(mixed)),),
        EpochMs(world.now),
        room=100,
        window_size=1_000,
    )

    assert shuffled.events == plain.events
    assert shuffled.cursor.window == plain.cursor.window
    assert shuffled.cursor.newest == plain.cursor.newest


@given(
    st.builds(
        Ad,
        source=st.just(WILLHABEN),
        id=st.text(max_size=20).map(AdId),
        title=st.text(st.characters(), max_size=400),
        price=(st.none() | st.integers(0, 2**53)).map(lambda price: None if price is None else Minor(price)),
        price_text=st.text(max_size=100),
        published=(st.none() | st.integers(0, 2**50)).map(lambda time: None if time is None else EpochMs(time)),
        url=st.text(max_size=900),
        image=st.none() | st.text(max_size=900),
        place=st.text(max_size=300),
        seller_name=st.text(max_size=300),
        coordinates=st.none() | st.tuples(st.floats(), st.floats()),
        details=st.lists(st.text(max_size=200), max_size=20).map(tuple),
        promoted=st.booleans(),
        bumped=st.booleans(),
    )
)
def test_whatever_a_seller_writes_the_event_stays_small(ad: Ad) -> None:
    world = World(1)
    world.read()

    detection = detect(
        (Page(number=1, ads=(ad,), rows=30, listed=1),),
        world.cursor,
        {ad.id: None},
        now=START,
        window_size=10,
        room=1,
    )

    assert all(event_size(event) <= EVENT_BYTES for event in detection.events)


def one_at_a_time(world: World, moves_then: list[Move]) -> Callable[[], None]:
    pending = iter(moves_then)

    def happen() -> None:
        for move in islice(pending, 1):
            world.move(move)

    return happen


def read_everything(market: Market) -> Page:
    market.rows = 1_000
    return market.page(1)
