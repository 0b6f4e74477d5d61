"""What a reader reads."""

from html.parser import HTMLParser

import pytest

from lago.channels.email.letter import ENTRIES, HTML_BYTES, Letter, write_letter
from lago.domain.event import OperatorAlert, Trial
from lago.domain.ids import Minor
from lago.domain.notification import Notification
from tests.unit.telegram.builders import NOON, a_drop, an_ad, live, message, newest, news

PICTURE = "https://cache.willhaben.at/mmo/1.jpg"
SEARCH = news().search_url


def letter(*notifications: Notification, more: int = 0, unsubscribe: str = "") -> Letter:
    return write_letter(message(*notifications, more=more), "Europe/Vienna", unsubscribe)


class Reader(HTMLParser):
    """Collects tags and their attributes, and fails on a tag that is closed where it is not open."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("br", "img", "meta"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


class TestOneAd:
    def test_has_title_and_price_in_its_subject(self) -> None:
        assert letter().subject == "🆕 KTM Strada 1000 · € 283 · 1070 Wien, Neubau"

    def test_that_got_cheaper_says_so_in_its_subject(self) -> None:
        assert letter(news(a_drop())).subject == "📉 KTM Strada 1000 · € 283, was € 310 (-8 %) · 1070 Wien, Neubau"

    def test_keeps_its_price_in_the_subject_whatever_the_title(self) -> None:
        subject = letter(news(an_ad(title="Rad " * 500))).subject

        assert len(subject) <= 150
        assert "… · € 283 · " in subject

    def test_says_the_same_as_text(self) -> None:
        assert letter().text == (
            "🆕 New ad · Rennrad Wien\n"
            "KTM Strada 1000 https://www.willhaben.at/iad/ktm-strada-1234567890/\n"
            "€ 283\n"
            "📍 1070 Wien, Neubau\n"
            "👤 Private seller: Anna\n"
            "🕒 29 Nov 2025, 11:30\n"
        )

    def test_says_the_same_as_html(self) -> None:
        assert (
            "🆕 <b>New ad</b> · Rennrad Wien<br>\n"
            '<b><a href="https://www.willhaben.at/iad/ktm-strada-1234567890/">KTM Strada 1000</a></b><br>\n'
            "<b>€ 283</b><br>\n"
        ) in letter().html

    def test_shows_its_picture_by_link_with_width_and_words(self) -> None:
        (picture,) = Reader(letter(news(an_ad(image=PICTURE, title='"Rad" <3'))).html).of("img")

        assert picture["src"] == PICTURE
        assert picture["width"] == "320"
        assert picture["alt"] == '"Rad" <3'

    @pytest.mark.parametrize(
        "image",
        [
            "http://cache.willhaben.at/1.jpg",
            "javascript:alert(1)",
            "data:image/png;base64,AAAA",
            "https://a@b.at/1.jpg",
            'https://x.at/" onerror="x',
            "",
            None,
        ],
    )
    def test_shows_no_other_picture(self, image: str | None) -> None:
        assert Reader(letter(news(an_ad(image=image))).html).of("img") == []

    def test_is_shown_without_tables_scripts_and_styles_from_elsewhere(self) -> None:
        tags = {tag for tag, _ in Reader(letter(news(an_ad(image=PICTURE))).html).tags}

        assert tags <= {"html", "head", "meta", "title", "body", "div", "p", "a", "b", "s", "i", "br", "img"}


class TestHostileWords:
    @pytest.mark.parametrize(
        "title",
        [
            "</title></div><script>alert(1)</script>",
            '"><img src=x onerror=alert(1)>',
            "<style>*{display:none}</style>",
            "&lt;b&gt; &#60;",
            "\u202egnp.exe \u2066 \u200b",
            "x" * 10_000,
            "Rad\r\nBcc: bert@example.org",
        ],
    )
    def test_stay_words(self, title: str) -> None:
        hostile = an_ad(title=title, place=title, seller_name=title, details=(title,), image=PICTURE)
        written = letter(news(hostile, label=title))

        page = Reader(written.html)

        assert page.of("script") == page.of("style") == []
        assert [picture["src"] for picture in page.of("img")] == [PICTURE]
        assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
        assert "\n" not in written.subject
        assert "\r" not in written.subject + written.text + written.html
        assert not set("\u202e\u2066\u200b") & set(written.subject + written.text + written.html)

    def test_lead_nowhere(self) -> None:
        written = letter(news(an_ad(url="javascript:alert(1)"), search_url="file:///etc/passwd"))

        assert Reader(written.html).of("a") == []


class TestAClub:
    def test_has_its_numbers_in_subject_and_head(self) -> None:
        written = letter(news(), news(), news(a_drop()))

        assert written.subject == "3 in all: 2 new ads, 1 price drop · Rennrad Wien"
        assert written.text.startswith(
            "🔔 3 in all: 2 new ads, 1 price drop · Rennrad Wien\n\n🆕 KTM Strada 1000 https"
        )
        assert "🔔 <b>3 in all: 2 new ads, 1 price drop</b> · Rennrad Wien</div>" in written.html

    def test_shows_each_with_price_and_picture_and_ends_with_the_search(self) -> None:
        written = letter(news(an_ad(image=PICTURE)), news(a_drop(image=PICTURE + "?2")))

        page = Reader(written.html)
        assert [picture["src"] for picture in page.of("img")] == [PICTURE, PICTURE + "?2"]
        assert page.of("a")[-1] == {"href": SEARCH}
        assert written.text.endswith(f"Open the search {SEARCH}\n")
        assert "more" not in written.text

    def test_shows_25_and_counts_the_rest(self) -> None:
        written = letter(*[news(an_ad(title=f"Rad {n}.")) for n in range(50)], more=4)

        assert "Rad 24." in written.text
        assert "Rad 25." not in written.text
        assert f"… and 29 more · Open the search {SEARCH}\n" in written.text
        assert written.html.count("🆕") == ENTRIES

    def test_of_long_links_and_titles_stays_below_what_a_mail_program_shows(self) -> None:
        long = an_ad(
            title='"&"' * 1_000,
            url="https://willhaben.at/?" + "&" * 2_000,
            image="https://willhaben.at/?" + "&" * 2_000,
        )

        written = letter(*[news(long)] * 50)

        assert len(written.html.encode()) < HTML_BYTES + 20_000
        assert "more · " in written.text

    def test_of_several_searches_names_each(self) -> None:
        other = "https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz?keyword=sofa"
        written = letter(news(), news(label="Sofa", search_url=other))

        assert written.subject == "2 in all: 2 new ads"
        assert f"Sofa {other}" in written.text
        assert "Open the search" not in written.text

    def test_says_when_ads_may_be_missing(self) -> None:
        assert "⚠️ More ads appeared than could be read" in letter(news(), news(an_ad(gap=True))).text


class TestOtherNews:
    def test_a_new_watch_links_to_its_search(self) -> None:
        written = letter(news(live(2, newest("One"))))

        assert written.subject == "👀 Your watch Rennrad Wien is live"
        assert "• One https://www.willhaben.at/One · € 100\n\nOpen the search https" in written.text

    def test_an_alert_to_whoever_runs_lago(self) -> None:
        alert = OperatorAlert(key="k", found=NOON, text="3 dead letters <now>\r\nSee `lago dead list`")
        written = letter(news(alert, search_url="", label=""))

        assert written.subject == "⚠️ 3 dead letters <now> See `lago dead list`"
        assert written.text == "⚠️ 3 dead letters <now> See `lago dead list`\n"
        assert "3 dead letters &lt;now&gt; See" in written.html

    def test_a_test_message(self) -> None:
        written = letter(news(Trial(key="t", found=NOON), search_url="", label=""))

        assert written.subject.startswith("✅ Lago reaches you here")
        assert "<b>Lago reaches you here</b>" in written.html

    def test_a_gift_is_free(self) -> None:
        assert "· free ·" in letter(news(a_drop(price=Minor(0)))).subject.replace(", was € 310 (-100 %)", "")


class TestTheWayOut:
    def test_is_under_every_letter(self) -> None:
        written = letter(unsubscribe="https://api.example/unsubscribe?d=a&t=b")

        assert written.text.endswith("\n\n-- \nSent by Lago. Unsubscribe https://api.example/unsubscribe?d=a&t=b\n")
        assert '<a href="https://api.example/unsubscribe?d=a&amp;t=b">Unsubscribe</a>' in written.html

    def test_is_missing_where_there_is_none(self) -> None:
        assert "nsubscribe" not in letter().text + letter().html
