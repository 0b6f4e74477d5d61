"""What a person gives for a Discord destination."""

import pytest

from lago.channels.discord.target import TARGET
from lago.errors import BadInputError

URL = "https://discord.com/api/webhooks/123456789012345678/token-of-a-webhook_0123456789"


def none(_: int) -> bytes:
    return b""


def test_the_whole_url_is_the_secret_and_the_id_is_shown() -> None:
    target = TARGET.make(f" <{URL}>\n", none)

    assert target.secret == URL
    assert target.address == "discord.com/api/webhooks/123456789012345678"
    assert TARGET.private


def test_a_thread_is_shown() -> None:
    target = TARGET.make(f"{URL}?thread_id=987654321098765432", none)

    assert target.address == "discord.com/api/webhooks/123456789012345678 (thread 987654321098765432)"


@pytest.mark.parametrize("host", ["discordapp.com", "canary.discord.com", "ptb.discord.com", "discord.com"])
@pytest.mark.parametrize("path", ["api/webhooks", "api/v10/webhooks"])
def test_discord_has_several_names(host: str, path: str) -> None:
    TARGET.make(URL.replace("discord.com", host).replace("api/webhooks", path), none)


@pytest.mark.parametrize(
    "given",
    [
        "",
        URL.replace("https", "http"),
        URL.replace("discord.com", "discord.com.evil.example"),
        URL.replace("https://", "https://discord.com@evil.example/"),
        URL.replace("webhooks", "channels"),
        f"{URL}/slack",
        f"{URL}/../../x",
        f"{URL}?thread_id=abc",
        f"{URL}?thread_id=",
        f"{URL}#x",
        URL.replace("123456789012345678", "\u0661" * 18),
        f"{URL}\nhttps://evil.example",
    ],
)
def test_anything_else_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(BadInputError) as refusal:
        TARGET.make(given, none)

    assert "token-of-a-webhook" not in str(refusal.value)
