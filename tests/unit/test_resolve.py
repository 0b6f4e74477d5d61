"""What an event still means to a destination that was told of the ad before."""

import pytest

from lago.domain.ids import EpochMs, Minor
from lago.domain.resolve import Told, resolve
from lago.domain.watch import Filters
from tests.builders import NOW, a_live_event, a_row, an_event

ANY = (Filters(),)


def news(event):
    return a_row(event).notification


def told(price):
    return Told(None if price is None else Minor(price), EpochMs(NOW))


def test_a_new_ad_that_was_never_told_is_news():
    assert resolve(news(an_event()), None, ANY) == news(an_event())


@pytest.mark.parametrize("before", [12_000, 11_000, None])
def test_a_new_ad_that_was_told_at_no_higher_price_is_none(before):
    assert resolve(news(an_event(price=12_000)), told(before), ANY) is None


def test_a_new_ad_that_was_told_dearer_is_a_price_drop_from_there():
    drop = resolve(news(an_event(price=9_000)), told(12_000), ANY)

    assert (drop.kind, drop.old_price, drop.event.old_price) == ("price_drop", 12_000, 12_000)


def test_a_drop_that_was_never_told_counts_from_the_first_price_remembered():
    drop = resolve(news(an_event(kind="price_drop", price=9_000, old_price=10_000)), None, ANY)

    assert drop.old_price == 10_000


def test_a_drop_counts_from_the_price_last_told():
    drop = resolve(news(an_event(kind="price_drop", price=9_000, old_price=10_000)), told(9_500), ANY)

    assert drop.old_price == 9_500


def test_a_drop_that_was_told_already_is_no_news():
    assert resolve(news(an_event(kind="price_drop", price=9_000, old_price=10_000)), told(9_000), ANY) is None


def test_a_drop_must_pass_the_threshold_of_one_watch_at_least():
    event = news(an_event(kind="price_drop", price=9_800, old_price=10_000))

    assert resolve(event, None, (Filters(drop_percent=5),)) is None
    assert resolve(event, None, (Filters(drop_percent=5), Filters(drop_amount=Minor(200)))) is not None


def test_an_ad_whose_price_went_missing_is_no_drop():
    assert resolve(news(an_event(kind="price_drop", price=None, old_price=10_000)), told(10_000), ANY) is None


def test_a_watch_is_announced_once():
    assert resolve(news(a_live_event()), None, ANY) is not None
    assert resolve(news(a_live_event()), told(None), ANY) is None
