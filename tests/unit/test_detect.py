"""What is new and what is cheaper."""

from lago.domain.detect import unsure
from lago.domain.ids import AdId, Minor
from lago.domain.search import KnownAd
from tests.fakes.looks import BASELINE, LATER, baseline, found, look
from tests.fakes.market import MINUTE, START, a_page, an_ad


def drops(*prices: int | None, first: int | None = 310) -> list[int | None]:
    """The prices told while one ad's price moves like that."""
    cursor = baseline(a_page(an_ad(1, price=first)))
    told: list[int | None] = []
    for price in prices:
        detection = look(a_page(an_ad(1, price=price)), cursor)
        cursor = detection.cursor
        told += [event.price for event in detection.events]
    return told


# the first run


def test_the_first_read_is_a_baseline_and_tells_nothing() -> None:
    detection = look(BASELINE, None)

    assert detection.events == ()
    assert detection.changed
    assert detection.cursor.began == START
    assert detection.cursor.highest_id == 920_000_002
    assert detection.cursor.window == (
        KnownAd(AdId("920000001"), Minor(11), Minor(11)),
        KnownAd(AdId("920000002"), Minor(12), Minor(12)),
    )


def test_an_empty_baseline_is_a_baseline() -> None:
    cursor = baseline(a_page(total=0))

    assert (cursor.window, cursor.highest_id, cursor.newest) == ((), 0, 0)
    assert found(look(a_page(an_ad(7, published=START + 1)), cursor)) == [("new_ad", "7")]


def test_an_ad_that_was_slow_to_be_listed_after_an_empty_baseline_is_new() -> None:
    detection = look(a_page(an_ad(7, published=START - MINUTE)), baseline(a_page()))

    assert found(detection) == [("new_ad", "7")]


# new ads


def test_an_unknown_ad_published_after_the_baseline_is_new() -> None:
    detection = look(a_page(an_ad(920_000_099, published=START + 1), *BASELINE.ads), baseline())

    assert found(detection) == [("new_ad", "920000099")]
    assert detection.cursor.newest == START + 1
    assert detection.events[0].found == LATER
    assert detection.events[0].old_price is None


def test_an_ad_is_new_once() -> None:
    page = a_page(an_ad(920_000_099, published=START + 1), *BASELINE.ads)
    cursor = look(page, baseline()).cursor

    assert look(page, cursor).events == ()


def test_an_ad_numbered_above_the_baseline_is_new_although_it_was_published_just_before() -> None:
    detection = look(a_page(an_ad(920_000_003, published=START - 1), *BASELINE.ads), baseline())

    assert found(detection) == [("new_ad", "920000003")]


def test_an_ad_numbered_above_the_baseline_is_old_when_it_was_published_long_before() -> None:
    detection = look(a_page(*BASELINE.ads, an_ad(920_000_003, published=START - 200 * MINUTE)), baseline())

    assert detection.events == ()


def test_an_old_ad_that_slides_onto_the_page_is_remembered_and_not_told() -> None:
    detection = look(a_page(*BASELINE.ads, an_ad(910_000_000, published=START - 200 * MINUTE)), baseline())

    assert detection.events == ()
    assert detection.changed
    assert AdId("910000000") in [ad.id for ad in detection.cursor.window]


def test_ids_that_are_no_numbers_are_judged_by_their_dates() -> None:
    cursor = baseline(a_page(an_ad("m-b", published=START - 1)))

    page = a_page(an_ad("m-c", published=START + 1), an_ad("m-a", published=START - 10 * MINUTE))

    assert unsure((page,), cursor) == ()
    assert found(look(page, cursor)) == [("new_ad", "m-c")]


def test_new_ads_are_told_oldest_first() -> None:
    page = a_page(
        an_ad(920_000_009, published=START + 3),
        an_ad(920_000_008, published=START + 2),
        an_ad(920_000_007, published=START + 1),
        *BASELINE.ads,
    )

    assert [event.ad for event in look(page, baseline()).events] == ["920000007", "920000008", "920000009"]


def test_a_price_that_was_never_named_is_no_reason_to_drop_an_ad() -> None:
    detection = look(a_page(an_ad(920_000_099, price=None, published=START + 1)), baseline())

    assert found(detection) == [("new_ad", "920000099")]
    assert detection.events[0].price is None


# ads that must be asked about


def test_a_bumped_known_ad_is_silent() -> None:
    bumped = an_ad(920_000_001, price=11, published=START + 1, bumped=True)

    detection = look(a_page(bumped, BASELINE.ads[0]), baseline())

    assert unsure((a_page(bumped),), baseline()) == ()
    assert detection.events == ()
    assert detection.cursor.newest == START + 1


def test_a_bumped_ad_that_left_the_window_is_judged_by_its_first_publication() -> None:
    bumped = an_ad(920_000_050, published=START + 1, bumped=True)
    page = a_page(bumped, *BASELINE.ads)

    assert unsure((page,), baseline()) == (bumped,)
    assert found(look(page, baseline(), answers={"920000050": START - MINUTE})) == []
    assert found(look(page, baseline(), answers={"920000050": START + 1})) == [("new_ad", "920000050")]


def test_an_ad_whose_own_page_is_unreadable_is_new() -> None:
    page = a_page(an_ad(920_000_050, published=START + 1, bumped=True), *BASELINE.ads)

    assert found(look(page, baseline(), answers={"920000050": None})) == [("new_ad", "920000050")]


def test_an_unflagged_ad_numbered_below_the_baseline_is_asked_about() -> None:
    renewed = an_ad(900_000_000, published=START + 1)
    page = a_page(renewed, *BASELINE.ads)

    assert unsure((page,), baseline()) == (renewed,)
    assert found(look(page, baseline(), answers={"900000000": START - 90 * MINUTE})) == []


def test_a_promoted_ad_is_asked_about_only_when_it_may_be_new() -> None:
    old = an_ad(900_000_000, promoted=True)
    fresh = an_ad(920_000_077, published=START + 1, promoted=True)

    assert unsure((a_page(old, fresh, *BASELINE.ads),), baseline()) == (fresh,)


def test_an_undated_ad_is_asked_about_unless_its_number_tells() -> None:
    undated = an_ad("900000000")
    above = an_ad("920000077")

    assert unsure((a_page(undated, above),), baseline()) == (undated,)
    assert found(look(a_page(above), baseline())) == [("new_ad", "920000077")]


def test_an_ad_that_was_not_asked_about_comes_again() -> None:
    page = a_page(an_ad(920_000_050, published=START + 1, bumped=True), *BASELINE.ads)

    first = look(page, baseline(), answers={})
    assert (first.events, first.waiting) == ((), 1)
    assert "920000050" not in [ad.id for ad in first.cursor.window]
    assert first.cursor.newest < START + 1

    second = look(page, first.cursor, answers={"920000050": START + 1})
    assert found(second) == [("new_ad", "920000050")]


# price drops


def test_a_price_that_falls_is_told_with_the_first_price() -> None:
    detection = look(a_page(BASELINE.ads[0], an_ad(920_000_001, price=9)), baseline())

    assert found(detection) == [("price_drop", "920000001")]
    assert (detection.events[0].old_price, detection.events[0].price) == (11, 9)


def test_a_price_that_swings_does_not_chatter() -> None:
    assert drops(283, 279, 283, first=310) == [283, 279]
    assert drops(590, 590, first=650) == [590]
    assert drops(283, 310, 283, first=310) == [283]


def test_a_rise_tells_nothing_and_changes_nothing() -> None:
    detection = look(a_page(an_ad(1, price=400)), baseline(a_page(an_ad(1, price=310))))

    assert detection.events == ()
    assert not detection.changed


def test_a_price_that_goes_missing_and_comes_back_tells_nothing() -> None:
    assert drops(None, 310, first=310) == []
    assert drops(None, 280, first=310) == [280]


def test_a_price_that_is_named_later_is_the_first() -> None:
    assert drops(200, 190, first=None) == [190]


def test_a_price_that_becomes_a_gift_is_a_drop() -> None:
    assert drops(0, first=310) == [0]


def test_a_bump_with_a_lower_price_is_a_drop_and_not_new() -> None:
    page = a_page(an_ad(910_000_006, price=65_000))

    detection = look(a_page(an_ad(910_000_006, price=59_000, bumped=True, published=START + 1)), baseline(page))

    assert found(detection) == [("price_drop", "910000006")]
    assert detection.events[0].old_price == 65_000


def test_a_drop_of_a_promoted_ad_is_told() -> None:
    page = a_page(an_ad(920_000_001, price=5, promoted=True), BASELINE.ads[0])

    assert found(look(page, baseline())) == [("price_drop", "920000001")]
