"""What AWS says of a stack, against moto's AWS."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from lago.domain.ids import EpochMs
from lago_cli.aws_deployment import AwsDeployment, open_deployment
from lago_cli.deployment import Metric, Resource, of_kind, the
from lago_cli.errors import StackError

TEMPLATE = """
Parameters: {ScheduleRate: {Type: String, Default: rate(1 minute)}}
Resources:
  AlarmTopic: {Type: AWS::SNS::Topic, Properties: {TopicName: alarms}}
  DrainLogs: {Type: AWS::Logs::LogGroup, Properties: {LogGroupName: /logs/drain, RetentionInDays: 30}}
  CycleLogs: {Type: AWS::Logs::LogGroup, Properties: {LogGroupName: /logs/drain-not}}
Outputs: {Version: {Value: 0.1.0}}
"""


@pytest.fixture(autouse=True)
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield


def deployed() -> AwsDeployment:
    boto3.client("cloudformation").create_stack(StackName="lago", TemplateBody=TEMPLATE)
    return open_deployment("lago")


def test_a_stack_is_described_with_its_parameters_outputs_and_resources() -> None:
    deployment = deployed()

    described = deployment.describe()
    resources = deployment.resources()

    assert described.status == "CREATE_COMPLETE"
    assert (described.parameters, described.outputs) == ({"ScheduleRate": "rate(1 minute)"}, {"Version": "0.1.0"})
    assert abs(described.created - time.time() * 1000) < 60_000
    assert not described.is_local
    assert [each.id for each in of_kind(resources, "Logs::LogGroup")] == ["/logs/drain", "/logs/drain-not"]
    assert the(resources, "DrainLogs") == Resource("DrainLogs", "/logs/drain", "AWS::Logs::LogGroup")


def test_a_stack_in_an_embedded_cloud_is_known_by_where_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://cloudformation.eu-central-1.amazonaws.com")  # as moto answers there

    assert deployed().describe().is_local


def test_a_stack_that_is_not_there_is_told_as_by_every_command() -> None:
    with pytest.raises(StackError, match="no stack named 'other'"):
        open_deployment("other").describe()


def test_a_resource_that_is_not_there_names_itself() -> None:
    with pytest.raises(StackError, match="no resource Cycle"):
        the(deployed().resources(), "Cycle")


def test_only_a_confirmed_subscriber_hears_of_alarms() -> None:
    deployment = deployed()
    topic = the(deployment.resources(), "AlarmTopic").id
    boto3.client("sns").subscribe(TopicArn=topic, Protocol="email", Endpoint="owner@example.org")

    (subscriber,) = deployment.subscribers(topic)

    assert subscriber.endpoint == "owner@example.org"


def test_alarms_of_any_number_are_read_with_their_states() -> None:
    cloudwatch = boto3.client("cloudwatch")
    names = [f"alarm-{n}" for n in range(130)]
    for name in names:
        cloudwatch.put_metric_alarm(
            AlarmName=name,
            AlarmDescription="look",
            Namespace="Lago",
            MetricName="DeadLetters",
            Statistic="Maximum",
            Period=60,
            EvaluationPeriods=1,
            Threshold=0,
            ComparisonOperator="GreaterThanThreshold",
        )
    cloudwatch.set_alarm_state(AlarmName="alarm-129", StateValue="ALARM", StateReason="it is")

    alarms = open_deployment("lago").alarms(names)

    assert len(alarms) == 130
    assert [each.name for each in alarms if each.state == "ALARM"] == ["alarm-129"]
    assert {each.means for each in alarms} == {"look"}


def test_a_schedule_tells_whether_it_runs() -> None:
    target = {"Arn": "arn:aws:states:eu-central-1:1:stateMachine:x", "RoleArn": "arn:aws:iam::1:role/x"}
    scheduler = boto3.client("scheduler")
    scheduler.create_schedule_group(Name="mine")
    for group, state in (("default", "DISABLED"), ("mine", "ENABLED")):
        scheduler.create_schedule(
            Name="cycle",
            GroupName=group,
            State=state,
            ScheduleExpression="rate(5 minutes)",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target=target,
        )

    deployment = open_deployment("lago")

    assert not deployment.schedule("cycle").enabled
    assert deployment.schedule("mine|cycle").enabled
    assert deployment.schedule("cycle").expression == "rate(5 minutes)"


def test_a_table_tells_of_its_indexes_and_backups() -> None:
    dynamodb = boto3.client("dynamodb")
    for name in ("queue", "other"):
        dynamodb.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in ("id", "due")],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "due",
                    "KeySchema": [{"AttributeName": "due", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        )
    dynamodb.update_continuous_backups(
        TableName="queue", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )

    queue, other = open_deployment("lago").tables(["queue", "other"])

    assert (queue.restorable, other.restorable) == (True, False)
    assert queue.indexes == ("due",)


def test_retention_is_that_of_the_group_itself_and_not_of_one_whose_name_begins_alike() -> None:
    deployment = deployed()

    assert deployment.retention_days("/logs/drain") == 30
    assert deployment.retention_days("/logs/drain-not") is None
    assert deployment.retention_days("/logs/d") is None


def test_log_lines_of_a_time_are_read_oldest_first() -> None:
    deployment, now = deployed(), int(time.time() * 1000)
    logs = boto3.client("logs")
    logs.create_log_stream(logGroupName="/logs/drain", logStreamName="s")
    logs.put_log_events(
        logGroupName="/logs/drain",
        logStreamName="s",
        logEvents=[{"timestamp": now - back, "message": f"{back} ago"} for back in (9_000, 5_000, 1_000)],
    )

    lines = list(deployment.log_lines("/logs/drain", EpochMs(now - 6_000), EpochMs(now)))

    assert [line.text for line in lines] == ["5000 ago", "1000 ago"]
    assert (lines[0].group, lines[0].stream, lines[0].at) == ("/logs/drain", "s", now - 5_000)
    assert lines[0].id != lines[1].id


def test_series_are_added_up_over_more_than_one_request_takes() -> None:
    cloudwatch, at = boto3.client("cloudwatch"), datetime(2026, 6, 15, 12, tzinfo=UTC)
    for value in (2.0, 3.0):
        cloudwatch.put_metric_data(
            Namespace="Lago",
            MetricData=[
                {
                    "MetricName": "NewAds",
                    "Dimensions": [{"Name": "service", "Value": "lago"}],
                    "Timestamp": at,
                    "Value": value,
                }
            ],
        )
    metric = Metric("Lago", "NewAds", (("service", "lago"),))
    nothing = Metric("Lago", "NewAds", (("service", "other"),))
    june, july = EpochMs(1_780_272_000_000), EpochMs(1_782_864_000_000)

    sums = open_deployment("lago").sums([nothing] * 500 + [metric], june, july)

    assert (sums[0], sums[500], len(sums)) == (0.0, 5.0, 501)
    assert open_deployment("lago").series("Lago", "service", "lago") == 1


def test_aws_tells_the_time_even_when_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    deployment = deployed()
    refusal = ClientError(
        {
            "Error": {"Code": "SignatureDoesNotMatch"},
            "ResponseMetadata": {"HTTPHeaders": {"date": "Sun, 29 Nov 2026 20:39:52 GMT"}},
        },
        "GetCallerIdentity",
    )

    class Refusing:
        def get_caller_identity(self) -> dict[str, object]:
            raise refusal

    monkeypatch.setattr(deployment, "_client", lambda _service: Refusing())

    assert deployment.clock() == 1_795_984_792_000


def test_an_answer_without_a_date_tells_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    deployment = deployed()

    class Silent:
        def get_caller_identity(self) -> dict[str, object]:
            return {"ResponseMetadata": {"HTTPHeaders": {}}}

    monkeypatch.setattr(deployment, "_client", lambda _service: Silent())

    assert deployment.clock() is None
