"""What AWS says of a stack, in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lago import __version__
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

NOW = EpochMs(1_800_000_000_000)

RESOURCES = (
    Resource("Cycle", "arn:aws:states:eu-central-1:1:stateMachine:test-cycle", "AWS::StepFunctions::StateMachine"),
    Resource("CycleSchedule", "test-schedule", "AWS::Scheduler::Schedule"),
    Resource("CycleLogs", "/logs/cycle", "AWS::Logs::LogGroup"),
    Resource("DrainLogs", "/logs/drain", "AWS::Logs::LogGroup"),
    Resource("ScrapeLogs", "/logs/scrape", "AWS::Logs::LogGroup"),
    Resource("DrainFunction", "test-drain", "AWS::Lambda::Function"),
    Resource("ScrapeFunction", "test-scrape", "AWS::Lambda::Function"),
    Resource("QueueTable", "test-queue", "AWS::DynamoDB::Table"),
    Resource("Api", "abc123", "AWS::ApiGateway::RestApi"),
    Resource("AlarmTopic", "arn:aws:sns:eu-central-1:1:test-alarms", "AWS::SNS::Topic"),
    Resource("DeadLettersAlarm", "test-dead-letters", "AWS::CloudWatch::Alarm"),
    Resource("Dashboard", "test-dashboard", "AWS::CloudWatch::Dashboard"),
)

PARAMETERS = {
    "ScheduleRate": "rate(1 minute)",
    "ScheduleState": "ENABLED",
    "HttpKeepaliveSeconds": "300",
    "ScrapeMaxPages": "2",
    "ScrapeHardPages": "10",
    "ScrapeFullMinutes": "15",
    "RequestSpacingMs": "250",
    "RetryBaseSeconds": "60",
    "RetryCapSeconds": "960",
    "Contact": "owner@example.org",
    "AlarmEmail": "owner@example.org",
    "WillhabenBaseUrl": "https://www.willhaben.at",
    "TelegramApiUrl": "https://api.telegram.org",
    "TableRetention": "Retain",
    "OperatorDestination": "",
    "AwsEndpointUrl": "",
}


RUNS = Schedule(True, "rate(1 minute)")
HEARS = (Subscriber("owner@example.org", True),)


@dataclass
class FakeDeployment:
    """A stack that is well, unless told otherwise. An exception in `failures` is raised by the method of that name."""

    status: str = "UPDATE_COMPLETE"
    parameters: dict[str, str] = field(default_factory=lambda: dict(PARAMETERS))
    outputs: dict[str, str] = field(default_factory=lambda: {"Version": __version__})
    created: EpochMs = NOW
    made_of: tuple[Resource, ...] = RESOURCES
    aws_clock: EpochMs | None = NOW
    states: dict[str, str] = field(default_factory=dict)
    runs: Schedule = RUNS
    hear: tuple[Subscriber, ...] = HEARS
    at_a_time: int = 1_000
    sandbox: bool = False
    restorable: bool = True
    days: int | None = 30
    lines: list[LogLine] = field(default_factory=list)
    totals: dict[tuple[str, str], float] = field(default_factory=dict)
    """By the metric's name and the value of its last dimension."""
    failures: dict[str, Exception] = field(default_factory=dict)

    def _fail(self, method: str) -> None:
        if method in self.failures:
            raise self.failures[method]

    def describe(self) -> Described:
        self._fail("describe")
        return Described(
            status=self.status,
            reason="",
            parameters=self.parameters,
            outputs=self.outputs,
            created=self.created,
            aws_time=self.aws_clock,
        )

    def clock(self) -> EpochMs | None:
        self._fail("clock")
        return self.aws_clock

    def resources(self) -> list[Resource]:
        self._fail("resources")
        return list(self.made_of)

    def alarms(self, ids: Sequence[str]) -> list[Alarm]:
        self._fail("alarms")
        return [Alarm(name=each, state=self.states.get(each, "OK"), means="It is bad; look.") for each in ids]

    def schedule(self, schedule: str) -> Schedule:
        self._fail("schedule")
        return self.runs

    def subscribers(self, topic: str) -> list[Subscriber]:
        return list(self.hear)

    def concurrency(self) -> int:
        self._fail("concurrency")
        return self.at_a_time

    def mail_is_limited(self) -> bool:
        return self.sandbox

    def tables(self, ids: Sequence[str]) -> list[Table]:
        return [Table(id=each, size=10**9, indexes=("due",), restorable=self.restorable) for each in ids]

    def functions(self, ids: Sequence[str]) -> list[Function]:
        return [Function(id=each, memory_mb=256, architecture="arm64") for each in ids]

    def retention_days(self, log_group: str) -> int | None:
        return self.days

    def sums(self, metrics: Sequence[Metric], since: EpochMs, until: EpochMs) -> list[float]:
        self._fail("sums")
        return [self.totals.get((each.name, each.dimensions[-1][1]), 0.0) for each in metrics]

    def series(self, namespace: str, dimension: str, value: str) -> int:
        return 10

    def log_lines(self, log_group: str, since: EpochMs, until: EpochMs) -> Iterator[LogLine]:
        self._fail("log_lines")
        found = (each for each in self.lines if each.group == log_group and since <= each.at < until)
        yield from sorted(found, key=lambda each: each.at)
