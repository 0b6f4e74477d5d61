"""A line for each cycle: when it ran, what it found, what waits."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lago_cli.troubles import Names, unread

if TYPE_CHECKING:  # importing the store binds the tables' names, which are not known before the deployment
    from lago.stats import CycleStats, Stats

Reports = Callable[[], list[dict[str, Any]]]
_TOLD = {
    "new_ads": ("new ad", "new ads"),
    "price_drops": ("price drop", "price drops"),
    "live": ("watch live", "watches live"),
    "conflicts": ("conflict", "conflicts"),
    "resting": ("search resting", "searches resting"),
}
_EXPLAINED = frozenset({"source", "search"})
"""Errors that the figures explain: by the source's or the search's own reason."""


class Cycles:
    """Sees each finished cycle once."""

    def __init__(self, stats: "Stats") -> None:
        """What had finished before is not news."""
        self._finished = {cycle.shard: cycle.finished for cycle in stats.cycles}

    def new(self, stats: "Stats", reports: Reports, names: Callable[[], Names]) -> list[str]:
        """A line for each cycle that has finished since the last look.

        `reports` gives what scrapes logged since, `names` what people call the searches.
        """
        fresh = [each for each in stats.cycles if each.finished and each.finished != self._finished.get(each.shard)]
        if not fresh:
            return []
        self._finished |= {cycle.shard: cycle.finished for cycle in fresh}
        by_shard = {report.get("shard"): report for report in reports()}
        known = names()
        return [cycle_line(cycle, by_shard.get(cycle.shard, {}), stats, known) for cycle in fresh]


def cycle_line(cycle: "CycleStats", report: dict[str, Any], stats: "Stats", names: Names) -> str:
    """One cycle in one line."""
    found = [f"{report[name]} {words[report[name] != 1]}" for name, words in _TOLD.items() if report.get(name)]
    found += [
        f"{count} {reason} error(s)"
        for reason, count in (report.get("errors") or {}).items()
        if count and reason not in _EXPLAINED
    ]
    parts = [", ".join(found) or ("nothing new" if _was_read(report, stats) else "nothing could be read")]
    if stats.pending.total:
        parts.append(f"{stats.pending.total} waiting to be sent")
    if stats.dead.total:
        parts.append(f"{stats.dead.total} dead")
    parts += unread(stats, names)
    shard = f" {cycle.shard}" if cycle.shard else ""
    return f"{_time_of_day(cycle.started)} cycle{shard}: {'; '.join(parts)}"


def _was_read(report: dict[str, Any], stats: "Stats") -> bool:
    """Whether anything was read; a scrape that had nothing to tell logs no report."""
    if "read" in report:
        return bool(report["read"]) or not stats.searches
    failing = [each for each in stats.failing_searches if each.retry_at is not None]
    return all(source.healthy for source in stats.sources.values()) and len(failing) < max(stats.searches, 1)


def _time_of_day(iso: str) -> str:
    return datetime.fromisoformat(iso).astimezone().strftime("%H:%M:%S")


class LoggedReports:
    """The reports that a function wrote to its log, each once."""

    def __init__(self, logs: Any, group: str, start: int) -> None:
        """`logs` is boto3's client for CloudWatch Logs; `start` in epoch ms."""
        self._logs, self._group, self._start = logs, group, start
        self._seen: set[tuple[int, str]] = set()

    def new(self) -> list[dict[str, Any]]:
        """The reports since the last look."""
        try:
            pages = self._logs.get_paginator("filter_log_events").paginate(
                logGroupName=self._group, startTime=self._start
            )
            events = [event for page in pages for event in page["events"]]
        except self._logs.exceptions.ResourceNotFoundException:
            return []
        fresh = {(int(event["timestamp"]), event["message"]): None for event in events}
        reports = [report for key in fresh if key not in self._seen and (report := _report(key[1])) is not None]
        self._seen = set(fresh)
        self._start = max((timestamp for timestamp, _ in fresh), default=self._start)
        return reports


def _report(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    report = entry.get("report") if isinstance(entry, dict) else None
    return report if isinstance(report, dict) else None


def is_quiet(stats: "Stats", search_shards: int) -> bool:
    """Whether no cycle runs and no search has events on their way to messages."""
    from lago.store.searches import SearchStore  # noqa: PLC0415 - binds the tables' names

    if any(cycle.finished is None for cycle in stats.cycles):
        return False
    searches = (search for shard in range(search_shards) for search in SearchStore().in_shard(shard))
    return all(search.outbox_id is None for search in searches)
