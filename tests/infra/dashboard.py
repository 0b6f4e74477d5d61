"""The dashboard as CloudWatch would get it, and what in it is a metric, a query, an alarm."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.infra.stack import Stack

Widget = dict[str, Any]


class Shown(NamedTuple):
    """One metric on the dashboard."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]
    options: dict[str, Any]
    stat: str


def widgets(stack: Stack) -> list[Widget]:
    """All widgets; names that only CloudFormation can resolve stay as `${...}`."""
    body = json.loads(stack.text(stack.properties("Dashboard")["DashboardBody"]))
    found: list[Widget] = body["widgets"]
    return found


def metrics(stack: Stack) -> Iterator[Shown]:
    """Every metric, hidden ones of the cost estimate too."""
    for widget in widgets(stack):
        for entry in widget["properties"].get("metrics", []):
            if isinstance(entry[0], dict):  # an expression
                continue
            options = entry[-1] if isinstance(entry[-1], dict) else {}
            namespace, name, *pairs = [part for part in entry if isinstance(part, str)]
            dimensions = tuple(zip(pairs[::2], pairs[1::2], strict=True))
            yield Shown(namespace, name, dimensions, options, options.get("stat", widget["properties"]["stat"]))


def expressions(widget: Widget) -> dict[str, str]:
    """The metric math of a widget by id."""
    found = [entry[0] for entry in widget["properties"].get("metrics", []) if isinstance(entry[0], dict)]
    return {each["id"]: each["expression"] for each in found}


def queries(stack: Stack) -> Iterator[str]:
    """Every Logs Insights query."""
    for widget in widgets(stack):
        if widget["type"] == "log":
            yield widget["properties"]["query"]


def sources(query: str) -> list[str]:
    """The log groups that a query reads."""
    return re.findall(r"SOURCE '([^']+)'", query)


_WORDS = re.compile(r"\"[^\"]*\"|@?[A-Za-z_][\w.]*")
_GRAMMAR = {"filter", "fields", "sort", "stats", "limit", "as", "by", "asc", "desc", "max", "mb"}


def fields(query: str) -> set[str]:
    """The fields of log lines that a query names."""
    text = re.sub(r"SOURCE '[^']+'|\bbin\([^)]*\)", "", query)
    words = {word for word in _WORDS.findall(text) if not word.startswith(('"', "@"))}
    return words - _GRAMMAR
