"""What a person reads."""

import pytest

from lago.channels import telegram_html
from lago.channels.telegram_html import Button
from lago.channels.wording import drop, price
from lago.domain.ids import EpochMs, Minor
from lago.domain.notification import Notification
from tests.unit.telegram.builders import a_drop, an_ad, live, message, newest, news

VIENNA = "Europe/Vienna"


def html(*notifications: Notification, more: int = 0, time_zone: str = VIENNA) -> str:
    return telegram_html.text(message(*notifications, more=more), time_zone)


def plain(*notifications: Notification, more: int = 0, time_zone: str = VIENNA) -> str:
    return telegram_html.plain(message(*notifications, more=more), time_zone)


class TestPrice:
    @pytest.mark.parametrize(
        ("minor", "shown"),
        [
            (123_450, "€ 1.234,50"),
            (28_300, "€ 283"),
            (5, "€ 0,05"),
            (235_000_000, "€ 2.350.000"),
            (79_676, "€ 796,76"),
            (0, "free"),
            (-500, "-€ 5"),
        ],
    )
    def test_is_written_the_austrian_way(self, minor: int, shown: str) -> None:
        assert price(Minor(minor), "EUR") == shown

    def test_without_a_number_is_what_the_marketplace_shows(self) -> None:
        assert price(None, "EUR", "Preis auf Anfrage") == "Preis auf Anfrage"
        assert price(None, "EUR") == "no price given"

    def test_in_another_currency_names_it(self) -> None:
        assert price(Minor(5_000), "CHF") == "CHF 50"

    @pytest.mark.parametrize(
        ("old", "new", "shown"),
        [
            (31_000, 28_300, "-8 %"),
            (100_000, 100, "-99 %"),
            (100, 0, "-100 %"),
            (100_000, 99_500, "-0.5 %"),
            (100_000, 99_999, ""),
            (0, 0, ""),
            (100, 200, ""),
        ],
    )
    def test_drop_is_rounded_down(self, old: int, new: int, shown: str) -> None:
        assert drop(Minor(old), Minor(new)) == shown


class TestOneAd:
    def test_says_everything_there_is_to_say(self) -> None:
        ad = an_ad(details=("70 m²", "3 Zimmer"), paylivery=True)

        assert plain(news(ad, distance_km=3.24)).splitlines() == [
            "🆕 New ad · Rennrad Wien",
            "KTM Strada 1000 https://www.willhaben.at/iad/ktm-strada-1234567890/",
            "€ 283",
            "📍 1070 Wien, Neubau · 3.2 km away",
            "👤 Private seller: Anna · PayLivery",
            "📝 70 m² · 3 Zimmer",
            "🕒 29 Nov 2025, 11:30",
        ]

    def test_says_nothing_of_what_is_not_known(self) -> None:
        ad = an_ad(price=None, price_text="", place="", seller_kind=None, seller_name="", published=None)

        assert html(news(ad, label="")).splitlines() == [
            "🆕 <b>New ad</b>",
            '<b><a href="https://www.willhaben.at/iad/ktm-strada-1234567890/">KTM Strada 1000</a></b>',
            "<b>no price given</b>",
        ]

    def test_that_became_cheaper_shows_old_price_and_percent(self) -> None:
        assert "📉 <b>Price drop</b> · Rennrad Wien\n" in html(news(a_drop()))
        assert "<b>€ 283</b>, was <s>€ 310</s> (-8 %)" in html(news(a_drop()))

    def test_compares_with_the_price_this_person_was_last_told(self) -> None:
        assert "was <s>€ 290</s> (-2 %)" in html(news(a_drop(), old_price=Minor(29_000)))

    def test_that_became_a_gift_is_free(self) -> None:
        assert "<b>free</b>, was <s>€ 310</s> (-100 %)" in html(news(a_drop(price=0)))

    def test_of_a_dealer_says_so(self) -> None:
        assert "👤 Dealer: Radhaus" in html(news(an_ad(seller_kind="dealer", seller_name="Radhaus")))

    def test_of_an_unknown_kind_of_seller_names_the_seller(self) -> None:
        assert "👤 Seller: Anna" in html(news(an_ad(seller_kind=None)))

    def test_says_when_ads_may_be_missing_and_where_to_look(self) -> None:
        shown = html(news(an_ad(gap=True)))

        assert "⚠️ More ads appeared than could be read: <a href=" in shown
        assert shown.endswith(">open the search</a>")

    @pytest.mark.parametrize("distance", [float("nan"), float("inf"), -1.0])
    def test_keeps_an_impossible_distance_to_itself(self, distance: float) -> None:
        assert "km" not in html(news(distance_km=distance))

    def test_far_away_needs_no_decimals(self) -> None:
        assert "· 127 km away" in html(news(distance_km=127.4))

    def test_has_a_button_to_the_ad(self) -> None:
        assert telegram_html.button(message()) == Button("Open the ad", an_ad().url)

    def test_shows_its_picture(self) -> None:
        pictured = message(news(an_ad(image="https://cache.willhaben.at/mmo/1.jpg")))

        assert telegram_html.photo(pictured) == "https://cache.willhaben.at/mmo/1.jpg"
        assert telegram_html.photo(message()) == ""


class TestTimes:
    def test_are_the_persons_own(self) -> None:
        assert "29 Nov 2025, 05:30" in html(news(), time_zone="America/New_York")

    @pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../../etc/passwd", "Europe", "\0", "\ud800", "x" * 5_000])
    def test_are_viennese_where_the_zone_is_unknown(self, zone: str) -> None:
        assert "29 Nov 2025, 11:30" in html(news(), time_zone=zone)

    def test_name_utc_where_the_machine_knows_no_zones(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lago.domain.time_zone.HOME_ZONE", "No/Data")

        assert "29 Nov 2025, 10:30 UTC" in html(news(), time_zone="No/Data")

    @pytest.mark.parametrize("moment", [10**17, -(10**17), 2**63 - 1])
    def test_that_no_calendar_has_are_left_out(self, moment: int) -> None:
        assert "🕒" not in html(news(an_ad(published=EpochMs(moment))))


class TestClub:
    def test_counts_what_it_holds(self) -> None:
        shown = html(news(), news(), news(a_drop()))

        assert shown.startswith("🔔 <b>2 new ads, 1 price drop</b> · Rennrad Wien\n\n🆕 ")

    def test_tells_each_in_full_with_its_link(self) -> None:
        first, second = news(distance_km=3.0), news(a_drop(title="Puch Clubman"))

        _, one, other = html(first, second).split("\n\n")
        assert one.startswith('🆕 <b><a href="https://www.willhaben.at/iad/ktm-strada-1234567890/">KTM Strada 1000</a>')
        assert "📍 1070 Wien, Neubau · 3.0 km away · 👤 Private seller: Anna · 🕒 29 Nov 2025, 11:30" in one
        assert "Puch Clubman</a></b>\n<b>€ 283</b>, was <s>€ 310</s> (-8 %)" in other

    def test_says_how_many_more_there_are(self) -> None:
        shown = html(news(), news(), more=40)

        assert "<b>2 new ads, 40 more</b>" in shown
        assert shown.endswith("\n\n<i>… and 40 more</i>")

    def test_counts_what_did_not_fit_as_more(self) -> None:
        shown = html(*[news()] * 90, more=10)

        told = shown.count("🆕")
        assert 10 < told < 90
        assert shown.endswith(f"<i>… and {100 - told} more</i>")

    def test_of_one_and_more_is_a_club(self) -> None:
        assert html(news(), more=3).startswith("🔔 <b>1 new ad, 3 more</b>")

    def test_has_no_picture_and_a_button_to_the_search(self) -> None:
        club = message(news(an_ad(image="https://cache.willhaben.at/mmo/1.jpg")), news())

        assert telegram_html.photo(club) == ""
        assert telegram_html.button(club) == Button("Open the search", news().search_url)

    def test_of_several_searches_links_each_ad_to_its_own(self) -> None:
        flats = news(label="Flats", search_url="https://www.willhaben.at/iad/immobilien?a=1&b=2")

        shown = html(news(), flats)
        assert shown.startswith("🔔 <b>2 new ads</b>\n")
        assert '<a href="https://www.willhaben.at/iad/immobilien?a=1&amp;b=2">Flats</a>' in shown
        assert telegram_html.button(message(news(), flats)) is None

    def test_says_once_when_ads_may_be_missing(self) -> None:
        assert html(news(), *[news(an_ad(gap=True))] * 3).count("More ads appeared than could be read") == 1

    def test_can_hold_a_new_watch(self) -> None:
        assert "1 new ad, 1 new watch" in html(news(), news(live()))


class TestNewWatch:
    def test_is_live_with_a_count_and_the_three_newest(self) -> None:
        event = live(1_234, *[newest(title) for title in ("One", "Two", "Three", "Four")])

        assert plain(news(event)).splitlines() == [
            "👀 Your watch Rennrad Wien is live",
            "1.234 ads match now. New ones and price drops will reach you here.",
            "The newest:",
            "• One https://www.willhaben.at/One · € 100",
            "• Two https://www.willhaben.at/Two · € 100",
            "• Three https://www.willhaben.at/Three · € 100",
        ]

    def test_of_a_single_ad(self) -> None:
        assert "\n1 ad matches now." in html(news(live(1, newest("One"))))

    def test_that_matches_nothing_says_so(self) -> None:
        assert html(news(live(0), label="")).splitlines() == [
            "👀 Your watch is live",
            "No ads match yet. New ones and price drops will reach you here.",
        ]

    def test_has_a_button_to_the_search(self) -> None:
        assert telegram_html.button(message(news(live()))) == Button("Open the search", news().search_url)


class TestHostileSeller:
    def test_cannot_bring_markup(self) -> None:
        shown = html(news(an_ad(title="<b>\"A\" & 'B'</b></a>", place="<script>", seller_name="</b>")))

        assert "&lt;b&gt;&quot;A&quot; &amp; &#x27;B&#x27;&lt;/b&gt;&lt;/a&gt;</a></b>" in shown
        assert "<script>" not in shown
        assert "Private seller: &lt;/b&gt;" in shown

    def test_cannot_break_out_of_the_link(self) -> None:
        assert 'href="https://a.example/&quot;&gt;&lt;b&gt;"' in html(news(an_ad(url='https://a.example/"><b>')))

    @pytest.mark.parametrize(
        "url",
        [
            "javascript:alert(1)",
            "tg://user?id=1",
            "ftp://a.example/",
            "https://",
            "//a.example/",
            "https://www.willhaben.at@evil.example/",
            "https://www.willhaben.at\\@evil.example/",
            "https://a.example/\u202egpj.exe",
            "https://a.example/ b",
            "https://a.example/\n",
            "https://[::1",
            "https://a.example:99999/",
            "https://a.example/\ud800",
            "https://a.example/" + "x" * 5_000,
            "",
        ],
    )
    def test_gets_no_link_or_button_for_an_odd_url(self, url: str) -> None:
        hostile = message(news(an_ad(url=url, image=url)))

        assert telegram_html.button(hostile) is None
        assert telegram_html.photo(hostile) == ""
        assert "<a " not in telegram_html.text(hostile, VIENNA)

    def test_cannot_push_the_price_out_of_sight(self) -> None:
        shown = telegram_html.caption(message(news(an_ad(title="x" * 10_000, place="y" * 10_000))), VIENNA)

        assert "<b>€ 283</b>" in shown
        assert "🕒 29 Nov 2025, 11:30" in shown

    def test_cannot_reverse_the_text_or_forge_lines(self) -> None:
        shown = plain(news(an_ad(title="a\u202eb\u2066c\u200bd\ufeff\r\n\x00€ 1")))

        assert "\nabcd € 1 https://" in shown

    def test_cannot_notify_strangers(self) -> None:
        assert "@" not in plain(news(an_ad(title="ask @stranger_bot")))

    def test_without_a_visible_title_still_gets_a_link(self) -> None:
        assert ">Ad without a title</a>" in html(news(an_ad(title="\u200b\u3164 ")))
