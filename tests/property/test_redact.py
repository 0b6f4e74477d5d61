"""Whatever a far side says, a reason holds no secret, no line break, and not more than its bytes."""

import string

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from lago.domain.redact import reason

unhurried = settings(deadline=None)
"""Two cores shared with others may stall any example."""

texts = st.text(st.characters(exclude_categories=()), max_size=300)
token_characters = string.ascii_letters + string.digits + "_-"
tokens = st.builds(
    lambda bot, key: f"{bot}:{key}",
    st.integers(10_000, 10**12),
    st.text(token_characters, min_size=30, max_size=50),
)
around = st.sampled_from(
    ["", " ", "bot", "/bot", "https://api.telegram.org/bot", "x", "?token=", "'", "\n", "://", "@", "€"]
)
after = st.sampled_from(["", " ", "/sendMessage", "?a=b", "'", "\n", "…", "€", "@"])


@unhurried
@given(text=texts)
def test_any_text_becomes_one_short_line(text: str) -> None:
    shown = reason(text)

    assert len(shown.encode()) <= 500
    assert len(shown.splitlines()) <= 1


@unhurried
@given(before=texts, prefix=around, token=tokens, suffix=after, rest=texts)
def test_a_telegram_token_never_shows(before: str, prefix: str, token: str, suffix: str, rest: str) -> None:
    key = token.partition(":")[2]
    assume(key not in before + rest)

    assert key not in reason(before + prefix + token + suffix + rest)


@unhurried
@given(before=texts, prefix=around, secret=st.text(token_characters, min_size=12, max_size=40), rest=texts)
@example(before="a" * 495, prefix="", secret="abcdefghijkl", rest="")
def test_a_known_secret_never_shows(before: str, prefix: str, secret: str, rest: str) -> None:
    assert secret not in reason(before + prefix + secret + rest, secret)


@unhurried
@given(host=st.sampled_from(["a.example", "127.0.0.1:8080"]), path=st.text("abc/%-_=&?#.~@:", min_size=1), rest=texts)
def test_of_a_url_only_the_host_shows(host: str, path: str, rest: str) -> None:
    shown = reason(f"GET https://{host}/secret-{path}")

    # behind an @ another host may stand, and before it a password
    assert shown == ("GET https://…" if "@" in path else f"GET https://{host}/…")


@unhurried
@given(text=texts)
def test_a_reason_is_fine_as_it_is(text: str) -> None:
    once = reason(text)

    assert len(reason(once).encode()) <= 500
