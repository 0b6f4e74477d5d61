"""What reached the simulator's Slack, Discord, ntfy and webhooks: a line for each message."""

from typing import Any

from lago_cli.text import plain
from scripts.run_messages import Shown, time_of_day
from simulator.client import HookPost, Simulator

_NAMES = {"slack": "Slack", "discord": "Discord", "ntfy": "ntfy", "webhook": "webhook"}
_CHARACTERS = 160


class SimulatedHooks:
    """All of them, as one."""

    def __init__(self, simulator: Simulator) -> None:
        """What was there before is not news."""
        self._simulator = simulator
        self._seen = max((post.id for post in simulator.posts()), default=0)

    def new(self) -> list[Shown]:
        """The messages since the last look."""
        fresh = self._simulator.posts(after=self._seen)
        self._seen = max((post.id for post in fresh), default=self._seen)
        return [shown(post) for post in fresh]


def shown(post: HookPost) -> Shown:
    """Where it went, and what it says."""
    said = " · ".join(" ".join(text.split()) for text in _texts(post) if text)
    where = f"{time_of_day(post.time)} {_NAMES.get(post.service, post.service)} {plain(_place(post), 60)}"
    return Shown(where, (plain(said or post.raw, _CHARACTERS),))


def _place(post: HookPost) -> str:
    """What tells one destination from another: a topic, else the path."""
    return str((post.json or {}).get("topic") or post.path) if post.service == "ntfy" else post.path


def _texts(post: HookPost) -> list[str]:
    """What a person would read first; of a webhook, which no person reads, what it is about."""
    said = post.json or {}
    match post.service:
        case "slack":
            texts = [said.get("text")]
        case "discord":
            embed: dict[str, Any] = next(iter(said.get("embeds") or ()), {})
            author = embed.get("author", {}).get("name")
            texts = [said.get("content"), author, embed.get("title"), embed.get("description")]
        case "ntfy":
            texts = [said.get("title"), said.get("message")]
        case _:
            texts = [said.get("type")]
    return [text for text in texts if isinstance(text, str)]
