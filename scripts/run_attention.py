"""What a person has to do something about: destinations that are disabled, and watches that are paused."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lago.domain.watch import Watch
from lago_cli.standing import NEEDS_SECRET
from lago_cli.text import plain

if TYPE_CHECKING:  # importing the store binds the tables' names, which are not known before the deployment
    from lago.stats import Stats


def where_messages_go(goal: str, stats: "Stats", watches: Iterable[Watch]) -> list[str]:
    """For the start: where messages go, and what does not go there."""
    quiet = [*_disabled(stats), *(_paused(watch) for watch in watches if watch.paused)]
    return [f"Messages go to {goal}, but:", *(f"  {line}" for line in quiet)] if quiet else [f"Messages go to {goal}."]


class Attention:
    """Tells once what falls silent while we look."""

    def __init__(self, stats: "Stats", watches: Iterable[Watch]) -> None:
        """What is silent already was told at the start."""
        self._told = set(_fallen_silent(stats, watches))

    def new(self, stats: "Stats", watches: Iterable[Watch]) -> list[str]:
        """A line for each destination that has become disabled, and for each watch that this has paused."""
        silent = _fallen_silent(stats, watches)
        fresh = [line for line in silent if line not in self._told]
        self._told = set(silent)
        return fresh


def _fallen_silent(stats: "Stats", watches: Iterable[Watch]) -> list[str]:
    disabled = {each.destination for each in stats.disabled_destinations}
    return [
        *_disabled(stats),
        *(_paused(watch) for watch in watches if watch.paused and disabled & {*watch.destinations}),
    ]


def _disabled(stats: "Stats") -> list[str]:
    return [
        f"disabled: “{each.destination}” ({plain(each.reason, 200)}): nothing is told there until you run "
        f"`lago destination {_again(plain(each.destination, 40), each.reason)}`"
        for each in stats.disabled_destinations
    ]


def _again(name: str, reason: str) -> str:
    return f"add {name} --channel …" if reason == NEEDS_SECRET else f"enable {name}"


def _paused(watch: Watch) -> str:
    return f"paused: “{plain(watch.label, 40)}” ({plain(watch.paused, 80)}): go on with `lago watch resume {watch.id}`"
