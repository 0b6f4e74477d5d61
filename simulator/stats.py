"""Counts what the simulator was asked, so that a test can prove politeness and reuse. Control requests do not count."""

import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

RECENT = 2_000
"""Requests remembered one by one."""
HEADER_VALUES = 10
"""Distinct values remembered of each header."""


@dataclass
class Asked:
    """One request. `connection` numbers its TCP connection, `reused` says whether it was not the first on it."""

    time: int
    target: str
    verb: str
    path: str
    host: str
    connection: int
    reused: bool
    status: int | None = None
    """None while it is answered, and for ever when the answer was withheld."""
    in_flight: int = 1
    """Requests being answered for the same host when it came, itself included."""

    def to_json(self) -> dict[str, object]:
        """For the control API."""
        return vars(self)


@dataclass
class Stats:
    """Thread-safe by its own lock, so that a request can be counted while another holds the market."""

    paths: Counter[str] = field(default_factory=Counter)
    targets: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    user_agents: Counter[str] = field(default_factory=Counter)
    headers: dict[str, list[str]] = field(default_factory=dict)
    concurrent: Counter[str] = field(default_factory=Counter)
    """The most requests at a time for each host and in all (host `*`)."""
    recent: deque[Asked] = field(default_factory=lambda: deque(maxlen=RECENT))
    connections: set[int] = field(default_factory=set)
    _now: Counter[str] = field(default_factory=Counter)
    _seen: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def request(self, asked: Asked, headers: Mapping[str, str]) -> Iterator[Asked]:
        """Count a request for as long as it is being answered."""
        plain = asked.path.partition("?")[0]
        with self._lock:
            asked.reused = asked.connection in self._seen
            self._seen.add(asked.connection)
            self.connections.add(asked.connection)
            self.paths[f"{asked.verb} {plain}"] += 1
            self.targets[asked.target] += 1
            self.user_agents[headers.get("user-agent", "")] += 1
            for name, value in headers.items():
                values = self.headers.setdefault(name, [])
                if value not in values and len(values) < HEADER_VALUES:
                    values.append(value)
            for host in (asked.host, "*"):
                self._now[host] += 1
                self.concurrent[host] = max(self.concurrent[host], self._now[host])
            asked.in_flight = self._now[asked.host]
            self.recent.append(asked)
        try:
            yield asked
        finally:
            with self._lock:
                self.statuses[str(asked.status or "none")] += 1
                for host in (asked.host, "*"):
                    self._now[host] -= 1

    def reset(self) -> None:
        """Forget all counts; open connections stay known, so that reuse still shows."""
        with self._lock:
            for counts in (self.paths, self.targets, self.statuses, self.user_agents, self.concurrent):
                counts.clear()
            self.headers.clear()
            self.recent.clear()
            self.connections.clear()

    def to_json(self) -> dict[str, object]:
        """For the control API."""
        with self._lock:
            return {
                "paths": dict(self.paths),
                "targets": dict(self.targets),
                "statuses": dict(self.statuses),
                "user_agents": dict(self.user_agents),
                "headers": {name: list(values) for name, values in self.headers.items()},
                "concurrent": dict(self.concurrent),
                "connections": len(self.connections),
                "requests": [asked.to_json() for asked in self.recent],
            }
