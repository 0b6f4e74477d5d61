"""Reasons hold no secrets, no URLs beyond the host, and stay short."""

import doctest

import pytest

from lago.domain import redact
from lago.domain.redact import REMOVED, reason

TOKEN = "123456789:AAEhBOweik6ad9rHZQ3lk0dF4tF5lZ0d2bW"


def test_the_documented_examples_hold() -> None:
    assert doctest.testmod(redact).failed == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Telegram 403: Forbidden: bot was blocked by the user",
            "Telegram 403: Forbidden: bot was blocked by the user",
        ),
        (f"POST https://api.telegram.org/bot{TOKEN}/sendMessage", "POST https://api.telegram.org/…"),
        ("at https://hooks.slack.com/services/T000/B000/XXXX now", "at https://hooks.slack.com/… now"),
        ("https://user:pass@a.example:8443/x?token=1", "https://a.example:8443/…"),
        ("'https://a.example'", "'https://a.example'"),
        ("https://a.example/", "https://a.example"),
        ("https://a.example?q=1", "https://a.example/…"),
        ("GET /iad/suche?keyword=rennrad&x=1 failed", "GET /iad/suche failed"),
        ("what? a = b", "what? a = b"),
        (f"bot{TOKEN} is wrong", f"bot{REMOVED} is wrong"),
        (f"bot{TOKEN.replace(':', '%3A')}", f"bot{REMOVED}"),
        ("Authorization: Bearer abcdefghijkl", REMOVED),
        ("'x-api-key': 'abcdef'", f"'{REMOVED}"),
        ("key AKIAIOSFODNN7EXAMPLE denied", f"key {REMOVED} denied"),
        ("xoxb-1234-abcdefgh revoked", f"{REMOVED} revoked"),
        ('{"token": "s3cret"}', "{" + REMOVED + "}"),
        ("password=hunter2&user=a", f"{REMOVED}&user=a"),
        ("login as maria:geheim@a.example", f"login as {REMOVED}a.example"),
        ("two\nlines\r\nand\x00 more", "two lines and more"),
        ("no bot token: run `lago setup`", "no bot token: run `lago setup`"),
    ],
)
def test_a_reason_says_what_happened_and_no_more(text: str, expected: str) -> None:
    assert reason(text) == expected


def test_a_known_secret_goes_whatever_its_shape() -> None:
    assert reason("the code is hunter2!", "hunter2!") == f"the code is {REMOVED}"
    assert reason("the code is a%2Fb%3Dc", "a/b=c") == f"the code is {REMOVED}"
    assert reason("nothing to hide", "", " ") == "nothing to hide"


@pytest.mark.parametrize("hidden", ["\u200b", "\u2060", "\x00", "\ufeff"])
def test_a_secret_cannot_hide_behind_an_invisible_character(hidden: str) -> None:
    assert "AAEhBOweik6ad9rHZQ3lk0dF4tF5lZ0d2bW" not in reason(TOKEN[:12] + hidden + TOKEN[12:])


def test_a_long_reason_is_cut_at_a_character() -> None:
    shown = reason("ä" * 400)

    assert len(shown.encode()) <= 500
    assert shown.startswith("ä" * 200)
    assert shown.endswith("…")


@pytest.mark.parametrize("filler", ["1", "a", "?", "://", "a:", "=", "'", "1:", "token", "@", "a-"])
def test_hostile_length_costs_no_time(filler: str) -> None:
    assert len(reason(filler * 100_000).encode()) <= 500
