"""What a person sees in Discord."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lago.channels.discord import embeds
from lago.domain.event import OperatorAlert, Trial
from lago.domain.notification import Message
from simulator.hook_payloads import check_discord
from tests.unit.slack.test_blocks import hostile_news
from tests.unit.telegram.builders import NOON, a_drop, an_ad, live, message, newest, news

VIENNA = "Europe/Vienna"


def rich(what: Message) -> Any:
    return json.loads(embeds.forms(what, VIENNA)[0])


def plain(what: Message) -> str:
    return str(json.loads(embeds.forms(what, VIENNA)[-1])["content"])


def shown(what: Message) -> str:
    return "\n".join(embed["description"] for embed in rich(what)["embeds"])


class TestAd:
    def test_has_a_linked_title_a_heading_and_its_facts(self) -> None:
        (embed,) = rich(message(news(distance_km=3.2)))["embeds"]

        assert embed["author"] == {"name": "🆕 New ad · Rennrad Wien"}
        assert (embed["title"], embed["url"]) == ("KTM Strada 1000", an_ad().url)
        assert embed["description"].splitlines()[:2] == ["**€ 283**", "📍 1070 Wien, Neubau · 3.2 km away"]

    def test_that_became_cheaper_shows_the_old_price_in_a_colour_of_its_own(self) -> None:
        (embed,) = rich(message(news(a_drop())))["embeds"]

        assert "**€ 283**, was ~~€ 310~~ (-8 %)" in embed["description"]
        assert embed["color"] != rich(message())["embeds"][0]["color"]

    def test_shows_its_picture(self) -> None:
        pictured = message(news(an_ad(image="https://cache.willhaben.at/mmo/1.jpg")))

        assert rich(pictured)["embeds"][0]["image"] == {"url": "https://cache.willhaben.at/mmo/1.jpg"}
        assert "image" not in rich(message())["embeds"][0]


class TestClub:
    def test_has_its_numbers_at_the_head_and_a_line_for_each(self) -> None:
        club = message(news(), news(), news(a_drop()))

        assert rich(club)["content"] == "🔔 3 in all: 2 new ads, 1 price drop · Rennrad Wien"
        assert len(shown(club).splitlines()) == 3
        assert f"🆕 **[KTM Strada 1000]({an_ad().url})** · **€ 283** · 1070 Wien, Neubau" in shown(club)

    def test_shows_25_lines_and_how_many_more_with_a_link(self) -> None:
        text = shown(message(*[news()] * 40, more=7))

        assert text.count("🆕") == 25
        assert text.endswith(f"*[… and 22 more]({news().search_url})*")

    def test_counts_what_did_not_fit_as_more(self) -> None:
        text = shown(message(*[news(an_ad(url="https://www.willhaben.at/" + "x" * 600))] * 30))

        told = text.count("🆕")
        assert 5 < told < 25
        assert f"… and {30 - told} more" in text

    def test_says_when_ads_may_be_missing(self) -> None:
        assert shown(message(news(), news(an_ad(gap=True)))).count("More ads appeared than could be read") == 1

    def test_in_plain_text_says_the_same(self) -> None:
        text = plain(message(*[news()] * 40))

        assert text.startswith("🔔 40 in all: 40 new ads · Rennrad Wien\n🆕 KTM Strada 1000 <https://")
        assert text.endswith(f"… and {40 - text.count('🆕')} more <{news().search_url}>")


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (live(12, newest("One")), "👀 Your watch **Rennrad Wien** is live\n12 ads match now."),
        (OperatorAlert(key="k", found=NOON, text="the source is blocked"), "⚠️ the source is blocked"),
        (Trial(key="k", found=NOON), "✅ **Lago reaches you here**. This is the test message"),
    ],
)
def test_other_kinds_are_told_in_the_description(event: Any, text: str) -> None:
    assert text in shown(message(news(event)))


def test_a_new_watch_links_to_its_search() -> None:
    assert shown(message(news(live(0)))).endswith(f"[Open the search]({news().search_url})")


class TestHostileSeller:
    def test_can_notify_nobody(self) -> None:
        title = "@everyone <@1> <@&2> <#3> <t:0> @here"

        for text in (
            rich(message(news(an_ad(title=title))))["embeds"][0]["title"],
            plain(message(news(an_ad(title=title)))),
        ):
            assert "＠everyone \\<\\@1\\> \\<\\@&2\\> \\<\\#3\\> \\<t:0\\> ＠here" in text

    def test_cannot_format(self) -> None:
        text = plain(message(news(an_ad(title="**a** __b__ ~~c~~ `d` ||e|| \\*f"))))

        assert "\\*\\*a\\*\\* \\_\\_b\\_\\_ \\~\\~c\\~\\~ \\`d\\` \\|\\|e\\|\\| \\\\\\*f" in text

    def test_cannot_bring_a_link_of_its_own(self) -> None:
        text = shown(message(news(an_ad(title="[x](https://evil.example)")), news()))

        assert "[\uff3bx\uff3d(https\\://evil.example)](https://www.willhaben.at/" in text

    def test_cannot_break_out_of_the_link(self) -> None:
        text = shown(message(news(an_ad(url="https://a.example/a)b(c>d")), news()))

        assert "](https://a.example/a%29b%28c%3Ed)" in text


@settings(max_examples=60, deadline=None)
@given(st.lists(hostile_news(), min_size=1, max_size=30), st.integers(0, 1_000))
def test_whatever_sellers_write_every_form_is_one_that_discord_takes(notifications: list[Any], more: int) -> None:
    for form in embeds.forms(message(*notifications, more=more), VIENNA):
        check_discord(json.loads(form))
