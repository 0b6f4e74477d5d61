"""What a person sees in Slack."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lago.channels.slack import blocks
from lago.domain.event import OperatorAlert, Trial
from lago.domain.notification import Message
from simulator.hook_payloads import check_slack
from tests.unit.telegram.builders import NOON, a_drop, an_ad, live, message, newest, news

PICTURED = news(an_ad(image="https://cache.willhaben.at/mmo/1.jpg"))


def rich(what: Message) -> Any:
    return json.loads(blocks.forms(what, "Europe/Vienna")[0])


def shown(what: Message) -> str:
    """All that is read in the blocks."""
    texts = []
    for block in rich(what)["blocks"]:
        parts = [block["text"]] if "text" in block else block["elements"]
        texts += [part["text"] for part in parts if part["type"] in ("mrkdwn", "plain_text")]
    return "\n".join(texts)


class TestAd:
    def test_has_heading_title_and_price_above_its_facts(self) -> None:
        section, context, actions = rich(message(news(distance_km=3.2)))["blocks"]

        assert section["text"]["text"].splitlines() == [
            "🆕 *New ad* · Rennrad Wien",
            "*<https://www.willhaben.at/iad/ktm-strada-1234567890/|KTM Strada 1000>*",
            "*€ 283*",
        ]
        assert context["elements"][0]["text"].splitlines()[0] == "📍 1070 Wien, Neubau · 3.2 km away"
        assert actions["elements"][0]["url"] == an_ad().url
        assert actions["elements"][0]["text"]["text"] == "Open the ad"

    def test_that_became_cheaper_shows_the_old_price(self) -> None:
        assert "*€ 283*, was ~€ 310~ (-8 %)" in shown(message(news(a_drop())))

    def test_shows_its_picture_beside_it(self) -> None:
        accessory = rich(message(PICTURED))["blocks"][0]["accessory"]

        assert accessory == {
            "type": "image",
            "image_url": "https://cache.willhaben.at/mmo/1.jpg",
            "alt_text": "KTM Strada 1000",
        }

    @pytest.mark.parametrize("image", [None, "http://cache.willhaben.at/1.jpg", "javascript:alert(1)"])
    def test_without_a_picture_over_https_has_two_forms(self, image: str | None) -> None:
        forms = blocks.forms(message(news(an_ad(image=image))), "Europe/Vienna")

        assert len(forms) == 2
        assert b"accessory" not in forms[0]

    def test_says_the_gist_where_blocks_are_not_shown(self) -> None:
        payload = rich(message())

        assert payload["text"] == "🆕 New ad · Rennrad Wien · KTM Strada 1000 · € 283"
        assert payload["unfurl_links"] is payload["unfurl_media"] is False

    def test_without_a_link_that_may_be_shown_has_no_button(self) -> None:
        kinds = [block["type"] for block in rich(message(news(an_ad(url="javascript:alert(1)"))))["blocks"]]

        assert kinds == ["section", "context"]


class TestClub:
    def test_has_its_numbers_at_the_head_and_a_line_for_each(self) -> None:
        header, section, actions = rich(message(news(), news(), news(a_drop())))["blocks"]

        assert header["text"]["text"] == "🔔 3 in all: 2 new ads, 1 price drop · Rennrad Wien"
        assert len(section["text"]["text"].splitlines()) == 3
        assert actions["elements"][0]["url"] == news().search_url

    def test_shows_25_lines_and_how_many_more_with_a_link(self) -> None:
        text = shown(message(*[news()] * 40, more=7))

        assert text.count("🆕") == 25
        assert f"_<{news().search_url}|… and 22 more>_" in text
        assert "47 in all: 40 new ads, 7 more" in text

    def test_of_several_searches_links_to_none_of_them(self) -> None:
        other = news(label="Flats", search_url="https://www.willhaben.at/iad/immobilien")

        text = shown(message(news(), other, more=5))

        assert "_… and 5 more_" in text
        assert "Open the search" not in text

    def test_says_when_ads_may_be_missing(self) -> None:
        assert shown(message(news(), news(an_ad(gap=True)))).count("More ads appeared than could be read") == 1


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (live(12, newest("One")), "👀 Your watch *Rennrad Wien* is live\n12 ads match now."),
        (OperatorAlert(key="k", found=NOON, text="the source is blocked"), "⚠️ the source is blocked"),
        (Trial(key="k", found=NOON), "✅ *Lago reaches you here*. This is the test message"),
    ],
)
def test_other_kinds_are_one_section(event: Any, text: str) -> None:
    assert text in shown(message(news(event)))


class TestHostileSeller:
    def test_can_notify_nobody(self) -> None:
        text = shown(message(news(an_ad(title="<!channel> <@U1> @here & <https://evil.example|x>"))))

        assert "&lt;!channel&gt; &lt;@U1&gt; ＠here &amp; &lt;https://evil.example|x&gt;" in text
        assert "<!" not in text
        assert "<@" not in text

    def test_cannot_format(self) -> None:
        assert "a∗b∗ ˍcˍ ∼d∼ ˋeˋ" in shown(message(news(an_ad(title="a*b* _c_ ~d~ `e`"))))

    def test_cannot_break_out_of_the_link(self) -> None:
        assert "<https://a.example/%7Cx%3Ey?a=1&amp;b=2|KTM" in shown(
            message(news(an_ad(url="https://a.example/|x>y?a=1&b=2")))
        )

    def test_cannot_link_a_bare_address(self) -> None:
        for block in rich(message())["blocks"][:2]:
            assert (block.get("text") or block["elements"][0])["verbatim"] is True

    def test_is_escaped_in_plain_text_too(self) -> None:
        text = json.loads(blocks.forms(message(news(an_ad(title="<!channel>"))), "")[-1])["text"]

        assert "&lt;!channel&gt; https://www.willhaben.at/iad/ktm-strada-1234567890/" in text


hostile = st.text(alphabet=st.sampled_from("<>&*_~`|!@[]()\\ \n\U0001f6b2aä\u202e"), max_size=400)
links = st.sampled_from(["", "https://a.example/" + "&" * 2_000, "https://a.example/" + "|" * 1_000, "javascript:x"])


@st.composite
def hostile_news(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from([an_ad, a_drop]))
    event = kind(
        title=draw(hostile),
        place=draw(hostile),
        seller_name=draw(hostile),
        url=draw(links),
        image=draw(links),
        details=tuple(draw(st.lists(hostile, max_size=8))),
        gap=draw(st.booleans()),
    )
    return news(event, label=draw(hostile), search_url=draw(links))


@settings(max_examples=60, deadline=None)
@given(st.lists(hostile_news(), min_size=1, max_size=30), st.integers(0, 1_000))
def test_whatever_sellers_write_every_form_is_one_that_slack_takes(notifications: list[Any], more: int) -> None:
    for form in blocks.forms(message(*notifications, more=more), "Europe/Vienna"):
        check_slack(json.loads(form))
