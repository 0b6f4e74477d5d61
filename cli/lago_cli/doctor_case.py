"""What the doctor looks at, and what a check finds."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

import msgspec
from msgspec import Struct

from lago.domain.ids import EpochMs
from lago.domain.notification import Destination
from lago.domain.watch import Watch
from lago_cli.deployment import Deployment, Described, Resource
from lago_cli.ports import Stack, World

Verdict = Literal["fine", "warning", "wrong", "unknown"]
"""`wrong`: something does not work, or waits for a person. `unknown`: the check itself could not be made."""

TELEGRAM = "telegram"
MOST_SHOWN = 20
"""Findings of one kind at most, and requests to one service: the doctor's time is bounded."""


class Finding(Struct, frozen=True):
    """What was found, in one sentence; and what to do about it, where there is something to do."""

    verdict: Verdict
    said: str
    remedy: str = ""


def fine(said: str) -> Finding:
    """It is as it should be."""
    return Finding("fine", said)


def warning(said: str, remedy: str = "") -> Finding:
    """It works, but somebody should know."""
    return Finding("warning", said, remedy)


def wrong(said: str, remedy: str) -> Finding:
    """It does not work, or waits for a person."""
    return Finding("wrong", said, remedy)


def epoch(iso: str) -> EpochMs:
    """A time in the figures of GET /stats."""
    return EpochMs(int(datetime.fromisoformat(iso).timestamp() * 1000))


class Case:
    """One stack under examination. Each part is read once; where that fails, it fails in the same way for all."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self._failures: dict[str, Exception] = {}

    @cached_property
    def deployment(self) -> Deployment:
        """What AWS says of the stack."""
        return self._once("deployment", lambda: self.world.deployment(self.name))

    @cached_property
    def described(self) -> Described:
        """The stack as CloudFormation describes it."""
        return self._once("described", self.deployment.describe)

    @cached_property
    def resources(self) -> list[Resource]:
        """What the stack is made of."""
        _ = self.described  # a stack that is not there is one failure, not several
        return self._once("resources", self.deployment.resources)

    @cached_property
    def stack(self) -> Stack:
        """The stack's tables, functions and secrets."""
        _ = self.described  # as above
        return self._once("stack", lambda: self.world.open_stack(self.name))

    @cached_property
    def stats(self) -> dict[str, Any]:
        """The figures of GET /stats."""
        return self._once("stats", lambda: msgspec.to_builtins(self.stack.read_stats()))

    @cached_property
    def destinations(self) -> list[Destination]:
        """Where messages go."""
        return self._once("destinations", lambda: sorted(self.stack.destinations.all(), key=lambda each: each.id))

    @cached_property
    def watches(self) -> list[Watch]:
        """What is watched."""
        return self._once("watches", self.stack.watches.all)

    def _once[Part](self, name: str, read: Callable[[], Part]) -> Part:
        """`cached_property` keeps what was read; this keeps why it could not be."""
        if name in self._failures:
            raise self._failures[name]
        try:
            return read()
        except Exception as failure:
            self._failures[name] = failure
            raise


class Check(Struct, frozen=True):
    """One check: its name, and what makes its findings. One that raises is reported, and the next one made.

    Where a `vital` one cannot be made, something is wrong; any other is then unknown.
    """

    name: str
    look: Callable[[Case], Iterable[Finding]]
    vital: bool = False
