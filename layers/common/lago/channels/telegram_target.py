"""Telegram: a chat as a destination. The bot's token is the stack's, so a chat has no secret of its own."""

import re

from lago.channels.target import RandomBytes, Target, TargetSpec
from lago.errors import BadInputError

CHAT = re.compile(r"-?\d{1,20}|@[A-Za-z]\w{3,63}", re.ASCII)
"""A chat's number, negative for groups and channels, or the public name of a channel."""


def make(given: str, _random: RandomBytes) -> Target:
    """The chat that the person named. Raises BadInputError."""
    chat = given.strip()
    if not CHAT.fullmatch(chat):
        raise BadInputError("target", given, "a chat's number such as 123456789 or -100123, or @name of a channel")
    return Target(address=chat)


TARGET = TargetSpec(channel="telegram", asks="the chat's number, or @name of a channel", private=False, make=make)
