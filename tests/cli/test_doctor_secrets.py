"""`lago doctor` on secrets: looked at, and never shown."""

import json

import pytest

from lago.domain.ids import DestinationId
from tests.cli.doctor_case import PARAMETER, a_stack, troubles
from tests.cli.fake_deployment import PARAMETERS, FakeDeployment
from tests.cli.fakes import (
    FakeDestinations,
    FakeSecrets,
    FakeStack,
    FakeWatches,
    a_destination,
    a_watch,
    a_world,
)


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ({}, f"{PARAMETER} is not there → run `lago setup`"),
        ({PARAMETER: " \n"}, "is empty"),
        ({PARAMETER: "hunter2"}, "holds nothing that telegram can use"),
    ],
)
def test_a_secret_that_cannot_be_one_is_said(secret: dict[str, str], said: str) -> None:
    found = troubles(a_world(a_stack(secrets=FakeSecrets(secret))))

    assert list(found) == [("secrets", "wrong")]
    assert said in found["secrets", "wrong"][0]


ON_DEMAND = PARAMETERS | {"MailFrom": "lago@example.org", "UseApprise": "true"}
GOOD = {
    "slack": "https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/abcdefghijklmnopqrstuvwx",
    "discord": "https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnopqrstuvwxyz",
    "webhook": json.dumps({"url": "https://example.org/h", "keys": ["whsec_" + "A" * 43 + "="]}),
    "ntfy": json.dumps({"url": "https://ntfy.sh/topic", "token": ""}),
    "email": json.dumps({"unsubscribe_key": "k"}),
    "apprise": "pover://user@token",
    "a channel of a later version": "anything",
}


def other(channel: str, secret: str) -> FakeStack:
    """A stack whose only destination is on another channel."""
    name = f"/lago/test/destinations/x/{channel}"
    made = a_destination(id=DestinationId("x"), channel=channel, address="example.org", credentials=name)
    return a_stack(
        destinations=FakeDestinations({made.id: made}),
        secrets=FakeSecrets({name: secret}),
        watches=FakeWatches([a_watch("w1", destinations=("x",))]),
    )


@pytest.mark.parametrize("channel", GOOD)
def test_the_secrets_of_other_channels_are_looked_at_too(channel: str) -> None:
    deployment = FakeDeployment(parameters=ON_DEMAND)

    assert troubles(a_world(other(channel, f" {GOOD[channel]}\n"), deployment=deployment)) == {}


@pytest.mark.parametrize("channel", [name for name in GOOD if not name.startswith("a ")])
def test_a_damaged_secret_is_said_and_not_shown(channel: str) -> None:
    world = a_world(other(channel, '{"unsubscribe": "hunter2'), deployment=FakeDeployment(parameters=ON_DEMAND))

    (said,) = troubles(world)["secrets", "wrong"]

    assert said == (
        f"/lago/test/destinations/x/{channel} holds nothing that {channel} can use "
        "→ add the destination again with `lago destination add`"
    )


def test_the_mail_server_s_secret_is_looked_at_and_then_ses_does_not_matter() -> None:
    given = ON_DEMAND | {"SmtpParameter": "/lago/test/smtp"}
    stack = other("email", GOOD["email"])
    world = a_world(stack, deployment=FakeDeployment(parameters=given, sandbox=True))

    assert "/lago/test/smtp is not there" in troubles(world)["secrets", "wrong"][0]
    stack.secrets.put("/lago/test/smtp", "http://hunter2")
    assert "holds nothing that mail server can use" in troubles(world)["secrets", "wrong"][0]
    stack.secrets.put("/lago/test/smtp", "smtps://user:hunter2@mail.example.org")
    assert troubles(world) == {}


@pytest.mark.parametrize(("channel", "said"), [("email", "MailFrom is empty"), ("apprise", "UseApprise is not true")])
def test_a_channel_that_the_parameters_leave_out_is_said(channel: str, said: str) -> None:
    found = troubles(a_world(other(channel, GOOD[channel])))

    assert said in found["parameters", "wrong"][0]
