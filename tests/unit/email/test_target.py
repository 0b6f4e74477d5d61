"""What a person may give for a mail destination."""

import msgspec
import pytest

from lago.channels.email.target import TARGET, mail_address
from lago.errors import BadInputError


def some_bytes(count: int) -> bytes:
    return bytes(range(count))


def test_an_address_gets_a_key_to_unsubscribe() -> None:
    target = TARGET.make(" anna@example.org\n", some_bytes)

    assert target.address == "anna@example.org"
    assert msgspec.json.decode(target.secret) == {"unsubscribe_key": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}
    assert target.show == ""


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("anna@example.org", "anna@example.org"),
        ("Anna.Maria+lago@Mail.Example.ORG", "Anna.Maria+lago@mail.example.org"),
        ("o'brien@example.co.uk", "o'brien@example.co.uk"),
        ("anna@bücher.example", "anna@xn--bcher-kva.example"),
        ("anna@BÜCHER.example", "anna@xn--bcher-kva.example"),
        ("a@xn--bcher-kva.example", "a@xn--bcher-kva.example"),
        (f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 58}.at", f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 58}.at"),
    ],
)
def test_good_addresses(given: str, stored: str) -> None:
    assert mail_address(given) == stored


@pytest.mark.parametrize(
    "given",
    [
        "",
        "anna",
        "@example.org",
        "anna@",
        "anna@localhost",
        "anna@example.org, bert@example.org",
        "anna@example.org bert@example.org",
        "Anna <anna@example.org>",
        "anna@example.org\nBcc: bert@example.org",
        "anna\r\n@example.org",
        "an\x00na@example.org",
        "anna@exam\x7fple.org",
        "änna@example.org",
        '"anna maria"@example.org',
        "anna@bert@example.org",
        ".anna@example.org",
        "anna.@example.org",
        "an..na@example.org",
        "anna@.example.org",
        "anna@example..org",
        "anna@example.org.",
        "anna@-example.org",
        "anna@example-.org",
        "anna@127.0.0.1",
        "anna@[127.0.0.1]",
        "anna@exa_mple.org",
        "anna@\u202eexample.org",
        "anna@bü cher.example",
        f"anna@{'ü' * 200}.example",
        f"{'a' * 65}@example.org",
        f"anna@{'b' * 64}.org",
        f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 59}.at",
        "a" * 10_000 + "@example.org",
    ],
)
def test_what_is_no_address_is_refused_in_words(given: str) -> None:
    with pytest.raises(BadInputError, match=r"^address: got .*, expected (one mail address|a mail address of at most)"):
        TARGET.make(given, some_bytes)
