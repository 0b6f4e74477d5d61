"""Every kind is registered wherever something is agreed by kind."""

from typing import get_args

import pytest

from lago.channels.rich import to_plain
from lago.channels.wording import WORDINGS, line
from lago.domain.backoff import ALERT, PATIENT
from lago.domain.event import AdEvent, Event, EventKind, OperatorAlert, Trial, WatchLive
from lago.domain.ids import DestinationId, EpochMs, WatchId
from lago.domain.kinds import KINDS, Policies
from lago.domain.notification import Notification, notification_id
from tests.builders import NOW, a_live_event, an_event

EVENTS: dict[type, Event] = {
    AdEvent: an_event("1"),
    WatchLive: a_live_event("w1"),
    OperatorAlert: OperatorAlert(key="dead", found=EpochMs(NOW), text="a letter died"),
    Trial: Trial(key="4f", found=EpochMs(NOW)),
}


def test_every_kind_has_its_policy_and_its_words():
    assert set(KINDS) == set(WORDINGS) == set(get_args(EventKind))


def test_every_event_says_its_kind_and_what_it_is_about():
    assert set(EVENTS) == set(get_args(Event))
    subjects = {event.subject for event in EVENTS.values()}
    ids = {notification_id(DestinationId("me"), event) for event in EVENTS.values()}

    assert len(subjects) == len(ids) == len(EVENTS)
    assert {event.kind for event in EVENTS.values()} <= set(KINDS)


def test_the_same_news_for_two_watches_is_two_and_for_two_destinations_too():
    first, other = a_live_event("w1"), a_live_event("w2")

    assert first.subject != other.subject
    assert WatchId("w1") in first.identity
    assert notification_id(DestinationId("a"), first) != notification_id(DestinationId("b"), first)


def test_patience_is_the_kinds_or_the_channels():
    policies = Policies(alert=ALERT)

    assert policies.backoff("new_ad", "telegram") == ALERT
    assert policies.backoff("new_ad", "email") == PATIENT
    assert policies.backoff("operator_alert", "telegram") == PATIENT


@pytest.mark.parametrize("event", EVENTS.values(), ids=lambda event: event.kind)
def test_every_kind_says_on_one_line_what_it_is(event: Event):
    said = to_plain(line(a_notification(event)))

    assert len(said.split()) > 2
    assert "\n" not in said


def test_an_alert_is_whole_on_its_line():
    assert to_plain(line(a_notification(EVENTS[OperatorAlert]))) == "⚠️ a letter died"


def a_notification(event: Event) -> Notification:
    to = DestinationId("me")
    return Notification(
        id=notification_id(to, event), destination=to, event=event, watches=(), label="rennrad", search_url=""
    )
