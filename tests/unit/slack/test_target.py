"""What a person gives for a Slack destination."""

import pytest

from lago.channels.slack.target import TARGET
from lago.errors import BadInputError
from tests.unit.slack.builders import URL


def none(_: int) -> bytes:
    return b""


def test_the_whole_url_is_the_secret_and_host_and_team_are_shown() -> None:
    target = TARGET.make(f"  {URL}\n", none)

    assert target.secret == URL
    assert target.address == "hooks.slack.com/services/T0AAA"
    assert TARGET.private


def test_government_slack_has_a_host_of_its_own() -> None:
    target = TARGET.make(URL.replace("slack.com", "slack-gov.com"), none)

    assert target.address == "hooks.slack-gov.com/services/T0AAA"


@pytest.mark.parametrize(
    "given",
    [
        "",
        "T0AAA/B0BBB/abcdefgh12345678",
        URL.replace("https", "http"),
        URL.replace("hooks.slack.com", "hooks.slack.com.evil.example"),
        URL.replace("hooks.slack.com", "evil.example"),
        URL.replace("https://", "https://hooks.slack.com@evil.example/"),
        URL.replace("services", "triggers"),
        f"{URL}/../../x",
        f"{URL}?a=b",
        URL.replace("slack", "sl\u0430ck"),
        URL[:-16] + "\u0661" * 16,
        f"{URL}\nhttps://evil.example",
    ],
)
def test_anything_else_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(BadInputError) as refusal:
        TARGET.make(given, none)

    assert "abcdefgh" not in str(refusal.value)
    assert "https://hooks.slack.com/services/T…/B…/…" in str(refusal.value)
