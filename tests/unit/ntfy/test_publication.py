"""What a person reads in ntfy, and ntfy's limits, whatever sellers typed."""

import json
from typing import Any

import pytest

from lago.channels.ntfy.publication import publication
from lago.domain.event import OperatorAlert, Trial
from lago.domain.notification import Message
from tests.unit.ntfy.builders import TOPIC
from tests.unit.telegram.builders import NOON, a_drop, an_ad, live, message, newest, news

SEARCH = news().search_url
PICTURE = "https://cache.willhaben.at/mmo/1.jpg"


def published(what: Message) -> Any:
    body = publication(what, TOPIC, "Europe/Vienna")
    assert len(body) <= 8_192
    shown = json.loads(body)
    assert len(shown["message"].encode()) <= 4_096
    return shown


def test_an_ad_has_its_words_its_picture_and_ways_to_it() -> None:
    shown = published(message(news(an_ad(image=PICTURE))))

    assert shown == {
        "topic": TOPIC,
        "title": "New ad · Rennrad Wien",
        "message": "KTM Strada 1000\n€ 283\n📍 1070 Wien, Neubau\n👤 Private seller: Anna\n🕒 29 Nov 2025, 11:30",
        "tags": ["new"],
        "priority": 3,
        "click": an_ad().url,
        "attach": PICTURE,
        "actions": [{"action": "view", "label": "Open the ad", "url": an_ad().url}],
    }


def test_a_price_drop_says_what_it_was() -> None:
    shown = published(message(news(a_drop())))

    assert (shown["title"], shown["tags"]) == ("Price drop · Rennrad Wien", ["chart_with_downwards_trend"])
    assert "€ 283, was € 310 (-8 %)" in shown["message"]


def test_a_new_watch_opens_its_search() -> None:
    shown = published(message(news(live(12, newest("One")))))

    assert (shown["title"], shown["tags"]) == ("Your watch Rennrad Wien is live", ["eyes"])
    assert shown["message"].endswith("• One https://www.willhaben.at/One · € 100")
    assert (shown["click"], shown["actions"][0]["label"]) == (SEARCH, "Open the search")


def test_a_test_message_and_an_alert_are_lagos_own_words() -> None:
    trial = published(message(news(Trial(key="t", found=NOON), search_url="", label="")))
    alert = published(message(news(OperatorAlert(key="dead", found=NOON, text="1 dead letter"), search_url="")))

    assert trial == {
        "topic": TOPIC,
        "title": "Lago",
        "message": "Lago reaches you here. This is the test message that was asked for.",
        "tags": ["white_check_mark"],
        "priority": 3,
    }
    assert (alert["title"], alert["message"], alert["tags"]) == ("Lago", "1 dead letter", ["warning"])


def test_a_club_has_its_numbers_at_the_head_and_a_line_for_each() -> None:
    shown = published(message(news(an_ad(image=PICTURE)), news(a_drop()), more=3))

    first, second, rest = shown["message"].split("\n")
    assert shown["title"] == "5 in all: 1 new ad, 1 price drop, 3 more · Rennrad Wien"
    assert first == f"🆕 KTM Strada 1000 {an_ad().url} · € 283 · 1070 Wien, Neubau"
    assert second.startswith("📉 KTM Strada 1000")
    assert rest == "… and 3 more"
    assert (shown["tags"], shown["click"]) == (["bell"], SEARCH)
    assert "attach" not in shown


def test_a_club_of_fifty_tells_twenty_five_and_how_many_more() -> None:
    short = an_ad(title="KTM", place="", url="https://x.at/1")

    lines = published(message(*[news(short)] * 50))["message"].split("\n")

    assert len(lines) == 26
    assert lines[-1] == "… and 25 more"


def test_a_club_that_ntfy_would_not_hold_tells_fewer_and_counts_the_rest() -> None:
    long = an_ad(title="ü" * 10_000)

    lines = published(message(*[news(long)] * 50))["message"].split("\n")

    assert 1 < len(lines) < 25
    assert lines[-1].startswith(f"… and {50 - len(lines) + 1} more")


def test_a_club_of_several_searches_opens_none() -> None:
    shown = published(message(news(), news(search_url="https://www.willhaben.at/iad/other")))

    assert "click" not in shown
    assert "actions" not in shown


@pytest.mark.parametrize(
    "text", ["x", '"', "\\", "\u0000", "\u202e", "ü", "€", "🚲", "@everyone ", "</script>", "\ud800"]
)
def test_hostile_words_stay_within_the_limits(text: str) -> None:
    hostile = an_ad(title=text * 10_000, place=text * 10_000, seller_name=text * 10_000, details=(text * 1_000,) * 9)

    for what in (message(news(hostile, label=text * 900)), message(*[news(hostile)] * 50)):
        shown = published(what)
        assert "\u202e" not in shown["message"] + shown["title"]
        assert "@everyone" not in shown["message"]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://good@evil/", "https://x.at/" + "x" * 1_000, "", None])
def test_links_that_may_not_be_shown_or_are_too_long_are_left_out(url: Any) -> None:
    shown = published(message(news(an_ad(url=url, image=url))))

    assert not {"click", "actions", "attach"} & set(shown)


def test_a_long_link_stays_in_the_words() -> None:
    url = "https://x.at/" + "x" * 1_000

    assert url in published(message(news(an_ad(url=url))))["message"]


def test_ads_that_may_be_missing_are_said_with_their_search() -> None:
    shown = published(message(news(an_ad(gap=True))))

    assert f"open the search {SEARCH}" in shown["message"]
