"""Whatever sellers write, Telegram gets HTML that it takes, within its limits."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from lago.channels import telegram_html
from lago.channels.clean import cut, one_line, utf16_length
from lago.domain.event import AdEvent, NewestAd, WatchLive
from lago.domain.notification import Message, Notification
from tests.property.telegram_markup import read, units

unhurried = settings(deadline=None)
"""Two cores shared with others may stall any example."""

NASTY = [
    "<b>\"&amp;'</b></a>",
    "&lt;&",
    "\u202etxet\u2066",
    "\u200b\u200d\ufeff",
    "👩\u200d👩\u200d👧🏽",
    "e" + "\u0301" * 30,
    "\ud83d",
    "\x00\r\n\u2028",
    "</script>",
    "🚲" * 150,
    "x" * 300,
    "@stranger",
    "{}%s\\",
]
texts = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.lists(st.sampled_from(NASTY), max_size=4).map("".join),
)
urls = st.one_of(
    texts,
    texts.map(lambda tail: f"https://www.willhaben.at/iad/{tail}"),
    st.just("https://www.willhaben.at/iad/x?a=1&b='\"<>"),
)
int64 = st.integers(-(2**63), 2**63 - 1)
prices = st.none() | st.just(0) | int64
zones = st.one_of(st.sampled_from(["Europe/Vienna", "America/New_York", "", "Europe"]), texts)

ads = st.builds(
    AdEvent,
    kind=st.sampled_from(["new_ad", "price_drop"]),
    source=texts,
    ad=texts,
    title=texts,
    price=prices,
    currency=st.just("EUR") | texts,
    price_text=texts,
    old_price=prices,
    published=st.none() | int64,
    found=int64,
    url=urls,
    image=st.none() | urls,
    place=texts,
    seller_kind=st.sampled_from(["private", "dealer", None]),
    seller_name=texts,
    coordinates=st.none(),
    details=st.lists(texts, max_size=10).map(tuple),
    paylivery=st.none() | st.booleans(),
    gap=st.booleans(),
)
newest_ads = st.builds(NewestAd, title=texts, price=prices, currency=texts, price_text=texts, url=urls)
live = st.builds(WatchLive, watch=texts, found=int64, total=int64, newest=st.lists(newest_ads, max_size=5).map(tuple))


def notifications_about(events: st.SearchStrategy[AdEvent | WatchLive]) -> st.SearchStrategy[Notification]:
    return st.builds(
        Notification,
        id=texts,
        destination=texts,
        event=events,
        watches=st.just(()),
        label=texts,
        search_url=urls,
        old_price=prices,
        distance_km=st.none() | st.floats(),
    )


singles = notifications_about(ads | live).map(lambda one: Message(notifications=(one,)))
clubs = st.builds(
    lambda ones, times, more: Message(notifications=tuple(ones) * times, more=more),
    st.lists(notifications_about(ads | live), min_size=1, max_size=4),
    st.integers(2, 20),
    st.integers(0, 10**6),
)
messages = singles | clubs


@unhurried
@given(message=messages, zone=zones)
def test_text_is_always_what_telegram_takes(message: Message, zone: str) -> None:
    shown = read(telegram_html.text(message, zone))

    assert 0 < units(shown.text) <= 4_096
    assert shown.entities <= 100
    assert sum(len(link.encode()) for link in shown.links) <= 8_000


@unhurried
@given(message=singles, zone=zones)
def test_a_caption_is_too_and_nothing_of_it_had_to_be_cut(message: Message, zone: str) -> None:
    shown = read(telegram_html.caption(message, zone))

    assert 0 < units(shown.text) <= 1_024
    if isinstance(message.notifications[0].event, AdEvent):
        assert shown.text == read(telegram_html.text(message, zone)).text


@unhurried
@given(message=messages, zone=zones)
def test_plain_text_fits_as_it_is(message: Message, zone: str) -> None:
    assert 0 < units(telegram_html.plain(message, zone)) <= 4_096


@unhurried
@given(message=messages, zone=zones)
def test_no_line_is_forged_and_nothing_hides_or_reverses(message: Message, zone: str) -> None:
    for shown in (telegram_html.plain(message, zone), read(telegram_html.text(message, zone)).text):
        hidden = {c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n", "\u200d"}
        assert not hidden


@unhurried
@given(message=messages, zone=zones)
def test_links_buttons_and_photos_are_plain_http(message: Message, zone: str) -> None:
    key = telegram_html.button(message)
    shown = [*read(telegram_html.text(message, zone)).links, telegram_html.photo(message), key.url if key else ""]

    for link in filter(None, shown):
        assert link.startswith(("https://", "http://"))
        assert "@" not in link.partition("://")[2].partition("/")[0]
        link.encode()


@unhurried
@given(message=clubs)
def test_a_club_accounts_for_every_notification(message: Message) -> None:
    for shown in (read(telegram_html.text(message, "")).text, telegram_html.plain(message, "")):
        blocks = [block for block in shown.split("\n\n")[1:] if block.startswith(("🆕 ", "📉 ", "👀 "))]
        rest = (
            shown.rpartition("\n\n… and ")[2].removesuffix(" more").replace(".", "") if "\n\n… and " in shown else "0"
        )
        assert len(blocks) + int(rest) == len(message.notifications) + message.more


@unhurried
@given(text=texts, limit=st.integers(0, 80))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)

    assert units(line) <= limit
    assert line == line.strip()
    assert len(line.splitlines()) <= 1
    assert one_line(line, limit) == line


@unhurried
@given(text=st.text(), limit=st.integers(0, 30))
def test_a_cut_text_is_the_start_of_the_text(text: str, limit: int) -> None:
    short = cut(text, limit)

    assert utf16_length(short) <= limit
    assert short == text or not short or text.startswith(short.removesuffix("…"))
