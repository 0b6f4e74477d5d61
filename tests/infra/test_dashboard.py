"""The dashboard shows what there is: our own metrics as the code publishes them, AWS's of our own resources."""

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from lago.http import Exchange, HttpClient, HttpSettings, NotSentError
from lago.observability import UNITS, Fetches, logger, metrics
from lago.store.queue_writes import tell_of_death
from lago_cli import prices
from tests.builders import NOW, a_row
from tests.fake_network import FakeNetwork, page
from tests.infra import dashboard
from tests.infra.stack import FUNCTIONS, ROOT, Stack, source
from tests.logged import Log, logged

STACK = Stack()
SHOWN = list(dashboard.metrics(STACK))
OWN = [shown for shown in SHOWN if shown.namespace == "Lago"]

TYPES = {
    ("AWS/Lambda", "FunctionName"): "AWS::Lambda::Function",
    ("AWS/States", "StateMachineArn"): "AWS::StepFunctions::StateMachine",
    ("AWS/DynamoDB", "TableName"): "AWS::DynamoDB::Table",
}
AWS_METRICS = {
    "AWS/Lambda": {"Duration", "Errors", "Throttles", "IteratorAge", "Invocations"},
    "AWS/States": {"ExecutionsFailed", "ExecutionsStarted", "ExecutionTime"},
    "AWS/DynamoDB": {
        "ConsumedWriteCapacityUnits",
        "ConsumedReadCapacityUnits",
        "ReadThrottleEvents",
        "WriteThrottleEvents",
    },
}
"""As their services publish them: docs.aws.amazon.com, "metrics" of Lambda, Step Functions and DynamoDB."""
PLATFORM = {"type", "record.metrics.maxMemoryUsedMB"}
"""Of the line that Lambda itself writes at the end of each invocation (its Telemetry API: platform.report)."""


@pytest.fixture
def log() -> Iterator[Log]:
    with logged() as log:
        yield log


def referred(value: str) -> str:
    """The logical id in `${Id}`."""
    match = re.fullmatch(r"\$\{(\w+)\}", value)
    assert match, value
    return match[1]


def published(function: str) -> set[str]:
    """The names that a handler hands to `publish`."""
    tree = ast.parse((ROOT / "functions" / function / "app.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "publish"]
    names = {key.value for call in calls for node in ast.walk(call) if isinstance(node, ast.Dict) for key in node.keys}
    if any("fetches.take()" in ast.unparse(call) for call in calls):
        fetches = Fetches()
        fetches.add(Exchange(host="a", label="page", status=200, ms=1, bytes=1, reused=True, error=""))
        names |= set(fetches.take())
    return {str(name) for name in names}


def test_what_the_functions_publish_is_all_that_has_a_unit() -> None:
    by_function = {name: published(name) for name in FUNCTIONS}

    assert set().union(*by_function.values()) == set(UNITS)
    gauges = {"PendingNotifications", "DeadLetters", "OldestDueAge"}
    assert gauges <= by_function["drain"]
    assert not gauges & (by_function["scrape"] | by_function["notify"] | by_function["api"])


def test_each_of_our_metrics_is_shown_with_the_namespace_and_dimension_that_it_is_published_with() -> None:
    variables = STACK.environment("drain")
    metrics.provider.clear_metrics()
    metrics.add_metric(name="DeadLetters", unit=UNITS["DeadLetters"], value=0)
    line = metrics.serialize_metric_set()
    metrics.provider.clear_metrics()
    ((dimension,),) = line["_aws"]["CloudWatchMetrics"][0]["Dimensions"]

    assert {shown.namespace for shown in OWN} == {variables["POWERTOOLS_METRICS_NAMESPACE"]}
    assert variables["POWERTOOLS_SERVICE_NAME"] == {"Ref": "AWS::StackName"}
    assert {shown.dimensions for shown in OWN} == {((dimension, "${AWS::StackName}"),)}
    assert {shown.name for shown in OWN} == set(UNITS)


def test_each_metric_of_aws_is_of_a_resource_of_the_stack() -> None:
    for shown in SHOWN:
        if shown.namespace == "Lago":
            continue
        (first, value), *more = shown.dimensions
        resource = STACK.resources[referred(value)]
        assert resource["Type"] == TYPES[shown.namespace, first]
        assert shown.name in AWS_METRICS[shown.namespace]
        if more:
            indexes = {index["IndexName"] for index in resource["Properties"]["GlobalSecondaryIndexes"]}
            assert more[0][0] == "GlobalSecondaryIndexName"
            assert more[0][1] in indexes


@pytest.mark.parametrize(
    ("name", "stats"),
    [
        ("PendingNotifications", {"Maximum"}),
        ("DeadLetters", {"Maximum"}),
        ("OldestDueAge", {"Maximum"}),
        ("SourcesBlocked", {"Maximum"}),
        ("Delivered", {"Sum"}),
        ("Retried", {"Sum"}),
        ("NewAds", {"Sum"}),
        ("FetchErrors", {"Sum"}),
        ("FetchLatency", {"SampleCount", "p50", "p95"}),
        ("ConnectionsReused", {"Average"}),
        ("Duration", {"p95", "Sum"}),
        ("IteratorAge", {"Maximum"}),
    ],
)
def test_each_metric_is_shown_as_what_it_means(name: str, stats: set[str]) -> None:
    assert {shown.stat for shown in SHOWN if shown.name == name} == stats


def test_every_function_and_every_table_is_there() -> None:
    functions = {f"{name.capitalize()}Function" for name in FUNCTIONS}
    for name in ("Duration", "Errors", "Throttles", "Invocations"):
        assert {referred(shown.dimensions[0][1]) for shown in SHOWN if shown.name == name} == functions
    tables = set(STACK.of_type("DynamoDB::Table"))
    for name in AWS_METRICS["AWS/DynamoDB"]:
        assert {referred(shown.dimensions[0][1]) for shown in SHOWN if shown.name == name} == tables


def test_it_has_no_more_metrics_than_are_free_of_a_dashboard() -> None:
    assert len({(shown.namespace, shown.name, shown.dimensions) for shown in SHOWN}) <= 50


def test_it_fits_the_grid_without_holes_or_overlaps() -> None:
    widgets = dashboard.widgets(STACK)
    cells = [
        (x, y)
        for widget in widgets
        for x in range(widget["x"], widget["x"] + widget["width"])
        for y in range(widget["y"], widget["y"] + widget["height"])
    ]

    assert len(cells) == len(set(cells))
    assert set(cells) == {(x, y) for x in range(24) for y in range(max(y for _, y in cells) + 1)}
    assert all(widget["properties"].get("region", "${AWS::Region}") == "${AWS::Region}" for widget in widgets)


def test_every_alarm_is_on_it_that_there_is() -> None:
    for stack in (STACK, Stack(ScheduleState="DISABLED")):
        (widget,) = [widget for widget in dashboard.widgets(stack) if widget["type"] == "alarm"]
        shown = {name.removeprefix("${").removesuffix(".Arn}") for name in widget["properties"]["alarms"]}
        assert shown == set(stack.of_type("CloudWatch::Alarm"))


def lines_of(log: Log, message: str) -> set[str]:
    """The fields of the lines with that message, written by the code that writes them."""
    if message == "dead letter":
        row = a_row(died=NOW, dead_reason="message", attempts=1)
        tell_of_death(row)
    else:
        network = FakeNetwork(page(), httpx.ConnectError("refused"))
        client = HttpClient(HttpSettings(), transport=network)
        logger.append_keys(cycle="c")
        client.get("https://a.example/", label="page")
        with pytest.raises(NotSentError):
            client.get("https://a.example/", label="page")
    return {key for line in log.of(message) for key in line}


def test_each_query_asks_for_fields_that_a_log_line_has(log: Log) -> None:
    asked = {}
    for query in dashboard.queries(STACK):
        message = re.search(r'message = "([^"]+)"', query)
        named = dashboard.fields(query)
        assert len(named) >= 2
        if message is None:
            assert named == PLATFORM
            continue
        asked[message[1]] = named
        written = lines_of(log, message[1])
        # what the work is about is said around the request, by who makes it (tests/unit/test_scrape_log.py)
        assert named <= written | {"search"}, message[1]

    assert set(asked) == {"dead letter", "request"}


def test_the_field_finder_finds_fields() -> None:
    query = "SOURCE '${A}' | filter type = \"x y\" | stats max(record.metrics.mb_used) as mb by bin(15m) | sort ms desc"

    assert dashboard.fields(query) == {"type", "record.metrics.mb_used", "ms"}


def test_each_query_reads_the_logs_of_functions_that_write_such_lines() -> None:
    read = [{referred(name) for name in dashboard.sources(query)} for query in dashboard.queries(STACK)]

    groups = STACK.of_type("Logs::LogGroup")
    assert all(name in groups for names in read for name in names)
    assert {"DrainLogs", "NotifyLogs"} in read
    assert {"ScrapeLogs"} in read
    assert {f"{name.capitalize()}Logs" for name in FUNCTIONS} in read


def test_where_lambdas_own_line_is_read_lambda_writes_it_as_json() -> None:
    for name in FUNCTIONS:
        logging_ = STACK.properties(f"{name.capitalize()}Function")["LoggingConfig"]
        assert (logging_["LogFormat"], logging_["SystemLogLevel"]) == ("JSON", "INFO")


# ---------------------------------------------------------------- what it costs

PRICES = {name: float(value) for name, value in source()["Mappings"]["ListPrices"]["UsEast1"].items()}
MONTH = 30 * 24 * 3600.0


def cost_widget() -> dashboard.Widget:
    (widget,) = [widget for widget in dashboard.widgets(STACK) if dashboard.expressions(widget)]
    return widget


def evaluated(values: dict[str, float], period: float) -> dict[str, float]:
    """The widget's metric math, for one point: what CloudWatch's functions do with it."""
    hidden = {
        entry[-1]["id"]: values.get(f"{entry[1]}:{'/'.join(entry[3:-1:2])}", 0.0)
        for entry in cost_widget()["properties"]["metrics"]
        if isinstance(entry[0], str)
    }
    functions: dict[str, Callable[..., Any]] = {
        "SUM": sum,
        "FILL": lambda value, _: value,
        "METRICS": lambda part: [value for name, value in hidden.items() if part in name],
        "PERIOD": lambda _: period,
    }
    known: dict[str, Any] = {**hidden}
    for name, expression in dashboard.expressions(cost_widget()).items():
        known[name] = eval(expression, {"__builtins__": {}}, functions | known)
    return {name: known[name] for name in dashboard.expressions(cost_widget())}


def test_the_estimate_multiplies_requests_units_and_seconds_with_the_list_prices() -> None:
    hour = {
        "ConsumedWriteCapacityUnits:${QueueTable}": 600.0,
        "ConsumedWriteCapacityUnits:${QueueTable}/due": 60.0,
        "ConsumedReadCapacityUnits:${SearchesTable}": 1_000.0,
        "Invocations:${ScrapeFunction}": 60.0,
        "Invocations:${DrainFunction}": 60.0,
        "Duration:${ScrapeFunction}": 60 * 5_500.0,
        "ExecutionsStarted:${Cycle}": 60.0,
        "ExecutionTime:${Cycle}": 60 * 6_000.0,
    }

    told = evaluated(hour, 3600)

    times = MONTH / 3600
    assert told["e1"] == pytest.approx(times * (660 * PRICES["WriteUnit"] + 1_000 * PRICES["ReadUnit"]))
    gigabyte_seconds = 60 * 5.5 * 0.25
    assert told["e2"] == pytest.approx(
        times * (gigabyte_seconds * PRICES["LambdaGbSecond"] + 120 * PRICES["LambdaRequest"])
    )
    assert told["e3"] == pytest.approx(
        times
        * (
            60 * (PRICES["ScheduledStart"] + PRICES["ExpressRequest"])
            + 60 * 6 * prices.EXPRESS_GB * PRICES["ExpressGbSecond"]
        )
    )
    assert told["e4"] == pytest.approx(told["e1"] + told["e2"] + told["e3"])
    assert 0.5 < told["e4"] < 2


def test_the_prices_are_those_that_the_command_estimates_with() -> None:
    assert {
        "WriteUnit": prices.WRITE_UNIT.dollars,
        "ReadUnit": prices.READ_UNIT.dollars,
        "LambdaGbSecond": prices.LAMBDA_GB_SECOND["arm64"].dollars,
        "LambdaRequest": prices.LAMBDA_REQUEST.dollars,
        "ScheduledStart": prices.SCHEDULE.dollars,
        "ExpressRequest": prices.EXPRESS_REQUEST.dollars,
        "ExpressGbSecond": prices.EXPRESS_GB_SECOND.dollars,
    } == PRICES


def test_the_estimate_reads_sums_over_the_time_shown_and_says_whose_prices() -> None:
    properties = cost_widget()["properties"]

    assert (properties["stat"], properties["view"], properties["setPeriodToTimeRange"]) == ("Sum", "singleValue", True)
    assert "us-east-1" in properties["title"]
    assert all(STACK.properties(f"{name.capitalize()}Function")["MemorySize"] == 256 for name in FUNCTIONS)
