"""What a watch lets through."""

import pytest

from lago.domain.compact import ad_event, watch_live
from lago.domain.event import AdEvent
from lago.domain.filters import concerns, has_word, passes, passes_drop
from lago.domain.ids import DestinationId, Minor, OwnerId, SearchId, WatchId
from lago.domain.watch import Filters, Watch
from tests.fakes.market import START, an_ad


def an_event(**fields: object) -> AdEvent:
    return ad_event("new_ad", an_ad(1, **fields), old_price=None, found=START)  # type: ignore[arg-type]


def a_watch(*, filters: Filters | None = None) -> Watch:
    return Watch(
        id=WatchId("w1"),
        search=SearchId("0.a"),
        owner=OwnerId("me"),
        label="Rennrad",
        url="https://marketplace.example/",
        destinations=(DestinationId("d1"),),
        created=START,
        filters=filters or Filters(),
    )


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("defekt", "Rennrad DEFEKT!"),
        ("Räder", "zwei RÄDER"),
        ("raeder", "zwei Räder"),
        ("Räder", "zwei Raeder"),
        ("Rader", "zwei Räder"),
        ("Räder", "zwei Ra\u0308der"),
        ("groß", "ein GROSSES und ein gross"),
        ("Grüße", "Liebe GRUESSE"),
        ("cafe", "Café Racer"),
        ("zu verschenken", "Couch - zu   Verschenken"),
        ("e-bike", "E-Bike 28 Zoll"),
        ("e bike", "e_bike"),
        ("defekt", "de\u200bfekt"),
        ("defekt", "\u202edefekt\u202c"),
        ("defekt", "ｄｅｆｅｋｔ"),
        ("56", "Rahmen 56 cm"),
    ],
)
def test_a_word_is_found_however_it_is_spelled(word: str, text: str) -> None:
    assert has_word((word,), text)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("rad", "Radio"),
        ("rad", "Rennrad"),
        ("zu verschenken", "verschenken zu"),
        ("zu verschenken", "zu gut zum Verschenken"),
        ("", "irgendwas"),
        ("+++", "a +++ b"),
        ("56", "560"),
    ],
)
def test_only_whole_words_in_their_order_are_found(word: str, text: str) -> None:
    assert not has_word((word,), text)


def test_an_excluded_word_in_title_or_details_keeps_an_ad_out() -> None:
    filters = Filters(exclude_words=("defekt", "bastler"))

    assert passes(filters, an_event(title="Rennrad"))
    assert not passes(filters, an_event(title="Rennrad, für Bastler"))
    assert not passes(filters, an_event(details=("Zustand: defekt",)))


def test_a_phrase_does_not_reach_from_the_title_into_the_details() -> None:
    filters = Filters(exclude_words=("zu verschenken",))

    assert passes(filters, an_event(title="Tür zu", details=("verschenken wollte ich es nicht",)))


def test_an_excluded_seller_is_meant_by_the_whole_name() -> None:
    filters = Filters(exclude_sellers=("Rad & Tat GmbH",))

    assert not passes(filters, an_event(seller_name="RAD & TAT GMBH"))
    assert passes(filters, an_event(seller_name="Rad & Tat GmbH & Söhne"))
    assert passes(filters, an_event(seller_name=""))


def test_a_seller_whose_stored_name_was_cut_is_still_excluded() -> None:
    name = "Vereinigte Zweiradwerkstätten des oberen Mürztales und Umgebung, registrierte Genossenschaft"
    event = an_event(seller_name=name)
    assert event.seller_name.endswith("…")

    assert not passes(Filters(exclude_sellers=(name,)), event)
    assert passes(Filters(exclude_sellers=("Vereinigte",)), event)


def test_private_or_dealer_is_asked_only_of_ads_that_tell() -> None:
    filters = Filters(seller_kind="private")

    assert passes(filters, an_event(seller_kind="private"))
    assert passes(filters, an_event(seller_kind=None))
    assert not passes(filters, an_event(seller_kind="dealer"))


@pytest.mark.parametrize(
    ("price", "let_through"), [(99, False), (100, True), (200, True), (201, False), (None, True), (0, False)]
)
def test_price_bounds_are_inclusive_and_an_ad_without_a_price_passes(price: int | None, let_through: bool) -> None:
    assert passes(Filters(price_from=Minor(100), price_to=Minor(200)), an_event(price=price)) is let_through


def test_a_gift_passes_an_upper_bound() -> None:
    assert passes(Filters(price_to=Minor(200)), an_event(price=0))


@pytest.mark.parametrize(
    ("filters", "reference", "price", "let_through"),
    [
        (Filters(), 310, 309, True),
        (Filters(), 310, 310, False),
        (Filters(), 310, 311, False),
        (Filters(drop_percent=10), 310, 279, True),
        (Filters(drop_percent=10), 310, 280, False),
        (Filters(drop_amount=Minor(30)), 310, 280, True),
        (Filters(drop_amount=Minor(30)), 310, 281, False),
        (Filters(drop_percent=50, drop_amount=Minor(30)), 310, 280, True),
        (Filters(drop_percent=10, drop_amount=Minor(100)), 310, 279, True),
        (Filters(drop_percent=50, drop_amount=Minor(100)), 310, 279, False),
        (Filters(), None, 279, False),
        (Filters(), 310, None, False),
        (Filters(drop_percent=100), 310, 0, True),
    ],
)
def test_a_drop_is_measured_against_a_reference_and_one_threshold_is_enough(
    filters: Filters, reference: int | None, price: int | None, let_through: bool
) -> None:
    told = None if reference is None else Minor(reference)

    assert passes_drop(filters, told, None if price is None else Minor(price)) is let_through


def test_a_watch_hears_only_what_its_filters_let_through() -> None:
    assert not concerns(a_watch(filters=Filters(exclude_words=("anzeige",))), an_event())


def test_a_watch_hears_of_its_own_start_only() -> None:
    mine = watch_live(WatchId("w1"), total=0, ads=(), found=START)
    another = watch_live(WatchId("w2"), total=0, ads=(), found=START)

    assert concerns(a_watch(), mine)
    assert not concerns(a_watch(), another)
