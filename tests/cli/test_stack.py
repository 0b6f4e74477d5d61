"""Finding the stack, against moto's CloudFormation; and what is said when it cannot be found."""

import os
import subprocess
import sys

import boto3
import pytest
from botocore import exceptions as aws
from moto import mock_aws

from lago import __version__
from lago.errors import ConflictError, StoreUnavailableError
from lago_cli.errors import StackError, explain
from lago_cli.stack import LambdaFunctions, ParameterSecrets, client, read_outputs
from tests.cli.fakes import FakeStack, a_world
from tests.cli.run import lago

TEMPLATE = """
Resources: {Topic: {Type: AWS::SNS::Topic}}
Outputs: {SearchShards: {Value: "2"}, ApiUrl: {Value: "https://api.example"}}
"""


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


@mock_aws
def test_the_outputs_of_a_deployed_stack_are_read() -> None:
    session = boto3.Session()
    session.client("cloudformation").create_stack(StackName="lago", TemplateBody=TEMPLATE)

    assert read_outputs(session, "lago") == {"SearchShards": "2", "ApiUrl": "https://api.example"}


@mock_aws
def test_a_missing_stack_names_the_region_and_the_ways_out() -> None:
    with pytest.raises(StackError, match=r"no stack named 'lago' in eu-central-1: .*--stack or LAGO_STACK.*sam deploy"):
        read_outputs(boto3.Session(), "lago")


@mock_aws
def test_the_token_becomes_a_secure_string_and_may_be_replaced() -> None:
    session = boto3.Session()
    secrets = ParameterSecrets(session)

    secrets.put("/lago/test/telegram-bot-token", "1:one")
    secrets.put("/lago/test/telegram-bot-token", "1:two")

    stored = session.client("ssm").get_parameter(Name="/lago/test/telegram-bot-token", WithDecryption=True)["Parameter"]
    assert (stored["Type"], stored["Value"]) == ("SecureString", "1:two")


@mock_aws
def test_a_secret_that_is_there_can_be_left_as_it_is() -> None:
    secrets = ParameterSecrets(boto3.Session())

    secrets.put_if_missing("/lago/test/destinations/mail/email", "first")
    secrets.put_if_missing("/lago/test/destinations/mail/email", "second")

    assert secrets.get("/lago/test/destinations/mail/email") == "first"


@mock_aws
def test_a_secret_is_stored_with_the_owners_key_where_there_is_one() -> None:
    session = boto3.Session()
    key = session.client("kms").create_key()["KeyMetadata"]["Arn"]

    ParameterSecrets(session, key).put("/lago/test/telegram-bot-token", "1:one")

    (stored,) = session.client("ssm").describe_parameters()["Parameters"]
    assert stored["KeyId"] == key


@mock_aws
def test_a_secret_is_read_back_and_a_missing_one_is_none() -> None:
    secrets = ParameterSecrets(boto3.Session())

    secrets.put("/lago/test/telegram-bot-token", "1:one")

    assert secrets.get("/lago/test/telegram-bot-token") == "1:one"
    assert secrets.get("/lago/test/other") is None


@mock_aws
def test_a_missing_function_is_one_sentence() -> None:
    with pytest.raises(aws.ClientError) as caught:
        LambdaFunctions(boto3.Session()).invoke("nowhere", {})

    said = explain(caught.value)
    assert said is not None
    assert said[0].startswith("AWS said no to Invoke: ")


def test_a_malformed_endpoint_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "not a url")

    with pytest.raises(StackError, match="check AWS_ENDPOINT_URL"):
        client(boto3.Session(), "cloudformation")


def refused(code: str) -> aws.ClientError:
    return aws.ClientError({"Error": {"Code": code, "Message": "said AWS"}}, "DescribeStacks")


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (aws.NoCredentialsError(), "No AWS credentials found"),
        (aws.NoRegionError(), "No AWS region given"),
        (aws.ProfileNotFound(profile="work"), "check AWS_PROFILE"),
        (aws.UnauthorizedSSOTokenError(), "sign-in has expired"),
        (aws.EndpointConnectionError(endpoint_url="http://127.0.0.1:4566"), "127.0.0.1:4566"),
        (refused("ExpiredToken"), "credentials have expired"),
        (refused("UnrecognizedClientException"), "does not accept these credentials"),
        (refused("AccessDenied"), "may not do that: said AWS"),
        (ConflictError("x"), "run the command again"),
        (StoreUnavailableError("throttled"), "(throttled)"),
        (StackError("There is no stack."), "There is no stack."),
    ],
)
def test_every_failure_is_one_sentence_and_exit_code_1(failure: Exception, sentence: str) -> None:
    def fails(_name: str) -> FakeStack:
        raise failure

    result = lago(a_world(open_stack=fails), "stats")

    assert result.exit_code == 1
    assert sentence in result.stderr
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1


def test_the_store_wrapping_an_aws_error_is_still_explained() -> None:
    wrapped = StoreUnavailableError("store")
    wrapped.__cause__ = refused("ExpiredToken")

    said = explain(wrapped)

    assert said is not None
    assert "expired" in said[0]


@mock_aws
def test_a_missing_stack_is_told_in_the_command_s_words_and_not_in_aws_s() -> None:
    with pytest.raises(StackError) as caught:
        read_outputs(boto3.Session(), "lago")

    said = explain(caught.value)

    assert said is not None
    assert said[0].startswith("There is no stack named 'lago' in eu-central-1: name it with --stack")


def test_what_aws_does_not_take_is_told_whole_in_one_line() -> None:
    said = explain(aws.ParamValidationError(report="Invalid length for parameter Name\nUnknown parameter: Size"))

    assert said is not None
    assert said[0].endswith("Parameter validation failed: Invalid length for parameter Name Unknown parameter: Size.")


def test_the_version_is_told_without_a_stack() -> None:
    assert lago(a_world(), "--version").stdout == f"lago {__version__}\n"


def test_the_command_starts_before_any_table_is_named() -> None:
    tables = ("SEARCHES_TABLE", "WATCHES_TABLE", "QUEUE_TABLE", "DELIVERIES_TABLE")
    environment = {name: value for name, value in os.environ.items() if name not in tables}

    started = subprocess.run(
        [sys.executable, "-m", "lago_cli.main", "--version"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (started.returncode, started.stdout) == (0, f"lago {__version__}\n"), started.stderr


def test_a_bug_stays_loud() -> None:
    assert explain(ZeroDivisionError()) is None
