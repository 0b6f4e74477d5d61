"""Signatures, checked as the documentation tells receivers to."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lago.channels.webhook.signature import signed_headers
from lago.domain.ids import EpochMs
from tests.unit.webhook.builders import KEY, OLD_KEY

DOC = Path(__file__).parents[3] / "docs" / "channels" / "webhook.md"
NOW = EpochMs(1_764_412_200_999)
SECONDS = 1_764_412_200
BODY = b'{"a": 1}'


def documented() -> Callable[..., bool]:
    """The snippet in the documentation."""
    names: dict[str, Any] = {}
    exec(DOC.read_text().partition("```python\n")[2].partition("```")[0], names)
    verified: Callable[..., bool] = names["verified"]
    return verified


def test_the_example_of_standard_webhooks_comes_out() -> None:
    # https://github.com/standard-webhooks/standard-webhooks, the test vector of its libraries
    headers = signed_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        b'{"test": 2432232314}',
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        EpochMs(1_614_265_330_000),
    )

    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


@pytest.mark.parametrize("key", [KEY, OLD_KEY])
def test_a_receiver_with_either_key_is_satisfied_during_a_rotation(key: str) -> None:
    headers = signed_headers("n1", BODY, [KEY, OLD_KEY], NOW)

    assert documented()(headers, BODY, key, SECONDS)


@pytest.mark.parametrize(
    ("change", "body", "key", "now"),
    [
        ({}, b'{"a": 2}', KEY, SECONDS),
        ({}, BODY, OLD_KEY, SECONDS),
        ({}, BODY, KEY, SECONDS + 301),
        ({}, BODY, KEY, SECONDS - 301),
        ({"webhook-id": "n2"}, BODY, KEY, SECONDS),
        ({"webhook-timestamp": str(SECONDS + 1)}, BODY, KEY, SECONDS),
        ({"webhook-timestamp": "soon"}, BODY, KEY, SECONDS),
        ({"webhook-signature": "v1,"}, BODY, KEY, SECONDS),
        ({"webhook-signature": "v1,ä"}, BODY, KEY, SECONDS),
        ({"webhook-signature": ""}, BODY, KEY, SECONDS),
    ],
)
def test_a_receiver_refuses_what_was_changed_replayed_or_forged(
    change: dict[str, str], body: bytes, key: str, now: int
) -> None:
    headers = signed_headers("n1", BODY, [KEY], NOW) | change

    assert not documented()(headers, body, key, now)
