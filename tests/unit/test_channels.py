"""Every channel is registered by name, and made when it is first needed."""

import subprocess
import sys

import pytest

from lago.channels.registry import CHANNELS, target_spec
from lago.courier import PATIENCE, DeliverySettings
from lago.domain.backoff import ALERT
from lago.domain.ids import Milliseconds
from lago.domain.kinds import Policies
from lago.wiring.channels import Channels, ChannelSettings
from lago.wiring.secrets import ParameterSecrets
from lago.wiring.sending import SHORTEST_LEASE

MARGIN = DeliverySettings(policies=Policies(alert=ALERT), lease=Milliseconds(0), club_threshold=3).margin


def channels(**environment: str) -> Channels:
    return Channels(ChannelSettings.read(environment), ParameterSecrets("/lago/test/telegram-bot-token"))


def test_what_can_be_added_can_be_sent_to() -> None:
    assert set(channels().names) == set(CHANNELS)


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("environment", [{}, {"SMTP_PARAMETER": "/lago/test/smtp-url"}], ids=["plain", "mail server"])
def test_every_channel_has_its_name_and_ends_before_the_shortest_lease(name: str, environment: dict[str, str]) -> None:
    channel = channels(**environment).get(name)

    assert channel is not None
    assert channel.name == name == target_spec(name).channel
    assert channel.timeout + MARGIN + PATIENCE <= 1_000 * SHORTEST_LEASE


def test_a_channel_is_made_once() -> None:
    made = channels()

    assert made.get("slack") is made.get("slack")


def test_a_channel_that_only_a_newer_version_knows_is_none() -> None:
    assert channels().get("telepathy") is None


def test_nobody_pays_for_a_channel_that_is_not_used() -> None:
    tables = "('SEARCHES_TABLE', 'WATCHES_TABLE', 'QUEUE_TABLE', 'DELIVERIES_TABLE')"
    heavy = ("apprise", "smtplib", *(f"lago.channels.{name}.channel" for name in CHANNELS if name != "telegram"))
    loaded = (
        f"import os, sys; os.environ.update(dict.fromkeys({tables}, 't')); import lago.wiring.sending; "
        f"print([name for name in {heavy} if name in sys.modules])"
    )

    found = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"
