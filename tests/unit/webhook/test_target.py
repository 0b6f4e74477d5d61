"""What a person gives for a webhook, and what is kept of it."""

import json
from base64 import b64decode

import pytest

from lago.channels.webhook.secret import WebhookSecret, newest_key, read_secret, rotated, write_secret
from lago.channels.webhook.target import TARGET, target_spec
from lago.errors import BadInputError
from lago.http_guard import read_origins
from tests.unit.webhook.builders import KEY, OLD_KEY, SECRET, URL, bytes_of


def test_a_url_becomes_a_host_to_show_and_a_secret_with_a_new_key() -> None:
    target = TARGET.make(f" {URL}\n", bytes_of)

    kept = json.loads(target.secret)
    assert target.address == "hook.example.org"
    assert kept["url"] == URL
    assert b64decode(kept["keys"][0].removeprefix("whsec_")) == bytes_of(32)


def test_the_key_is_told_once_and_the_path_never() -> None:
    target = TARGET.make(URL, bytes_of)

    assert newest_key(target.secret) in target.show
    assert "T0PSECRETPATH" not in target.show + target.address


@pytest.mark.parametrize("url", ["http://hook.example.org/T0P", "https://10.0.0.1/T0P", "https://a:T0P@example.org/"])
def test_a_url_that_must_not_be_asked_is_refused_without_its_path(url: str) -> None:
    with pytest.raises(BadInputError) as caught:
        TARGET.make(url, bytes_of)

    assert "T0P" not in str(caught.value)


def test_a_trusted_origin_is_taken_where_it_is_trusted() -> None:
    trial = target_spec(read_origins("http://127.0.0.1:8099", "TRUSTED_ORIGINS"))

    assert trial.make("http://127.0.0.1:8099/hook", bytes_of).address == "127.0.0.1"
    with pytest.raises(BadInputError):
        TARGET.make("http://127.0.0.1:8099/hook", bytes_of)


def test_a_rotation_puts_a_new_key_first_and_keeps_the_one_before() -> None:
    once = rotated(SECRET, bytes_of)
    twice = rotated(once, lambda number: b"x" * number)

    assert read_secret(once).keys == (newest_key(once), KEY)
    assert read_secret(twice).keys == (newest_key(twice), newest_key(once))
    assert read_secret(twice).url == URL


def test_a_secret_survives_white_space_around_it() -> None:
    assert read_secret(f"\n {SECRET} \n") == WebhookSecret(url=URL, keys=(KEY,))


@pytest.mark.parametrize(
    "secret",
    [
        "",
        " ",
        URL,
        "{",
        "[" * 10_000,
        '{"url": "https://x.example.org/"}',
        json.dumps({"url": URL, "keys": []}),
        json.dumps({"url": "", "keys": [KEY]}),
        json.dumps({"url": URL, "keys": [KEY, "T0PSECRET"]}),
        json.dumps({"url": URL, "keys": ["whsec_T0PSECRET"]}),
        json.dumps({"url": URL, "keys": ["whsec_" + "eA==" * 2]}),
        json.dumps({"url": URL, "keys": [OLD_KEY.removeprefix("whsec_")]}),
    ],
)
def test_what_is_no_secret_of_a_webhook_is_refused_without_repeating_it(secret: str) -> None:
    with pytest.raises(BadInputError) as caught:
        read_secret(secret)

    assert "T0P" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_what_is_written_is_json_with_url_and_keys() -> None:
    secret = write_secret(WebhookSecret(url=URL, keys=(KEY, OLD_KEY)))

    assert json.loads(secret) == {"url": URL, "keys": [KEY, OLD_KEY]}
