"""The channels by name, each loaded when it is first needed: none pays for what it does not use."""

from importlib import import_module

from lago.channels.target import TargetSpec
from lago.errors import BadInputError
from lago.http_guard import NONE_TRUSTED, Trusted

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

_FREE_URLS = frozenset({"webhook", "ntfy"})
"""Those whose URLs lead anywhere: their modules have a `target_spec` of the origins that may be inside."""

CHANNELS = tuple(_TARGETS)


def target_spec(channel: str, trusted: Trusted = NONE_TRUSTED) -> TargetSpec:
    """How the channel makes its targets. Raises BadInputError for one that this version does not know.

    `trusted` are the origins inside that its URLs may name, as its sender has them.
    """
    if channel not in _TARGETS:
        raise BadInputError("channel", channel, f"one of {', '.join(CHANNELS)}")
    module = import_module(_TARGETS[channel])
    spec: TargetSpec = module.target_spec(trusted) if channel in _FREE_URLS else module.TARGET
    return spec
