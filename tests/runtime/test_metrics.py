"""What the built functions publish: lines in CloudWatch's format, ten series in all, and logs without their noise."""

import json
from typing import Any

import pytest

from tests.runtime.conftest import World
from tests.runtime.emulator import Function
from tests.runtime.test_reuse import PREPARE

PUBLISHED = {
    "drain": {"PendingNotifications", "DeadLetters", "OldestDueAge", "Delivered", "Retried"},
    "scrape": {"NewAds", "FetchErrors", "FetchLatency", "ConnectionsReused", "SourcesBlocked"},
    "notify": {"Delivered"},
    "api": set[str](),
}


def metric_lines(function: Function) -> list[dict[str, Any]]:
    return [json.loads(line) for line in function.log.splitlines() if '"_aws"' in line]


def test_ten_series_in_all() -> None:
    assert len(set().union(*PUBLISHED.values())) == 10


@pytest.mark.parametrize(("function", "name"), [(name, name) for name in PUBLISHED], indirect=["function"])
def test_a_function_publishes_its_metrics_and_no_others_in_one_line(
    function: Function, name: str, world: World
) -> None:
    keyword = f"metrics{name}"
    world.seed("watch", keyword)

    function.invoke(PREPARE[name](world, keyword) | {"cycle": "c1"})

    lines = metric_lines(function)
    assert len(lines) == bool(PUBLISHED[name])
    for line in lines:
        (described,) = line["_aws"]["CloudWatchMetrics"]
        assert {metric["Name"] for metric in described["Metrics"]} == PUBLISHED[name]
        assert (described["Namespace"], described["Dimensions"]) == ("Lago", [["service"]])
    requests = function.lines("request")
    if name == "scrape":
        assert lines[0]["FetchLatency"] == [request["ms"] for request in requests]
        assert lines[0]["ConnectionsReused"] == [int(request["reused"]) for request in requests]
        assert all(request["search"] and request["cycle"] == "c1" for request in requests)
    if name in ("drain", "notify"):
        assert all(request["destination"] for request in requests)
    assert not any("function_arn" in request for request in requests)


@pytest.mark.parametrize("function", ["drain"], indirect=True)
def test_an_idle_drain_publishes_its_gauges_as_zero_and_says_nothing(function: Function) -> None:
    function.invoke({})

    (line,) = metric_lines(function)
    assert {name: line[name] for name in ("PendingNotifications", "OldestDueAge")} == {
        "PendingNotifications": [0],
        "OldestDueAge": [0],
    }
    assert function.lines("drained") == []
