"""The deployment as AWS's own interfaces tell it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import batched
from typing import Any

from botocore.exceptions import ClientError

from lago.domain.ids import EpochMs
from lago_cli.deployment import (
    Alarm,
    Described,
    Function,
    LogLine,
    Metric,
    Resource,
    Schedule,
    Subscriber,
    Table,
)
from lago_cli.stack import aws_session, client, describe_stack

_DAY_SECONDS = 86_400
_MOST_SERIES = 500
"""GetMetricData takes no more at once."""
_MOST_ALARMS = 100
"""DescribeAlarms takes no more names at once."""


def open_deployment(name: str) -> "AwsDeployment":
    """The stack of that name in the account and region of the environment; AWS is not asked yet."""
    return AwsDeployment(name, aws_session())


class AwsDeployment:
    """A `Deployment` through boto3."""

    def __init__(self, name: str, session: Any) -> None:
        self._name, self._session = name, session
        self._clients: dict[str, Any] = {}

    def describe(self) -> Described:
        """The stack. Raises StackError when there is none of its name."""
        answer = describe_stack(self._session, self._name)
        stack = answer["Stacks"][0]
        return Described(
            status=stack["StackStatus"],
            reason=stack.get("StackStatusReason", ""),
            parameters={each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", [])},
            outputs={each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])},
            created=_epoch(stack["CreationTime"]),
            aws_time=_time_of(answer),
            endpoint=self._client("cloudformation").meta.endpoint_url,
        )

    def clock(self) -> EpochMs | None:
        """What AWS's clock says now, also where it refuses the request."""
        try:
            return _time_of(self._client("sts").get_caller_identity())
        except ClientError as refusal:
            return _time_of(refusal.response)

    def resources(self) -> list[Resource]:
        """All that the stack is made of."""
        pages = self._client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=self._name)
        return [
            Resource(each["LogicalResourceId"], each.get("PhysicalResourceId", ""), each["ResourceType"])
            for page in pages
            for each in page["StackResourceSummaries"]
        ]

    def alarms(self, ids: Sequence[str]) -> list[Alarm]:
        """These alarms, composite ones among them."""
        found: list[Alarm] = []
        for some in batched(ids, _MOST_ALARMS, strict=False):
            answer = self._client("cloudwatch").describe_alarms(
                AlarmNames=list(some), AlarmTypes=["MetricAlarm", "CompositeAlarm"]
            )
            found += [
                Alarm(name=each["AlarmName"], state=each["StateValue"], means=each.get("AlarmDescription", ""))
                for each in (*answer.get("MetricAlarms", []), *answer.get("CompositeAlarms", []))
            ]
        return found

    def schedule(self, schedule: str) -> Schedule:
        """This schedule."""
        # CloudFormation names a schedule outside the default group GROUP|NAME
        group, _, name = schedule.rpartition("|")
        answer = self._client("scheduler").get_schedule(Name=name, **({"GroupName": group} if group else {}))
        return Schedule(answer.get("State") == "ENABLED", answer["ScheduleExpression"])

    def subscribers(self, topic: str) -> list[Subscriber]:
        """Who hears what is published on this topic."""
        pages = self._client("sns").get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
        return [
            Subscriber(each["Endpoint"], each["SubscriptionArn"].startswith("arn:"))
            for page in pages
            for each in page["Subscriptions"]
        ]

    def concurrency(self) -> int:
        """How many functions may run at a time in the account."""
        return int(self._client("lambda").get_account_settings()["AccountLimit"]["ConcurrentExecutions"])

    def mail_is_limited(self) -> bool:
        """Whether SES sends to verified addresses only."""
        return not self._client("sesv2").get_account()["ProductionAccessEnabled"]

    def tables(self, ids: Sequence[str]) -> list[Table]:
        """These tables."""
        return [self._table(each) for each in ids]

    def _table(self, table_id: str) -> Table:
        dynamodb = self._client("dynamodb")
        table = dynamodb.describe_table(TableName=table_id)["Table"]
        backups = dynamodb.describe_continuous_backups(TableName=table_id)["ContinuousBackupsDescription"]
        recovery = backups.get("PointInTimeRecoveryDescription", {}).get("PointInTimeRecoveryStatus")
        return Table(
            id=table_id,
            size=table.get("TableSizeBytes", 0),
            indexes=tuple(each["IndexName"] for each in table.get("GlobalSecondaryIndexes", [])),
            restorable=recovery == "ENABLED",
        )

    def functions(self, ids: Sequence[str]) -> list[Function]:
        """These functions."""
        configurations = [self._client("lambda").get_function_configuration(FunctionName=each) for each in ids]
        return [
            Function(
                id=each["FunctionName"],
                memory_mb=each.get("MemorySize", 128),
                architecture=each.get("Architectures", ["x86_64"])[0],
            )
            for each in configurations
        ]

    def retention_days(self, log_group: str) -> int | None:
        """How long the group keeps its records; None: for ever."""
        answer = self._client("logs").describe_log_groups(logGroupNamePrefix=log_group)
        days = [each.get("retentionInDays") for each in answer["logGroups"] if each["logGroupName"] == log_group]
        return days[0] if days else None

    def sums(self, metrics: Sequence[Metric], since: EpochMs, until: EpochMs) -> list[float]:
        """What each series adds up to; 0 for one without values."""
        totals = [0.0] * len(metrics)
        pages = self._client("cloudwatch").get_paginator("get_metric_data")
        for some in batched(enumerate(metrics), _MOST_SERIES, strict=False):
            queries = [{"Id": f"m{n}", "MetricStat": _statistic(metric)} for n, metric in some]
            for page in pages.paginate(MetricDataQueries=queries, StartTime=_date(since), EndTime=_date(until)):
                for each in page["MetricDataResults"]:
                    totals[int(each["Id"].removeprefix("m"))] += sum(each["Values"])
        return totals

    def series(self, namespace: str, dimension: str, value: str) -> int:
        """How many series of a namespace have a dimension of this value, of those with a value in two weeks."""
        pages = self._client("cloudwatch").get_paginator("list_metrics")
        wanted = [{"Name": dimension, "Value": value}]
        return sum(len(page["Metrics"]) for page in pages.paginate(Namespace=namespace, Dimensions=wanted))

    def log_lines(self, log_group: str, since: EpochMs, until: EpochMs) -> Iterator[LogLine]:
        """The group's records from `since` to before `until`, oldest first."""
        pages = self._client("logs").get_paginator("filter_log_events")
        for page in pages.paginate(logGroupName=log_group, startTime=since, endTime=until):
            for each in page["events"]:
                yield LogLine(
                    at=EpochMs(each["timestamp"]),
                    group=log_group,
                    stream=each["logStreamName"],
                    text=each["message"],
                    id=each.get("eventId", ""),
                )

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = client(self._session, service)
        return self._clients[service]


def _statistic(metric: Metric) -> dict[str, object]:
    """Its sum, by the day: CloudWatch keeps minutes for 15 days only."""
    dimensions = [{"Name": name, "Value": value} for name, value in metric.dimensions]
    what = {"Namespace": metric.namespace, "MetricName": metric.name, "Dimensions": dimensions}
    return {"Metric": what, "Period": _DAY_SECONDS, "Stat": "Sum"}


def _time_of(answer: dict[str, Any]) -> EpochMs | None:
    """The answer's Date header."""
    date = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date", "")
    try:
        return _epoch(parsedate_to_datetime(date))
    except ValueError:
        return None


def _epoch(moment: datetime) -> EpochMs:
    return EpochMs(int(moment.timestamp() * 1000))


def _date(moment: EpochMs) -> datetime:
    return datetime.fromtimestamp(moment / 1000, UTC)
