"""Stored events are small, whatever the seller writes."""

from lago.domain.ad import Ad
from lago.domain.compact import ad_event, cut, watch_live
from lago.domain.event import EVENT_BYTES, AdEvent, event_size
from lago.domain.ids import Minor, WatchId
from tests.fakes.market import START, an_ad

URL = "https://www.willhaben.at/iad/kaufen-und-verkaufen/d/" + "rennrad-" * 22 + "920000001/"


def event_of(ad: Ad) -> AdEvent:
    return ad_event("price_drop", ad, old_price=Minor(31_000), found=START, gap=True)


def test_an_ordinary_ad_is_kept_whole() -> None:
    ad = an_ad(
        920_000_001,
        title="Rennrad 56 cm, Service neu",
        price_text="€ 279",
        image="https://cache.willhaben.at/mmo/6/910/000/006_0_hoved.jpg",
        place="Wien, 07. Bezirk, Neubau",
        seller_name="Rad & Tat GmbH",
        seller_kind="dealer",
        coordinates=(48.2, 16.35),
        details=("56 cm", "Carbon"),
        paylivery=True,
    )

    event = event_of(ad)

    assert (event.title, event.image, event.place, event.details) == (ad.title, ad.image, ad.place, ad.details)
    assert (event.seller_name, event.seller_kind, event.coordinates) == (ad.seller_name, "dealer", ad.coordinates)
    assert (event.old_price, event.price, event.gap, event.paylivery) == (31_000, 100, True, True)


def test_a_huge_ad_is_cut_and_keeps_its_link_and_the_start_of_its_title() -> None:
    ad = an_ad(
        920_000_001,
        title="🚲" * 10_000,
        url=URL,
        image="https://cache.willhaben.at/" + "x" * 300,
        place="ß" * 5_000,
        seller_name="<b>" * 5_000,
        price_text="€" * 5_000,
        details=("detail " * 1_000,) * 1_000,
    )

    event = event_of(ad)

    assert event_size(event) <= EVENT_BYTES
    assert len(URL) <= 250
    assert event.url == URL
    assert event.title.startswith("🚲" * 15)


def test_details_go_before_the_picture() -> None:
    event = event_of(an_ad(1, title="x" * 200, image="https://i.example/" + "x" * 100, details=("y" * 40,) * 6))

    assert event_size(event) <= EVENT_BYTES
    assert event.image is not None
    assert len(event.details) < 6


def test_a_link_that_cannot_fit_is_left_out() -> None:
    event = event_of(an_ad(1, url="https://marketplace.example/" + "x" * 600))

    assert event_size(event) <= EVENT_BYTES
    assert event.url == ""


def test_text_is_cut_at_a_character() -> None:
    assert cut("Räder", 6) == "Räder"
    assert cut("Räder", 5) == "R…"
    assert cut("🚲🚲", 7) == "🚲…"
    assert cut("", 3) == ""


def test_half_characters_harm_nothing() -> None:
    assert cut("a\ud83db", 10) == "a?b"
    assert event_size(event_of(an_ad(1, title="\udcff"))) <= EVENT_BYTES


def test_a_live_watch_shows_the_three_newest_ads() -> None:
    ads = [an_ad(number, price=number) for number in (3, 5, 1, 4)]

    event = watch_live(WatchId("w1"), total=4, ads=ads, found=START)

    assert event.total == 4
    assert [line.title for line in event.newest] == ["Anzeige 5", "Anzeige 4", "Anzeige 3"]
    assert event.newest[0].price == 5


def test_a_live_watch_of_nothing_is_live_too() -> None:
    assert watch_live(WatchId("w1"), total=0, ads=(), found=START).newest == ()


def test_a_live_watch_of_huge_ads_stays_small() -> None:
    long = [an_ad(number, title="Ü" * 500, price_text="€" * 99, url=URL[:120]) for number in (1, 2, 3)]
    longest = [an_ad(number, title="Ü" * 500, url=URL * number) for number in (1, 2, 3)]

    for ads, shown in ((long, 3), (longest, 1)):
        event = watch_live(WatchId("0123456789abcdef"), total=999_999, ads=ads, found=START)
        assert event_size(event) <= EVENT_BYTES
        assert len(event.newest) == shown
