"""What a service that Apprise reaches is given to show."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lago.channels.apprise import letter
from lago.channels.apprise.letter import Letter
from lago.channels.clean import utf16_length
from lago.domain.notification import Message
from tests.unit.slack.test_blocks import hostile_news
from tests.unit.telegram.builders import a_drop, an_ad, live, message, newest, news


def write(what: Message, *, units: int = 5_000, html: bool = False, titled: bool = True) -> Letter:
    return letter.write(what, "Europe/Vienna", units=units, html=html, titled=titled)


def test_an_ad_has_its_gist_as_title_and_the_rest_as_body() -> None:
    written = write(message())

    assert written.title == "🆕 New ad · Rennrad Wien · KTM Strada 1000 · € 283"
    assert written.body.splitlines()[:2] == [f"KTM Strada 1000 {an_ad().url}", "€ 283"]


def test_html_is_for_services_that_show_it() -> None:
    written = write(message(news(an_ad(title="<b>1 & 2"))), html=True)

    assert f'<b><a href="{an_ad().url}">&lt;b&gt;1 &amp; 2</a></b><br>\n<b>€ 283</b><br>\n' in written.body
    assert written.title == "🆕 New ad · Rennrad Wien · ＜b＞1 & 2 · € 283"


def test_plain_text_is_no_markup_to_services_that_read_some_in_it() -> None:
    ad = an_ad(title="[KTM](//evil.example) <@&1> @all", url="https://a.example/](x)<!y>")

    body = write(message(news(ad)), titled=False).body

    assert "［KTM］(//evil.example) ＜＠&1＞ ＠all https://a.example/%5D(x)%3C!y%3E\n" in body


def test_without_a_title_of_its_own_the_body_says_all() -> None:
    written = write(message(), titled=False)

    assert written.title == ""
    assert written.body.startswith("🆕 New ad · Rennrad Wien\nKTM Strada 1000 https://")


def test_a_club_has_its_numbers_as_title_and_25_lines_at_most() -> None:
    written = write(message(*[news(), news(a_drop())] * 20, more=7))

    assert written.title == "🔔 47 in all: 20 new ads, 20 price drops, 7 more · Rennrad Wien"
    assert len(written.body.splitlines()) == 26
    assert written.body.endswith(f"… and 22 more {news().search_url}")


def test_a_new_watch_is_told_whole() -> None:
    written = write(message(news(live(1, newest("One")))))

    assert written.title == "👀 Your watch Rennrad Wien is live"
    assert written.body.startswith("1 ad matches now.")


def test_what_is_one_line_long_is_title_and_body() -> None:
    written = write(message(news(live(0), label="")), units=40)

    assert written.title
    assert written.body


@settings(max_examples=40, deadline=None)
@given(
    st.lists(hostile_news(), min_size=1, max_size=30),
    st.integers(140, 10_000),
    st.booleans(),
    st.booleans(),
)
def test_whatever_sellers_write_a_body_is_never_empty_nor_too_long(
    notifications: list, units: int, html: bool, titled: bool
) -> None:
    written = write(message(*notifications), units=units, html=html, titled=titled)

    assert written.body.strip()
    assert utf16_length(written.body) <= units
    assert len(written.title) <= 200
