"""The stack as a whole: parameters, names, the API, what it tells the `lago` command."""

import re
from typing import Any

import pytest

from tests.infra.stack import Stack, source

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
        and key
        not in {
            "StageName",
            "FunctionName",
            "MetricName",
            "ConfigurationSetName",
        }  # the API's own; references; a metric's
    }

    assert {key: value for key, value in named.items() if "AWS::StackName" not in str(value)} == {}
    assert not any("FunctionName" in properties for properties in STACK.of_type("Lambda::Function").values())
    assert STACK.properties("Api")["Body"]["info"]["title"] == STACK_NAME


def test_the_api_answers_only_with_a_key_and_not_faster_than_the_plan() -> None:
    body = STACK.properties("Api")["Body"]
    locks = {path: [method.get("security") for method in verbs.values()] for path, verbs in body["paths"].items()}
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
        "GET /unsubscribe",
        "POST /unsubscribe",
    }
    # whoever reads a mail has no key: the link's token says whose it is
    assert not any(locks.pop("/unsubscribe"))
    assert {str(lock) for methods in locks.values() for lock in methods} == {str([{"api_key": []}])}
    assert plan["Throttle"]["RateLimit"] <= stage["MethodSettings"][0]["ThrottlingRateLimit"]
    assert plan["Quota"]["Period"] == "DAY"
    assert len(STACK.of_type("ApiGateway::Stage")) == 1


def test_the_lago_command_finds_everything_by_the_outputs() -> None:
    assert set(STACK.outputs) == {
        *("ApiUrl", "ApiKeyId", "StateMachineArn", "DashboardUrl"),
        *("SearchesTable", "WatchesTable", "QueueTable", "DeliveriesTable"),
        *("DrainFunction", "ScrapeFunction", "NotifyFunction", "ApiFunction"),
        *("TelegramTokenParameter", "DestinationSecrets", "KmsKeyArn", "QueueShards", "SearchShards"),
        *("WillhabenBaseUrl", "TelegramApiUrl", "TrustedOrigins", "Version"),
    }
    assert all(output["Description"] for output in STACK.outputs.values())
    assert STACK.outputs["ApiKeyId"]["Value"]["Ref"] in STACK.of_type("ApiGateway::ApiKey")
