"""What the invented market does, without HTTP."""

import pytest

from simulator.catalogue import PLACES
from simulator.checks import NoSuchThingError
from simulator.clock import Clock
from simulator.market import Market
from simulator.searching import SearchRequest, parse
from tests.simulator.serving import MARKET, NOON


def market(count: int = 0, seed: int = 1, clock: Clock | None = None) -> Market:
    return Market(seed, clock or Clock(stopped=NOON), count)


def asked(query: str = "", path: str = MARKET) -> SearchRequest:
    request = parse(path, f"sort=1&{query}")
    assert request is not None
    return request


def found(market: Market, query: str = "", path: str = MARKET) -> list[str]:
    return [ad.title for ad in market.search(asked(query, path)).ads]


def test_the_same_seed_makes_the_same_market_and_another_seed_another() -> None:
    first, again, other = market(40), market(40), market(40, seed=2)

    assert first.to_json() == again.to_json()
    assert first.to_json()["ads"] != other.to_json()["ads"]


def test_the_same_seed_lives_the_same_life_also_when_it_was_stored_in_between() -> None:
    straight, stored = market(20), market(20)

    lived = [straight.live_step() for _ in range(60)]
    before = [stored.live_step() for _ in range(25)]
    stored = Market.from_json(stored.to_json(), Clock(stopped=NOON))
    after = [stored.live_step() for _ in range(35)]

    assert before + after == lived
    assert {what for what, _ in lived} == {"new", "drop", "bump", "sale"}


def test_ids_grow_with_time_and_pass_the_limit_of_32_bits() -> None:
    ads = list(market(120).ads.values())

    assert [int(ad.id) for ad in ads] == sorted(int(ad.id) for ad in ads)
    assert [ad.published for ad in ads] == sorted(ad.published for ad in ads)
    assert int(ads[0].id) < 2**31 < int(ads[-1].id)


def test_the_newest_come_first_and_a_bump_puts_an_old_ad_on_top_under_its_id() -> None:
    clock = Clock(stopped=NOON)
    shop = market(clock=clock)
    old = shop.publish(title="alt")
    clock.advance(60_000)
    shop.publish(title="neu")
    assert found(shop) == ["neu", "alt"]

    clock.advance(60_000)
    bumped = shop.bump(old.id)

    assert found(shop) == ["alt", "neu"]
    assert (bumped.id, bumped.first_published, bumped.published) == (old.id, NOON, NOON + 120_000)


def test_a_promoted_ad_leads_the_first_page_and_stands_again_at_its_own_place() -> None:
    shop = market()
    old = shop.publish(title="top", published=NOON - 9_000)
    for number in range(3):
        shop.publish(title=f"neu {number}", published=NOON - 1_000 * number)

    shop.promote(old.id)

    assert found(shop) == ["top", "neu 0", "neu 1", "neu 2", "top"]
    assert found(shop, "rows=2") == ["top", "neu 0", "neu 1"]
    assert found(shop, "rows=2&page=2") == ["neu 2", "top"]
    assert shop.search(asked("rows=2")).found == 4

    shop.promote(old.id, on=False)

    assert found(shop) == ["neu 0", "neu 1", "neu 2", "top"]


def test_sold_and_removed_ads_leave_the_lists_and_can_come_back() -> None:
    shop = market()
    ad = shop.publish(title="weg")

    shop.end(ad.id, "sold")
    assert found(shop) == []

    shop.end(ad.id, "active")
    assert found(shop) == ["weg"]


def test_an_unknown_ad_is_said_to_be_unknown() -> None:
    with pytest.raises(NoSuchThingError, match="no ad '99'"):
        market().bump("99")


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("keyword=rennrad", {"Rennrad Öl", "Rennrad teuer", "Rennrad ohne Preis"}),
        ("keyword=RENNRAD+oel", {"Rennrad Öl"}),
        ("keyword=teuer+OR+regal", {"Rennrad teuer", "Regal"}),
        ("keyword=rennrad&PRICE_TO=500", {"Rennrad Öl"}),
        ("keyword=rennrad&PRICE_FROM=501", {"Rennrad teuer"}),
        ("PRICE_TO=0", {"Regal"}),
        ("ISPRIVATE=1&keyword=re", {"Rennrad Öl", "Rennrad ohne Preis", "Regal"}),
        ("ISPRIVATE=0", {"Rennrad teuer"}),
        ("paylivery=true", {"Regal"}),
        ("areaId=6", {"Rennrad teuer"}),
        ("areaId=6&areaId=900", {"Rennrad Öl", "Rennrad teuer", "Rennrad ohne Preis", "Regal"}),
        ("ATTRIBUTE_TREE=5884", {"Regal"}),
        ("treeAttributes=24&treeAttributes=2546", {"Rennrad Öl"}),
        ("periode=2", {"Rennrad teuer", "Rennrad ohne Preis", "Regal"}),
        ("utm_source=x&sfId=y&unbekannt=1", {"Rennrad Öl", "Rennrad teuer", "Rennrad ohne Preis", "Regal"}),
    ],
)
def test_a_search_finds_what_every_parameter_lets_through(query: str, titles: set[str]) -> None:
    shop = market()
    graz = next(place for place in PLACES if place.location == "Graz")
    shop.publish(title="Rennrad Öl", cents=50_000, tree_attributes=("2546",), published=NOON - 5 * 86_400_000)
    shop.publish(title="Rennrad teuer", cents=90_000, place=graz, private=False, seller="Huber")
    shop.publish(title="Rennrad ohne Preis", cents=None)
    shop.publish(title="Regal", body="gratis", cents=0, categories=("5824", "5884"), paylivery=True)

    assert set(found(shop, query)) == titles


def test_a_category_stands_in_the_path_but_a_bare_number_is_ignored() -> None:
    shop = market()
    shop.publish(title="Rad")
    shop.publish(title="Regal", categories=("5824", "5878", "5884"))

    assert found(shop, path=f"{MARKET}/moebel-5824/regale-5878") == ["Regal"]
    assert found(shop, path=f"{MARKET}/-5878") == ["Regal"]
    assert found(shop, path=f"{MARKET}/moebel-587") == []
    assert sorted(found(shop, path=f"{MARKET}/5878")) == ["Rad", "Regal"]


def test_real_estate_and_cars_have_their_own_paths_and_ranges() -> None:
    shop = market()
    shop.publish(kind="wohnung", title="Wohnung")
    shop.publish(kind="auto", title="Auto")
    rent, cars = "/iad/immobilien/mietwohnungen/mietwohnung-angebote", "/iad/gebrauchtwagen/auto/gebrauchtwagenboerse"

    assert found(shop) == []
    assert found(shop, "NO_OF_ROOMS_BUCKET=3X3&ESTATE_SIZE/LIVING_AREA_FROM=60", rent) == ["Wohnung"]
    assert found(shop, "NO_OF_ROOMS_BUCKET=2X2", rent) == []
    assert found(shop, "ESTATE_SIZE/LIVING_AREA_TO=60", rent) == []
    assert found(shop, "YEAR_MODEL_FROM=2015&MILEAGE_TO=90000", cars) == ["Auto"]
    assert found(shop, "YEAR_MODEL_FROM=2020", cars) == []


def test_rows_are_capped_at_200_without_a_word_and_odd_numbers_mean_the_default() -> None:
    assert asked("rows=1000").rows == 200
    assert [asked(query).rows for query in ("rows=abc", "rows=-3", "rows=", "")] == [30, 30, 30, 30]
    assert asked("page=0").page == 1


def test_other_orders_than_newest() -> None:
    shop = market()
    for cents in (300, None, 100, 200):
        shop.publish(title=str(cents), cents=cents)

    def titles(sort: int) -> list[str]:
        request = parse(MARKET, f"sort={sort}")
        assert request is not None
        return [ad.title for ad in shop.search(request).ads]

    assert titles(3) == ["100", "200", "300", "None"]
    assert titles(4) == ["300", "200", "100", "None"]
    assert titles(7) == titles(7)


def test_paths_that_willhaben_does_not_know_are_no_search() -> None:
    assert parse("/iad/immobilien/haus/haus-angebote", "") is None
    assert parse("/iad/kaufen-und-verkaufen/marktplatzx", "") is None
    assert parse("/", "") is None


def test_titles_are_hostile_now_and_then() -> None:
    titles = "\n".join(ad.title for ad in market(300).ads.values())

    for part in ("<b>", "</script>", "🚴", "\u202e", "&lt;", "\n\n", "~~`"):
        assert part in titles
