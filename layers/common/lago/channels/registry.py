"""The channels by name, each loaded when it is first needed: none pays for what it does not use."""

from importlib import import_module

from lago.channels.target import TargetSpec
from lago.errors import BadInputError

_TARGETS = {
    "telegram": "lago.channels.telegram_target",
    "email": "lago.channels.email.target",
    "webhook": "lago.channels.webhook.target",
    "ntfy": "lago.channels.ntfy.target",
    "slack": "lago.channels.slack.target",
    "discord": "lago.channels.discord.target",
    "apprise": "lago.channels.apprise.target",
}
"""Where each channel says how its targets are made, as `TARGET`."""

CHANNELS = tuple(_TARGETS)


def target_spec(channel: str) -> TargetSpec:
    """How the channel makes its targets. Raises BadInputError for one that this version does not know."""
    if channel not in _TARGETS:
        raise BadInputError("channel", channel, f"one of {', '.join(CHANNELS)}")
    spec: TargetSpec = import_module(_TARGETS[channel]).TARGET
    return spec
