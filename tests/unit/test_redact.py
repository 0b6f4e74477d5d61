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
        ("no such key: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", f"no such key: {REMOVED}"),
        ("Cannot POST /services/T000/B000/XXXX", f"Cannot POST /{REMOVED}"),
        ("Cannot POST /api/webhooks/123456789012345678/abc-DEF_1", f"Cannot POST /api/{REMOVED}"),
        ('{"url":"https:\\/\\/hooks.slack.com\\/services\\/T000"}', '{"url":"https://hooks.slack.com/…"}'),
        ("to=https%3A%2F%2Fhooks.slack.com%2Fservices", f"to={REMOVED}"),
        ("AWS_SECRET_ACCESS_KEY = abcdef", f"AWS_{REMOVED}"),
        ("pover://user@token failed", "pover://… failed"),
        ("https://anna:pass/word@a.example/x", "https://…"),
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


@pytest.mark.parametrize("said", ["KEY", "cut at KE", "in JSON: KEY"])
def test_the_key_in_a_longer_secret_goes_alone_and_cut_off_too(said: str) -> None:
    key = "AAEhBOweik6ad9rHZQ3lk0dF4tF5lZ0d2bW"
    text = said.replace("KEY", key).replace("KE", key[:-9])

    assert key[:18] not in reason(text, f'{{"url": "https://a.example/{key}"}}')


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
