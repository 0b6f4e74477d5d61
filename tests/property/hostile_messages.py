"""Messages as the worst seller would have them: every kind, alone and in clubs, with texts and links to match."""

from hypothesis import strategies as st

from lago.domain.event import AdEvent, Event, NewestAd, OperatorAlert, Trial, WatchLive
from lago.domain.notification import Message, Notification
from tests.unit.telegram.builders import NOON

MARKUP = [
    "<b>\"&amp;'</b></a>",
    "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "<!channel>",
    "<!here|@here>",
    "<!subteam^S1>",
    "<@U123ABC>",
    "<@123456789012345678> <@&123456789012345678> <#123456789012345678>",
    "@everyone @here @channel",
    "<https://evil.example/|click>",
    "[click](https://evil.example/)",
    "![x](https://evil.example/x.png)",
    "](https://evil.example/)[",
    "|https://evil.example/>",
    "https://evil.example/ discord.gg/evil",
    "<https://evil.example/>",
    "**b** *i* ~~s~~ ~s~ __u__ _i_ `c` ```c``` ||s||",
    "# h",
    "> q",
    ">>> q",
    "- l",
    "\\",
    "\\*\\[",
    "{}%s%(x)s\\",
]
HIDDEN = [
    "\u202etxet\u2066\u2069",
    "\u200b\u200d\ufeff\u00ad\u3164",
    "\x00\x07\x1b[31m\x7f\x85",
    "\r\nBcc: victim@evil.example\r\n\r\nbody",
    "\n\n🆕 forged\n… and 7 more\n",
    "\u2028\u2029",
    "\ud83d",
    "\udc00\ud800",
    "\ue000",
    "=?utf-8?q?=0D=0ABcc:_victim@evil.example?=",
    "=?utf-8?b?4oCu?= =?utf-8?b?4oCu?=",
    "\r\n--=_boundary\r\nContent-Type: text/html\r\n\r\n",
    "👩\u200d👩\u200d👧🏽",
    "🏴\U000e0067\U000e0062\U000e007f",
    "e" + "\u0301" * 30,
]
LONG = [("x", 10_000), ("🚲", 5_000), ("& ", 5_000), ("<*_~`", 2_000), ("[](", 3_000), ("\u202e\u0301", 5_000)]
"""What is repeated, and how many times."""


def repeated(long: tuple[str, int]) -> str:
    return long[0] * long[1]


pieces = st.lists(st.sampled_from(["", " ", "Rad", *MARKUP, *HIDDEN]), max_size=4).map("".join)
texts = st.one_of(
    pieces,
    pieces.map(lambda text: f"{text} " * 20),
    st.text(st.characters(exclude_categories=()), max_size=30),
    st.sampled_from(LONG).map(repeated),
)

GOOD = "https://www.willhaben.at/iad/x-1/"
URLS = [
    "",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "//evil.example/",
    "https://www.willhaben.at@evil.example/",
    "https://evil.example\\@www.willhaben.at/",
    "https://[::1",
    "https://x.example/\r\nBcc: victim@evil.example",
    "https://x.example/\u202ecod.exe",
    "https://x.example/\ud800",
]
"""None of these may be shown."""
SHOWABLE = [
    GOOD,
    GOOD + "?a=1&b=2#c",
    GOOD + "\"'><script>|`*_~()[]{}",
    GOOD + "](https://evil.example/)",
    GOOD + "|click><!channel>@everyone",
    GOOD + "ü🚲",
]
LONG_ENDS = [("x", 10_000), ("x", 2_000), ("&", 2_000), ('"', 2_000), ("|", 2_000)]
urls = st.one_of(
    st.sampled_from([*URLS, *SHOWABLE]),
    st.sampled_from(LONG_ENDS).map(repeated).map("http://x.example/".__add__),
    texts.map(GOOD.__add__),
    texts,
)

int64 = st.integers(-(2**63), 2**63 - 1)
prices = st.one_of(st.sampled_from([None, 0, 1, -1, 9_990, 10**12]), int64)
moments = st.one_of(st.just(NOON), int64)
kilometres = st.none() | st.floats()

ads = st.builds(
    AdEvent,
    kind=st.sampled_from(["new_ad", "price_drop"]),
    source=st.just("willhaben"),
    ad=st.sampled_from(["1", "2", "1234567890"]),
    title=texts,
    price=prices,
    currency=st.just("EUR") | texts,
    price_text=texts,
    old_price=prices,
    published=st.none() | moments,
    found=moments,
    url=urls,
    image=st.none() | urls,
    place=texts,
    seller_kind=st.sampled_from(["private", "dealer", None]),
    seller_name=texts,
    coordinates=st.none() | st.tuples(st.floats(), st.floats()),
    details=st.lists(texts, max_size=10).map(tuple),
    paylivery=st.none() | st.booleans(),
    gap=st.booleans(),
)
newest_ads = st.builds(NewestAd, title=texts, price=prices, currency=texts, price_text=texts, url=urls)
live = st.builds(
    WatchLive,
    watch=st.just("w1"),
    found=moments,
    total=st.sampled_from([0, 1, 7, 2**63 - 1]),
    newest=st.lists(newest_ads, max_size=5).map(tuple),
)
alerts = st.builds(OperatorAlert, key=st.just("dead"), found=moments, text=texts)
trials = st.builds(Trial, key=st.just("t1"), found=moments)
events: st.SearchStrategy[Event] = st.one_of(ads, ads, live, alerts, trials)
labels = st.one_of(st.just("Rennrad"), texts)

notifications = st.builds(
    Notification,
    id=st.sampled_from(["n1", "n2", "n3"]),
    destination=st.just("d1"),
    event=events,
    watches=st.just(("w1",)),
    label=labels,
    search_url=urls,
    old_price=prices,
    distance_km=kilometres,
)
singles = notifications.map(lambda one: Message(notifications=(one,)))
clubs = st.builds(
    lambda ones, size, more: Message(notifications=tuple(ones * 50)[:size], more=more),
    st.lists(notifications, min_size=1, max_size=4),
    st.integers(1, 50),
    st.sampled_from([0, 1, 7, 12_345]),
)
"""Of 1 to 50; one of a single notification and none more is that notification."""
messages = st.one_of(singles, clubs)


def links_of(message: Message) -> set[str]:
    """All that the message has for a link, good or bad."""
    found: set[str] = set()
    for notification in message.notifications:
        event = notification.event
        found.add(notification.search_url)
        if isinstance(event, AdEvent):
            found |= {event.url, event.image or ""}
        elif isinstance(event, WatchLive):
            found |= {ad.url for ad in event.newest}
    return found
