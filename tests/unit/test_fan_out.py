"""Which events of an outbox go to whom."""

import pytest
from msgspec.structs import replace

from lago.domain.geo import distance_km
from lago.domain.ids import EpochMs, WatchId
from lago.domain.search import Search
from lago.domain.watch import Filters
from lago.notify import fan_out
from tests.builders import NOW, a_live_event, a_query, a_search_id, a_watch, an_event


def a_search(*events):
    return Search(id=a_search_id(), query=a_query(), version=1, watches=1, outbox_id="x", outbox=events)


def ads(fan):
    return {to: [each.row.notification.event.ad for each in news.values()] for to, news in fan.items()}


def test_each_watch_gets_what_its_filters_let_through():
    search = a_search(an_event("1", title="Rennrad"), an_event("2", title="Rennrad Kinder"))
    mine, yours = a_watch("w1", filters=Filters(exclude_words=("Kinder",))), a_watch("w2", destinations=("you",))

    fan, _ = fan_out(search, [mine, yours])

    assert ads(fan) == {"me": ["1"], "you": ["1", "2"]}


def test_two_watches_of_one_destination_make_one_notification_with_both_filters():
    mine = a_watch("w1", filters=Filters(drop_percent=50)), a_watch("w2")

    fan, _ = fan_out(a_search(an_event()), list(mine))

    ((candidate,),) = [tuple(news.values()) for news in fan.values()]
    assert candidate.row.notification.watches == ("w1", "w2")
    assert len(candidate.filters) == 2


def test_what_stands_before_a_watch_is_live_is_anothers_past():
    search = a_search(an_event("1"), a_live_event("w1"), an_event("2"))

    fan, _ = fan_out(search, [a_watch("w1")])

    assert [each.row.notification.event for each in fan["me"].values()] == list(search.outbox[1:])


def test_a_watch_that_still_awaits_its_baseline_hears_nothing():
    search = replace(a_search(an_event()), awaiting=frozenset({WatchId("w1")}))

    fan, _ = fan_out(search, [a_watch("w1"), a_watch("w2", destinations=("you",))])

    assert ads(fan) == {"you": ["910000001"]}


def test_a_watch_made_on_a_clock_that_is_ahead_misses_nothing():
    fan, missed = fan_out(a_search(an_event(found=NOW)), [a_watch(created=NOW + 300_000)])

    assert (ads(fan), missed) == ({"me": ["910000001"]}, [])


def test_anothers_beginning_is_not_told():
    fan, _ = fan_out(a_search(a_live_event("w2")), [a_watch("w1")])

    assert fan == {}


def test_a_paused_watch_misses_and_is_told_nothing():
    fan, missed = fan_out(a_search(an_event()), [a_watch(paused="holiday")])

    assert fan == {}
    assert [(watch.id, found) for watch, found in missed] == [("w1", (NOW,))]


def test_events_of_one_scrape_keep_their_order_in_the_mailbox():
    fan, _ = fan_out(a_search(*(an_event(str(n)) for n in range(5))), [a_watch()])

    assert [each.row.next_attempt_at for each in fan["me"].values()] == [NOW + n for n in range(5)]


def test_the_distance_is_from_where_the_watch_says():
    vienna, graz = (48.2082, 16.3738), (47.0707, 15.4395)

    fan, _ = fan_out(a_search(an_event(coordinates=graz)), [a_watch(near=vienna)])

    ((candidate,),) = [tuple(news.values()) for news in fan.values()]
    assert candidate.row.notification.distance_km == pytest.approx(145, abs=2)
    assert distance_km(vienna, vienna) == EpochMs(0)
