"""All that the simulator is made of, behind one lock: market, Telegram, hooks, faults, loaded pages, clock, state."""

import contextlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from simulator.ads import Ad
from simulator.clock import Clock
from simulator.faults import Faults
from simulator.hooks import Hooks
from simulator.market import Market
from simulator.stats import Stats
from simulator.telegram import DEFAULT_CHAT, DEFAULT_TOKEN, Telegram

ADS = 40
"""Ads at the start."""


class StateFileError(Exception):
    """The state file cannot be read or written; the message says which and why."""


@dataclass(frozen=True, kw_only=True)
class LoadedPage:
    """A captured page, served instead of the market's own: `page` None means for every page number."""

    path: str
    page: int | None
    next_data: Mapping[str, object] | None = None
    html: str = ""


@dataclass(kw_only=True)
class World:
    """One simulator. Hold `lock` while you touch market, telegram, hooks, faults or pages, and `save` after changes."""

    seed: int = 1
    ads: int = ADS
    tokens: tuple[str, ...] = (DEFAULT_TOKEN,)
    chats: tuple[int, ...] = (DEFAULT_CHAT,)
    clock: Clock = field(default_factory=Clock)
    state: Path | None = None
    live_seconds: float = 0.0
    """A step of the live market every so many seconds; 0 for none."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    stopping: threading.Event = field(default_factory=threading.Event)
    stats: Stats = field(default_factory=Stats)
    faults: Faults = field(default_factory=Faults)
    pages: list[LoadedPage] = field(default_factory=list)
    market: Market = field(init=False)
    telegram: Telegram = field(init=False)
    hooks: Hooks = field(init=False)

    def __post_init__(self) -> None:
        self.begin()
        if self.state is not None and self.state.exists():
            self._load(self.state)

    def begin(self) -> None:
        """A new market, an empty Telegram and no posts, as the seed says; faults and loaded pages go."""
        with self.lock:
            self.market = Market(self.seed, self.clock, self.ads)
            self.telegram = Telegram(self.clock, self.tokens)
            self.telegram.chats.clear()
            for chat in self.chats:
                self.telegram.set_chat(chat)
            self.hooks = Hooks(self.clock)
            self.faults = Faults()
            self.pages = []

    def live_step(self) -> tuple[str, Ad]:
        """One plausible thing happens in the market."""
        with self.lock:
            step = self.market.live_step()
            self.save()
            return step

    def save(self) -> None:
        """Write the state file whole or not at all. Raises StateFileError."""
        if self.state is None:
            return
        with self.lock:
            data = {
                "version": 1,
                "clock": self.clock.to_json(),
                "market": self.market.to_json(),
                "telegram": self.telegram.to_json(),
                "hooks": self.hooks.to_json(),
            }
            written = self.state.with_name(self.state.name + ".new")
            try:
                self.state.parent.mkdir(parents=True, exist_ok=True)
                with written.open("w", encoding="utf-8") as file:
                    json.dump(data, file)
                    file.flush()
                    os.fsync(file.fileno())
                written.replace(self.state)
            except OSError as error:
                with contextlib.suppress(OSError):
                    written.unlink()
                raise StateFileError(f"cannot write {self.state}: {error.strerror}") from error

    def _load(self, path: Path) -> None:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["version"] != 1:
                raise ValueError(f"version {data['version']}")
            self.clock.ahead, self.clock.stopped = data["clock"]["ahead"], data["clock"]["stopped"]
            self.market = Market.from_json(data["market"], self.clock)
            self.seed = self.market.seed
            self.telegram.load(data["telegram"])
            if "hooks" in data:  # files of earlier versions have none
                self.hooks.load(data["hooks"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StateFileError(f"cannot read {path}: {error!r}; move the file away to begin a new market") from error


def query_of(target: str) -> tuple[str, str]:
    """Path and query of a request target."""
    parts = urlsplit(target)
    return parts.path, parts.query
