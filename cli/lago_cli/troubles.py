"""What keeps Lago from reading or telling just now, in words; searches by the names that people gave their watches."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from lago.domain.watch import Watch
from lago_cli.text import plain

Names = Mapping[str, str]
"""What people call a search, by its id."""


def names_of(watches: Iterable[Watch]) -> Names:
    """The labels of each search's watches."""
    labels: dict[str, list[str]] = {}
    for watch in watches:
        labels.setdefault(watch.search, []).append(plain(watch.label, 40))
    return {search: ", ".join(f"“{label}”" for label in dict.fromkeys(each)) for search, each in labels.items()}


def named(note: str, names: Names) -> str:
    """A note of a report, which begins with the search's id, as a person reads it."""
    search, colon, rest = note.partition(":")
    return plain(f"{names.get(search, search)}{colon}{rest}")


def unread(stats: object, names: Names) -> list[str]:
    """A clause for each source that rests and each search that fails; `stats` as in GET /stats."""
    figures: dict[str, Any] = msgspec.to_builtins(stats)
    sources = [f"{name} rests: {each['reason']}" for name, each in figures.get("sources", {}).items() if each["reason"]]
    searches = [
        f"{names.get(each['search'], each['search'])}: {each['reason']}" for each in figures.get("failing_searches", [])
    ]
    return [plain(clause, 300) for clause in (*sources, *searches)]


def untold(stats: object) -> list[str]:
    """A clause for each destination that is disabled; `stats` as in GET /stats."""
    figures: dict[str, Any] = msgspec.to_builtins(stats)
    return [
        plain(f"“{each['destination']}” is disabled: {each['reason']}", 300)
        for each in figures.get("disabled_destinations", [])
    ]
