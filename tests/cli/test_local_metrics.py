"""Log lines in the embedded metric format become what CloudWatch would make of them, each line once."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from scripts.local_stack.metrics import MetricLines, embedded

NOW = 1_796_000_000_000


def a_line(
    dimensions: list[list[str]] | None = None, unit: str = "Count", time: int = NOW, **values: float | list[float]
) -> str:
    metrics = [{"Name": name, "Unit": unit} for name in values]
    directive = {"Namespace": "Lago", "Dimensions": dimensions or [["service"]], "Metrics": metrics}
    described = {"Timestamp": time, "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": described, "service": "lago-e2e", "function": "drain", **values})


class NotThereError(Exception):
    pass


@dataclass
class FakeLogs:
    """Keeps events; two on a page."""

    events: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    class exceptions:  # noqa: N801 - boto3's name
        ResourceNotFoundException = NotThereError

    def get_paginator(self, name: str) -> "FakeLogs":
        assert name == "filter_log_events"
        return self

    def paginate(self, *, logGroupName: str, startTime: int) -> Iterator[dict[str, Any]]:  # noqa: N803 - boto3's names
        if logGroupName not in self.events:
            raise NotThereError
        found = [
            {"logStreamName": "s", "timestamp": time, "message": text}
            for time, text in self.events[logGroupName]
            if time >= startTime
        ]
        for at in range(0, len(found), 2):
            yield {"events": found[at : at + 2]}


@dataclass
class FakeCloudWatch:
    put: list[dict[str, Any]] = field(default_factory=list)
    away: bool = False

    def put_metric_data(self, **request: Any) -> None:
        if self.away:
            raise ConnectionError
        self.put.append(request)

    @property
    def values(self) -> list[float]:
        return [value for request in self.put for datum in request["MetricData"] for value in datum["Values"]]


@contextmanager
def away(cloudwatch: FakeCloudWatch) -> Iterator[None]:
    cloudwatch.away = True
    yield
    cloudwatch.away = False


def test_a_line_becomes_a_metric_with_its_namespace_dimension_unit_and_time() -> None:
    ((namespace, (datum,)),) = embedded(a_line(unit="Seconds", OldestDueAge=12.5))

    assert namespace == "Lago"
    assert datum == {
        "MetricName": "OldestDueAge",
        "Dimensions": [{"Name": "service", "Value": "lago-e2e"}],
        "Timestamp": datetime.fromtimestamp(NOW / 1000, UTC),
        "Unit": "Seconds",
        "StorageResolution": 60,
        "Values": [12.5],
        "Counts": [1.0],
    }


def test_every_value_of_an_array_counts() -> None:
    ((_, (datum,)),) = embedded(a_line(FetchLatency=[20.0, 30.0, 20.0]))

    assert dict(zip(datum["Values"], datum["Counts"], strict=True)) == {20.0: 2.0, 30.0: 1.0}


def test_more_values_than_a_request_takes_are_several_data() -> None:
    ((_, data),) = embedded(a_line(FetchLatency=[float(n) for n in range(320)]))

    assert [len(datum["Values"]) for datum in data] == [150, 150, 20]


def test_each_set_of_dimensions_is_a_series() -> None:
    ((_, data),) = embedded(a_line([["service"], ["service", "function"]], Delivered=1))

    assert [[each["Name"] for each in datum["Dimensions"]] for datum in data] == [["service"], ["service", "function"]]


@pytest.mark.parametrize(
    "line",
    [
        "START RequestId: 1 Version: $LATEST",
        "",
        "17",
        '{"message": "drained"}',
        '{"_aws": {"CloudWatchMetrics": []}}',
        '{"_aws": {"Timestamp": 1, "CloudWatchMetrics": []}}',
        a_line([["nobody"]], Delivered=1),
        a_line(Delivered="many"),  # type: ignore[arg-type]
    ],
)
def test_other_lines_are_no_metrics(line: str) -> None:
    assert list(embedded(line)) == []


def test_each_line_is_put_once_also_when_lines_of_the_same_moment_come_later() -> None:
    logs, cloudwatch = FakeLogs({"drain": [(NOW, a_line(DeadLetters=1)), (NOW, "END")]}), FakeCloudWatch()
    lines = MetricLines(logs, cloudwatch, ["drain", "never-ran"], start=NOW - 1)

    assert (lines.forward(), lines.forward()) == (1, 0)
    logs.events["drain"] += [(NOW, a_line(DeadLetters=2)), (NOW + 5, a_line(DeadLetters=3))]
    assert (lines.forward(), lines.forward()) == (2, 0)

    assert cloudwatch.values == [1, 2, 3]


def test_lines_from_before_are_not_put() -> None:
    logs, cloudwatch = FakeLogs({"drain": [(NOW - 1, a_line(DeadLetters=1))]}), FakeCloudWatch()

    assert MetricLines(logs, cloudwatch, ["drain"], start=NOW).forward() == 0
    assert cloudwatch.put == []


def test_what_could_not_be_put_is_put_the_next_time() -> None:
    logs, cloudwatch = FakeLogs({"drain": [(NOW, a_line(DeadLetters=1))]}), FakeCloudWatch()
    lines = MetricLines(logs, cloudwatch, ["drain"], start=NOW)

    with away(cloudwatch), pytest.raises(ConnectionError):
        lines.forward()

    assert lines.forward() == 1
    assert cloudwatch.values == [1]
