"""What a read leaves behind: the window, the fingerprint, and what did not fit."""

from lago.domain.detect import unsure
from tests.fakes.looks import BASELINE, baseline, found, look
from tests.fakes.market import START, a_page, an_ad

# twice, shifted, unchanged


def test_an_ad_listed_as_promoted_and_in_its_place_counts_once() -> None:
    promoted = an_ad(920_000_099, published=START + 1, promoted=True)
    organic = an_ad(920_000_099, published=START + 1)
    page = a_page(promoted, organic, *BASELINE.ads)

    assert unsure((page,), baseline()) == ()
    assert found(look(page, baseline())) == [("new_ad", "920000099")]


def test_an_ad_on_two_pages_because_rows_shifted_counts_once_and_its_neighbours_too() -> None:
    new = [an_ad(920_000_010 + i, published=START + i) for i in range(1, 5)]
    first = a_page(new[3], new[2], new[1], rows=3)
    second = a_page(new[1], new[0], BASELINE.ads[0], number=2, rows=3)

    detection = look((first, second), baseline())

    assert [event.ad for event in detection.events] == [ad.id for ad in new]


def test_an_unchanged_page_gives_an_equal_cursor() -> None:
    detection = look(BASELINE, baseline())

    assert not detection.changed
    assert detection.cursor == baseline()


def test_a_removed_ad_is_no_reason_to_write() -> None:
    assert not look(a_page(BASELINE.ads[0], total=11), baseline()).changed
    assert not look(a_page(total=0), baseline()).changed


def test_a_gap_is_told_with_the_events_and_ends_with_the_next_complete_read() -> None:
    page = a_page(an_ad(920_000_099, published=START + 1))

    torn = look(page, baseline(), gap=True)
    assert torn.cursor.gap
    assert torn.events[0].gap

    whole = look(page, torn.cursor)
    assert whole.changed
    assert not whole.cursor.gap


# room


def test_what_does_not_fit_comes_with_the_next_commit_oldest_first() -> None:
    page = a_page(*(an_ad(920_000_010 + i, published=START + i) for i in (5, 4, 3, 2, 1)), *BASELINE.ads)

    first = look(page, baseline(), room=2)
    second = look(page, first.cursor, room=2)
    third = look(page, second.cursor, room=2)

    told = [[event.ad for event in detection.events] for detection in (first, second, third)]
    assert told == [["920000011", "920000012"], ["920000013", "920000014"], ["920000015"]]
    assert [detection.waiting for detection in (first, second, third)] == [3, 1, 0]


def test_the_cursor_does_not_pass_what_does_not_fit_and_looks_again() -> None:
    page = a_page(*(an_ad(920_000_010 + i, published=START + i) for i in (2, 1)), *BASELINE.ads)

    detection = look(page, baseline(), room=1)

    assert detection.cursor.newest == START + 1
    assert detection.cursor.fingerprint == ""


def test_a_drop_that_does_not_fit_leaves_the_lowest_price_as_it_was() -> None:
    page = a_page(an_ad(920_000_002, price=1), an_ad(920_000_001, price=2))

    first = look(page, baseline(), room=1)
    second = look(page, first.cursor, room=1)

    assert found(first) == [("price_drop", "920000001")]
    assert found(second) == [("price_drop", "920000002")]
    assert first.cursor.newest < (page.ads[0].published or 0)


# the window


def test_above_its_size_the_window_loses_the_ads_that_were_not_seen_longest_known_first() -> None:
    cursor = baseline(a_page(an_ad(3), an_ad(2), an_ad(1)))

    detection = look(a_page(an_ad(4, published=START + 1), an_ad(1)), cursor, window_size=3)

    assert [ad.id for ad in detection.cursor.window] == ["1", "3", "4"]


def test_the_window_never_loses_what_was_just_seen() -> None:
    page = a_page(an_ad(3, published=START + 1), an_ad(2), an_ad(1))

    detection = look(page, baseline(a_page(an_ad(2), an_ad(1))), window_size=1)

    assert [ad.id for ad in detection.cursor.window] == ["1", "2", "3"]


def test_a_border_between_pages_of_new_ads_is_read_again() -> None:
    new = [an_ad(920_000_010 + i, published=START + i) for i in range(1, 5)]
    first, second = a_page(new[3], new[2], rows=2), a_page(new[0], BASELINE.ads[0], number=2, rows=2)

    torn = look((first, second), baseline())
    assert torn.cursor.newest < START + 1
    assert torn.cursor.fingerprint == ""

    again = look((first, a_page(new[1], new[0], number=2, rows=2)), torn.cursor)
    assert found(again) == [("new_ad", "920000012")]
