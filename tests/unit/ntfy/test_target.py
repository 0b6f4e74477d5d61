"""What a person gives for an ntfy topic, and what is kept of it."""

import json

import pytest

from lago.channels.ntfy.target import TARGET, read_secret, target_spec
from lago.errors import BadInputError
from lago.http_guard import read_origins
from tests.unit.ntfy.builders import OPEN, PROTECTED, TOKEN, TOPIC, URL


def no_random(_number: int) -> bytes:
    raise AssertionError("nothing is to be made up")


@pytest.mark.parametrize("given", [URL, f" {URL}\n", f"{URL}/", f"HTTPS://NTFY.SH/{TOPIC}"])
def test_a_topic_becomes_its_server_to_show_and_a_secret(given: str) -> None:
    target = TARGET.make(given, no_random)

    assert (target.address, target.show) == ("ntfy.sh", "")
    assert json.loads(target.secret) == {"url": URL, "token": ""}


@pytest.mark.parametrize("given", [f"https://:{TOKEN}@ntfy.sh/{TOPIC}", f"https://{TOKEN}@ntfy.sh/{TOPIC}"])
def test_a_token_is_kept_apart_from_the_url(given: str) -> None:
    assert json.loads(TARGET.make(given, no_random).secret) == {"url": URL, "token": TOKEN}


@pytest.mark.parametrize(
    "given",
    [
        "https://ntfy.sh",
        "https://ntfy.sh/",
        "https://ntfy.sh/T0PSECRET/json",
        "https://ntfy.sh/T0PSECRET?auth=1",
        "https://ntfy.sh/T0PSECRET%2f",
        f"https://ntfy.sh/T0PSECRET{'x' * 64}",
        "https://ntfy.sh/ä-T0PSECRET",
        "https://good@evil.example.org/T0PSECRET",
        "https://user:T0PSECRET@ntfy.sh/topic",
        f"https://user:{TOKEN}@ntfy.sh/T0PSECRET",
        f"https://:{TOKEN}@evil.example.org@ntfy.sh/T0PSECRET",
        "http://ntfy.sh/T0PSECRET",
        "https://127.0.0.1/T0PSECRET",
        "ntfy.sh/T0PSECRET",
        "T0PSECRET",
    ],
)
def test_what_is_no_topic_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(BadInputError) as caught:
        TARGET.make(given, no_random)

    assert "T0PSECRET" not in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_a_server_of_ones_own_is_taken_where_it_is_trusted() -> None:
    home = target_spec(read_origins("http://192.168.1.5:8080", "TRUSTED_ORIGINS"))

    kept = read_secret(home.make("http://192.168.1.5:8080/alerts", no_random).secret)

    assert (kept.server, kept.topic) == ("http://192.168.1.5:8080/", "alerts")


@pytest.mark.parametrize("secret", [OPEN, PROTECTED, f"\n{OPEN} ", json.dumps({"url": URL})])
def test_what_was_kept_is_read_again(secret: str) -> None:
    assert (read_secret(secret).server, read_secret(secret).topic) == ("https://ntfy.sh/", TOPIC)


@pytest.mark.parametrize(
    "secret",
    [
        "",
        URL,
        "{}",
        "[" * 10_000,
        json.dumps({"url": "https://ntfy.sh"}),
        json.dumps({"url": f"https://ntfy.sh/{TOPIC}?x"}),
        json.dumps({"url": f"https://a@ntfy.sh/{TOPIC}"}),
        json.dumps({"url": URL, "token": f"{TOKEN}\r\nx: y"}),
    ],
)
def test_what_is_no_secret_of_a_topic_is_refused_without_repeating_it(secret: str) -> None:
    with pytest.raises(BadInputError) as caught:
        read_secret(secret)

    assert TOPIC not in str(caught.value)
    assert caught.value.__suppress_context__
