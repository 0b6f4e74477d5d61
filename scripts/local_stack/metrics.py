"""CloudWatch's embedded metric format for a cloud that does not read it: log lines become metrics, each line once.

On AWS that happens by itself as a line arrives. The embedded cloud keeps lines and metrics, and looks at its alarms
whenever metrics are put; nothing there takes the ones from the others. So this reads the functions' logs and puts what
the lines say: namespace, each set of dimensions, unit, every value of an array, and the line's own time.
(docs.aws.amazon.com: "Specification: Embedded metric format")
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import batched
from typing import Any

VALUES = 150
"""What PutMetricData takes of one metric at once."""

Datum = dict[str, Any]
Line = tuple[str, int, str]
"""Log stream, time, text."""


class MetricLines:
    """Puts the metrics in the lines of some log groups, from one moment on."""

    def __init__(self, logs: Any, cloudwatch: Any, groups: Iterable[str], start: int) -> None:
        """boto3's clients, the groups' names, and from when on lines count, in epoch ms."""
        self._logs, self._cloudwatch = logs, cloudwatch
        self._start = dict.fromkeys(groups, start)
        self._seen: dict[str, set[Line]] = {group: set() for group in self._start}

    def forward(self) -> int:
        """Put what the lines since the last time say; returns how many lines were metrics.

        Raises boto3's errors: what was not put yet is put the next time.
        """
        return sum(self._forward(group) for group in self._start)

    def _forward(self, group: str) -> int:
        lines, seen = self._lines(group), self._seen[group]
        found = 0
        for line in lines:
            if line in seen:
                continue
            data = dict(embedded(line[2]))
            for namespace, metrics in data.items():
                self._cloudwatch.put_metric_data(Namespace=namespace, MetricData=metrics)
            seen.add(line)
            found += bool(data)
        self._start[group] = max((time for _, time, _ in lines), default=self._start[group])
        # lines of the last moment may still come; older ones are not asked for again
        self._seen[group] = {line for line in seen if line[1] >= self._start[group]}
        return found

    def _lines(self, group: str) -> list[Line]:
        try:
            pages = self._logs.get_paginator("filter_log_events").paginate(
                logGroupName=group, startTime=self._start[group]
            )
            events = [event for page in pages for event in page["events"]]
        except self._logs.exceptions.ResourceNotFoundException:
            return []  # the function has not run yet
        return [(event["logStreamName"], int(event["timestamp"]), event["message"]) for event in events]


def embedded(line: str) -> Iterator[tuple[str, list[Datum]]]:
    """The metrics in a log line by namespace, as PutMetricData takes them; none in any other line.

    As on AWS, what does not keep to the format is no metric: a directive's metric without a number, a dimension
    without a value.
    """
    try:
        entry = json.loads(line)
        described = entry["_aws"]
        time = datetime.fromtimestamp(described["Timestamp"] / 1000, UTC)
        directives = described["CloudWatchMetrics"]
    except (ValueError, TypeError, KeyError):
        return
    for directive in directives:
        data = [
            datum
            for keys in directive.get("Dimensions", [[]])
            for metric in directive.get("Metrics", [])
            for datum in _data(entry, keys, metric, time)
        ]
        if data:
            yield directive["Namespace"], data


def _data(entry: Mapping[str, Any], keys: Iterable[str], metric: Mapping[str, Any], time: datetime) -> Iterator[Datum]:
    told = entry.get(metric["Name"])
    values = told if isinstance(told, list) else [told]
    dimensions = [{"Name": key, "Value": entry.get(key)} for key in keys]
    if not all(isinstance(value, int | float) for value in values) or not all(each["Value"] for each in dimensions):
        return
    for part in batched(Counter(values).items(), VALUES, strict=False):
        yield {
            "MetricName": metric["Name"],
            "Dimensions": dimensions,
            "Timestamp": time,
            "Unit": metric.get("Unit", "None"),
            "StorageResolution": metric.get("StorageResolution", 60),
            "Values": [float(value) for value, _ in part],
            "Counts": [float(count) for _, count in part],
        }
