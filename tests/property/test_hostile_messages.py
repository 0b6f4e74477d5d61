"""Whatever sellers write, every channel says it within its service's limits, and it does nothing but be read."""

import re
import unicodedata
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings

from lago.channels.registry import CHANNELS
from lago.channels.wording import is_club
from lago.domain.notification import Message
from tests.property.hostile_messages import clubs, links_of, messages
from tests.property.renderings import CLUBS_AS_LISTS, RENDERINGS

unhurried = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example, HealthCheck.data_too_large],
)
"""Two cores shared with others may stall any example, and ten thousand characters are meant."""

_HIDING = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_BLANK = "\u034f\u115f\u1160\u2800\u3164\uffa0"
_ENTRY = re.compile(r"(?:🆕|📉|👀|✅|⚠️) (?!More ads appeared than could be read: )")
_WRITTEN_OUT = re.compile(r"https?://\S+")
_MORE = re.compile(r"… and ([\d.]+) more")


def harmless(link: str) -> bool:
    """Whether a link may be shown."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    plain = len(link) <= 2_048 and not any(hides(character) or character.isspace() for character in link)
    return plain and parts.scheme in ("http", "https") and "@" not in parts.netloc


def hides(character: str) -> bool:
    return unicodedata.category(character) in _HIDING or character in _BLANK


def test_every_channel_is_held_to_it() -> None:
    assert set(RENDERINGS) == set(CHANNELS)


@pytest.mark.parametrize("channel", CHANNELS)
@settings(unhurried, max_examples=25)
@given(message=messages)
def test_what_sellers_write_fits_hides_nothing_calls_nobody_and_leads_nowhere(channel: str, message: Message) -> None:
    may_lead_to = set(filter(harmless, links_of(message)))

    for form in RENDERINGS[channel](message):
        for text in form.texts:
            assert not set(filter(hides, text)) - {"\n", "\u200d"}
            assert not re.search(r"@[A-Za-z]\w{3}", _WRITTEN_OUT.sub("", text))
        # some services want more of a link's characters quoted than others
        assert {unquote(link) for link in form.links} <= set(map(unquote, may_lead_to))


@pytest.mark.parametrize("channel", CLUBS_AS_LISTS)
@settings(unhurried, max_examples=12)
@given(message=clubs.filter(is_club))
def test_a_club_lists_25_at_most_and_counts_the_rest(channel: str, message: Message) -> None:
    lists = [form.listed for form in RENDERINGS[channel](message) if form.listed]

    assert lists
    for text in lists:
        lines = text.split("\n\n" if channel == "email" else "\n")
        rest = [int(found[1].replace(".", "")) for line in lines if (found := _MORE.match(line))]
        entries = sum(bool(_ENTRY.match(line)) for line in lines)
        assert entries <= 25
        assert entries + sum(rest) == len(message.notifications) + message.more
