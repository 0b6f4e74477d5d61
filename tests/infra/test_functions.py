"""The functions: how they run, what they are told, where they log."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from lago.wiring.scraping import ScrapeFunctionSettings
from lago.wiring.sending import DrainFunctionSettings, SendingSettings
from tests.infra.stack import FUNCTIONS, ROOT, Stack, source

STACK = Stack()

HTTP = {"HTTP_CONNECT_SECONDS", "HTTP_READ_SECONDS", "HTTP_KEEPALIVE_SECONDS", "HTTP_MAX_CONNECTIONS"}
TABLES = {"SEARCHES_TABLE", "WATCHES_TABLE", "QUEUE_TABLE", "DELIVERIES_TABLE"}
POWERTOOLS = {"POWERTOOLS_SERVICE_NAME", "POWERTOOLS_METRICS_NAMESPACE", "POWERTOOLS_LOG_LEVEL"} | {
    "POWERTOOLS_LOGGER_SAMPLE_RATE",
    "METRIC_DIMENSIONS",
}
RETRY = {"RETRY_BASE_SECONDS", "RETRY_FACTOR", "RETRY_CAP_SECONDS", "RETRY_JITTER", "RETRY_ATTEMPTS", "KIND_POLICIES"}
SENDING = (
    {"TELEGRAM_API_URL", "TELEGRAM_TOKEN_PARAMETER", "CLUB_THRESHOLD", "QUEUE_SHARDS", "LEASE_SECONDS"}
    | {"DELIVERY_LOG_DAYS", "OPERATOR_DESTINATION"}
    | {"SLACK_API_URL", "DISCORD_API_URL", "TRUSTED_ORIGINS"}
    | {"MAIL_FROM", "MAIL_CONFIGURATION_SET", "SMTP_PARAMETER", "API_URL_PARAMETER"}
    | RETRY
    | TABLES
)
SCRAPING = (
    {"SCRAPE_MAX_PAGES", "SCRAPE_ROWS", "SCRAPE_HARD_PAGES", "SCRAPE_FULL_MINUTES", "SCRAPE_THREADS"}
    | {"SCRAPE_SECONDS", "WILLHABEN_BASE_URL", "REQUEST_SPACING_MS", "CONTACT", "SOURCE_BACKOFF_SECONDS"}
    | {"NOTIFY_FUNCTION", "SEARCHES_TABLE", "OPERATOR_DESTINATION"}
    | HTTP
)
VARIABLES = {
    "scrape": SCRAPING,
    "notify": SENDING,
    "drain": SENDING | {"DRAIN_BATCH", "DRAIN_SECONDS", "LAYER"},
    "api": TABLES
    | {"QUEUE_SHARDS", "SEARCH_SHARDS", "DESTINATION_SECRETS", "SECRETS_KEY", "NOTIFY_FUNCTION"}
    | {"TRUSTED_ORIGINS"},
}
READERS: dict[str, Callable[[dict[str, str]], object]] = {
    "scrape": ScrapeFunctionSettings.read,
    "notify": SendingSettings.read,
    "drain": DrainFunctionSettings.read,
}


def properties(function: str) -> dict[str, Any]:
    return STACK.properties(f"{function.capitalize()}Function")


def told(stack: Stack, function: str) -> dict[str, str]:
    """The environment as the function sees it; what only CloudFormation knows stands for itself."""
    return {name: value if isinstance(value, str) else "known" for name, value in stack.environment(function).items()}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_runs_python_on_arm_with_little_memory(function: str) -> None:
    assert properties(function)["Runtime"] == "python3.13"
    assert properties(function)["Architectures"] == ["arm64"]
    assert properties(function)["MemorySize"] == 256
    assert properties(function)["Handler"] == "app.handler"


def test_locally_they_run_on_this_kind_of_machine() -> None:
    local = Stack(Architecture="x86_64")

    assert [local.properties(f"{name.capitalize()}Function")["Architectures"] for name in FUNCTIONS] == [["x86_64"]] * 4


def test_time_outs_are_as_agreed() -> None:
    assert {name: properties(name)["Timeout"] for name in FUNCTIONS} == {
        "drain": 55,
        "scrape": 55,
        "notify": 60,
        "api": 29,
    }


def test_nothing_publishes_versions_or_snapshots_while_code_lives_in_a_layer() -> None:
    assert not STACK.of_type("Lambda::Version")
    assert not STACK.of_type("Lambda::Alias")
    for name in FUNCTIONS:
        assert "SnapStart" not in properties(name)


def test_no_concurrency_is_reserved_since_a_new_account_has_none_to_reserve() -> None:
    capped = Stack(ReservedConcurrency="2")

    assert not any("ReservedConcurrentExecutions" in properties(name) for name in FUNCTIONS)
    assert capped.properties("ScrapeFunction")["ReservedConcurrentExecutions"] == "2"


def test_no_tracer_is_imported_since_it_costs_each_cold_start_dearly() -> None:
    sources = [*(ROOT / "layers/common/lago").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]

    assert sources
    for file in sources:
        assert not re.search(r"\bTracer\b|aws_xray_sdk|boto3\.resource|^\s*(from|import) pydantic", file.read_text())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_metric_lines_pass_the_log_level(function: str) -> None:
    logging = properties(function)["LoggingConfig"]

    # lines in CloudWatch's embedded metric format carry no level and are dropped by anything above INFO
    assert logging["ApplicationLogLevel"] == "INFO"
    assert STACK.environment(function)["POWERTOOLS_LOG_LEVEL"] == "INFO"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_logs_into_a_group_of_its_own_that_forgets(function: str) -> None:
    group = properties(function)["LoggingConfig"]["LogGroup"]["Ref"]

    assert group == f"{function.capitalize()}Logs"
    assert STACK.properties(group)["RetentionInDays"] == "30"


def test_every_log_group_has_retention_and_no_name_that_would_block_a_redeploy() -> None:
    groups = STACK.of_type("Logs::LogGroup")

    assert len(groups) == 5
    for group in groups.values():
        assert set(group) == {"RetentionInDays"}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_variable_is_declared_and_nothing_else(function: str) -> None:
    assert set(STACK.environment(function)) == VARIABLES[function] | POWERTOOLS


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_endpoint_is_declared_only_for_a_local_cloud(function: str) -> None:
    local = Stack(AwsEndpointUrl="http://127.0.0.1:4566")

    assert "AWS_ENDPOINT_URL" not in STACK.environment(function)
    assert local.environment(function)["AWS_ENDPOINT_URL"] == "http://127.0.0.1:4566"


def test_every_variable_that_the_code_reads_is_declared() -> None:
    files = [*(ROOT / "layers/common/lago").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
    named = re.compile(r"""(?:environment, |environ\.get\(|environ\[|table_name\()["']([A-Z][A-Z0-9_]+)["']""")
    read = {name for file in files for name in named.findall(file.read_text())}

    assert len(read) > 20
    of_lambda = {"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_LAMBDA_FUNCTION_NAME"}
    assert read <= set().union(*VARIABLES.values(), POWERTOOLS, of_lambda)


@pytest.mark.parametrize("function", READERS)
def test_the_code_accepts_the_templates_defaults(function: str) -> None:
    READERS[function](told(STACK, function))


LIMITS = [
    (name, str(parameter[bound]))
    for name, parameter in source()["Parameters"].items()
    for bound in ("MinValue", "MaxValue")
    if bound in parameter
]


@pytest.mark.parametrize(("parameter", "value"), LIMITS)
def test_the_code_accepts_what_the_template_accepts(parameter: str, value: str) -> None:
    stack = Stack(**{parameter: value})

    for function, read in READERS.items():
        read(told(stack, function))


def test_the_bot_token_is_named_and_never_given() -> None:
    named = Stack(TelegramTokenParameter="/mine/token")

    for function in ("notify", "drain"):
        assert named.environment(function)["TELEGRAM_TOKEN_PARAMETER"] == "/mine/token"
        assert STACK.environment(function)["TELEGRAM_TOKEN_PARAMETER"] == {
            "Fn::Sub": "/lago/${AWS::StackName}/telegram-bot-token"
        }
    assert not [name for name in source()["Parameters"] if re.search("Secret|Password|BotToken", name)]


def test_what_notify_is_told_once_is_tried_again_and_what_comes_again_anyway_gets_no_older_than_minutes() -> None:
    config = STACK.properties("NotifyFunctionEventInvokeConfig")

    assert (config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]) == (2, 300)


def test_the_stream_is_only_a_wake_up() -> None:
    mapping = STACK.properties("NotifyFunctionOutbox")

    assert mapping["EventSourceArn"] == {"Fn::GetAtt": ["SearchesTable", "StreamArn"]}
    assert [json.loads(each["Pattern"]) for each in mapping["FilterCriteria"]["Filters"]] == [
        {
            "eventName": ["INSERT", "MODIFY"],
            "dynamodb": {"NewImage": {"outbox_id": {"S": [{"exists": True}]}}},
        }
    ]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BisectBatchOnFunctionError"] is True
    assert mapping["MaximumRetryAttempts"] == 2
    assert mapping["MaximumRecordAgeInSeconds"] == 300
    assert mapping["BatchSize"] <= 10


def test_the_layer_is_built_by_its_own_makefile_and_serves_both_processors() -> None:
    written = source()["Resources"]["CommonLayer"]
    layers = STACK.of_type("Lambda::LayerVersion")

    assert written["Metadata"] == {"BuildMethod": "makefile"}
    assert [layer["CompatibleArchitectures"] for layer in layers.values()] == [["x86_64", "arm64"]]
    for name in FUNCTIONS:
        assert [layer["Ref"] for layer in properties(name)["Layers"]] == list(layers)
