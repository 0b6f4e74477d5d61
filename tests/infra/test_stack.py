"""The stack as a whole: parameters, names, the API, what watches over it, what it tells the `lago` command."""

import json
import re
from typing import Any

import pytest

from lago.observability import UNITS
from tests.infra.stack import FUNCTIONS, Stack, source

STACK = Stack()
PARAMETERS: dict[str, dict[str, Any]] = source()["Parameters"]
STACK_NAME = {"Ref": "AWS::StackName"}


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_explains_itself_has_a_default_and_refuses_nonsense(name: str) -> None:
    parameter = PARAMETERS[name]

    assert len(parameter["Description"]) > 20
    assert {"AllowedPattern", "AllowedValues", "MinValue"} & set(parameter)
    assert "MinValue" not in parameter or parameter["MinValue"] <= parameter["Default"] <= parameter["MaxValue"]
    assert parameter["Default"] in parameter.get("AllowedValues", [parameter["Default"]])
    assert re.search(parameter.get("AllowedPattern", ""), str(parameter["Default"]))


def test_every_parameter_has_its_place_in_the_console() -> None:
    groups = source()["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    shown = [name for group in groups for name in group["Parameters"]]

    assert sorted(shown) == sorted(PARAMETERS)


@pytest.mark.parametrize(
    ("parameter", "good", "bad"),
    [
        (
            "ScheduleRate",
            ["rate(1 minute)", "rate(5 minutes)", "cron(*/2 6-22 * * ? *)"],
            ["1 minute", "rate(1 minutes)"],
        ),
        (
            "WillhabenBaseUrl",
            ["http://127.0.0.1:8080"],
            ["www.willhaben.at", "https://a.at/iad", "ftp://a.at", "http://a b"],
        ),
        ("TelegramApiUrl", ["https://api.telegram.org", "http://localhost:1"], ["https://api.telegram.org/bot1:x"]),
        ("TelegramTokenParameter", ["", "/lago/a/token"], ["lago/token", "/lago/", "123456:ABC"]),
        ("Contact", ["", "me@example.org", "https://example.org/bot"], ["me\nX-Evil: 1", "two words"]),
        ("AlarmEmail", ["", "me@example.org"], ["me", "a@b c"]),
        ("OperatorDestination", ["", "me", "ops.mail-2"], ["a b", "a/b", "ä"]),
        ("AwsEndpointUrl", ["", "http://127.0.0.1:4566"], ["127.0.0.1:4566", "http://a/b"]),
        ("PermissionsBoundary", ["", "arn:aws:iam::123456789012:policy/b"], ["b", "arn:aws:iam::123456789012:role/b"]),
    ],
)
def test_patterns_let_through_what_works(parameter: str, good: list[str], bad: list[str]) -> None:
    pattern = PARAMETERS[parameter]["AllowedPattern"]

    assert [value for value in good if not re.fullmatch(pattern, value)] == []
    assert [value for value in bad if re.fullmatch(pattern, value)] == []


def test_conditions_say_what_they_use() -> None:
    assert all(name.startswith("Use") for name in source()["Conditions"])


def test_two_stacks_live_side_by_side_since_nothing_has_a_name_of_its_own() -> None:
    named = {
        f"{logical}.{key}": value
        for logical, resource in STACK.resources.items()
        for key, value in resource.get("Properties", {}).items()
        if re.fullmatch(r"(\w+Name|Name)", key)
        and key not in {"StageName", "FunctionName", "MetricName"}  # of the stack's own API; references; a metric's
    }

    assert {key: value for key, value in named.items() if "AWS::StackName" not in str(value)} == {}
    assert not any("FunctionName" in properties for properties in STACK.of_type("Lambda::Function").values())
    assert STACK.properties("Api")["Body"]["info"]["title"] == STACK_NAME


def test_the_api_answers_only_with_a_key_and_not_faster_than_the_plan() -> None:
    body = STACK.properties("Api")["Body"]
    methods = [method for path in body["paths"].values() for method in path.values()]
    routes = {f"{verb.upper()} {path}" for path, verbs in body["paths"].items() for verb in verbs}
    plan = STACK.properties("ApiUsagePlan")
    stage = next(iter(STACK.of_type("ApiGateway::Stage").values()))

    assert routes == {
        "GET /stats",
        "GET /dead-letters",
        "GET /dead-letters/export",
        "GET /dead-letters/{id}",
        "POST /dead-letters/redrive",
        "POST /dead-letters/discard",
        "GET /destinations",
        "POST /destinations",
        "GET /destinations/{id}",
        "PATCH /destinations/{id}",
        "DELETE /destinations/{id}",
        "POST /destinations/{id}/test",
    }
    assert [method["security"] for method in methods] == [[{"api_key": []}]] * len(methods)
    assert plan["Throttle"]["RateLimit"] <= stage["MethodSettings"][0]["ThrottlingRateLimit"]
    assert plan["Quota"]["Period"] == "DAY"
    assert len(STACK.of_type("ApiGateway::Stage")) == 1


def test_dead_letters_raise_an_alarm() -> None:
    alarm = STACK.properties("DeadLettersAlarm")

    assert (alarm["Namespace"], alarm["MetricName"]) == ("Lago", "DeadLetters")
    assert alarm["Dimensions"] == [{"Name": "service", "Value": STACK_NAME}]
    assert (alarm["ComparisonOperator"], alarm["Threshold"], alarm["Statistic"]) == (
        "GreaterThanThreshold",
        0,
        "Maximum",
    )
    assert alarm["TreatMissingData"] == "ignore"
    assert alarm["AlarmActions"] == [{"Ref": "AlarmTopic"}]


def test_alarms_are_mailed_only_to_who_asked() -> None:
    mailed = Stack(AlarmEmail="me@example.org")

    assert not STACK.of_type("SNS::Subscription")
    assert mailed.properties("AlarmMail")["Endpoint"] == "me@example.org"
    assert mailed.properties("AlarmMail")["TopicArn"] == {"Ref": "AlarmTopic"}


def dashboard_metrics() -> list[list[Any]]:
    body = json.loads(STACK.properties("Dashboard")["DashboardBody"]["Fn::Sub"])
    return [metric for widget in body["widgets"] for metric in widget["properties"]["metrics"]]


def test_the_dashboard_shows_metrics_that_are_published() -> None:
    ours = [metric for metric in dashboard_metrics() if metric[0] == "Lago"]

    assert {metric[1] for metric in ours} <= set(UNITS)
    assert {metric[1] for metric in ours} >= {
        "PendingNotifications",
        "DeadLetters",
        "Delivered",
        "NewAds",
        "FetchErrors",
    }
    assert [metric[2:4] for metric in ours] == [["service", "${AWS::StackName}"]] * len(ours)
    assert {metric[3] for metric in dashboard_metrics() if metric[0] == "AWS/Lambda"} == {
        f"${{{name.capitalize()}Function}}" for name in FUNCTIONS
    }


def test_metrics_stay_within_what_is_free_and_bear_the_stacks_name() -> None:
    assert len(UNITS) <= 10
    for function in FUNCTIONS:
        assert STACK.environment(function)["POWERTOOLS_METRICS_NAMESPACE"] == "Lago"
        assert STACK.environment(function)["POWERTOOLS_SERVICE_NAME"] == STACK_NAME


def test_the_lago_command_finds_everything_by_the_outputs() -> None:
    assert set(STACK.outputs) == {
        *("ApiUrl", "ApiKeyId", "StateMachineArn", "DashboardUrl"),
        *("SearchesTable", "WatchesTable", "QueueTable", "DeliveriesTable"),
        *("DrainFunction", "ScrapeFunction", "NotifyFunction", "ApiFunction"),
        *("TelegramTokenParameter", "DestinationSecrets", "KmsKeyArn", "QueueShards", "SearchShards"),
        *("WillhabenBaseUrl", "TelegramApiUrl"),
    }
    assert all(output["Description"] for output in STACK.outputs.values())
    assert STACK.outputs["ApiKeyId"]["Value"]["Ref"] in STACK.of_type("ApiGateway::ApiKey")
