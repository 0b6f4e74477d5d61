"""What a stack has used this month, and what that comes to: counted from CloudWatch's own figures."""

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct

from lago.domain.ids import EpochMs
from lago_cli import prices
from lago_cli.deployment import Deployment, Metric, of_kind, the
from lago_cli.prices import Price

_GB = 1e9
_LEAST_SEEN_MS = 3_600_000
"""A month is foretold from an hour at least: ten minutes of tests are no rate."""


class Period(Struct, frozen=True):
    """The calendar month in UTC, as AWS bills, from `first` to `end`; the stack is there from `start` on."""

    first: EpochMs
    start: EpochMs
    now: EpochMs
    end: EpochMs

    def grown(self, used: float) -> float:
        """What was used so far, grown until the end of the month as if it went on like that."""
        seen = max(self.now - self.start, _LEAST_SEEN_MS)
        return used * (seen + self.end - self.now) / seen

    def share(self, until: EpochMs) -> float:
        """The part of the month for which the stack was there `until` then."""
        return (until - self.start) / (self.end - self.first)


class Usage(Struct, frozen=True):
    """So many units of something until now; what is billed by the month is given as its number."""

    what: str
    price: Price
    amount: float
    by_month: bool = False


class Bill(Struct, frozen=True, kw_only=True):
    """One line: what was used, at list prices until now and for the month; and the month beyond the free tier."""

    what: str
    used: float
    unit: str
    so_far: float
    month: float
    free_share: float
    month_after_free: float


def month_of(now: EpochMs, created: EpochMs) -> Period:
    """The calendar month that `now` is in, from when on the stack is there."""
    at = datetime.fromtimestamp(now / 1000, UTC)
    first = datetime(at.year, at.month, 1, tzinfo=UTC)
    after = datetime(at.year + at.month // 12, at.month % 12 + 1, 1, tzinfo=UTC)
    return Period(_epoch(first), max(_epoch(first), min(created, now)), now, _epoch(after))


def bill(usage: Usage, period: Period) -> Bill:
    """What it costs. Free tiers are the account's: what else runs in it may use them up."""
    price, used = usage.price, usage.amount
    if usage.by_month:
        until_now, month = used * period.share(period.now), used * period.share(period.end)
    else:
        until_now, month = used, period.grown(used)
    return Bill(
        what=usage.what,
        used=usage.amount,
        unit=price.unit,
        so_far=until_now * price.dollars,
        month=month * price.dollars,
        free_share=min(1.0, price.free / month) if month else 0.0,
        month_after_free=max(0.0, month - price.free) * price.dollars,
    )


def usages(deployment: Deployment, name: str, period: Period) -> Iterator[Usage]:
    """All that the stack named `name` is billed for, but for mail, data transfer and keys."""
    made_of = deployment.resources()
    cycle = the(made_of, "Cycle").id
    functions = deployment.functions([each.id for each in of_kind(made_of, "Lambda::Function")])
    tables = deployment.tables([each.id for each in of_kind(made_of, "DynamoDB::Table")])
    groups = [each.id for each in of_kind(made_of, "Logs::LogGroup")]
    indexes = [(table.id, index) for table in tables for index in table.indexes]
    asked = {
        "invocations": [_lambda("Invocations", each.id) for each in functions],
        "durations": [_lambda("Duration", each.id) for each in functions],
        "writes": _units("ConsumedWriteCapacityUnits", [each.id for each in tables], indexes),
        "reads": _units("ConsumedReadCapacityUnits", [each.id for each in tables], indexes),
        "cycles": [Metric("AWS/States", "ExecutionsStarted", (("StateMachineArn", cycle),))],
        "cycle_ms": [Metric("AWS/States", "ExpressExecutionBilledDuration", (("StateMachineArn", cycle),))],
        "requests": [Metric("AWS/ApiGateway", "Count", (("ApiName", name),))],
        "log_bytes": [Metric("AWS/Logs", "IncomingBytes", (("LogGroupName", each),)) for each in groups],
    }
    sums = iter(deployment.sums([each for part in asked.values() for each in part], period.start, period.now))
    used = {part: [next(sums) for _ in metrics] for part, metrics in asked.items()}

    architecture = functions[0].architecture if functions else "arm64"
    gb_seconds = sum(ms / 1000 * each.memory_mb / 1024 for ms, each in zip(used["durations"], functions, strict=True))
    yield Usage("Lambda time", prices.LAMBDA_GB_SECOND[architecture], gb_seconds)
    yield Usage("Lambda requests", prices.LAMBDA_REQUEST, sum(used["invocations"]))
    yield Usage("DynamoDB writes", prices.WRITE_UNIT, sum(used["writes"]))
    yield Usage("DynamoDB reads", prices.READ_UNIT, sum(used["reads"]))
    size = sum(each.size for each in tables) / _GB
    yield Usage("DynamoDB storage", prices.TABLE_GB, size, by_month=True)
    restorable = sum(each.size for each in tables if each.restorable) / _GB
    yield Usage("DynamoDB backups", prices.BACKUP_GB, restorable, by_month=True)
    yield Usage("EventBridge Scheduler", prices.SCHEDULE, sum(used["cycles"]))
    yield Usage("Step Functions Express", prices.EXPRESS_REQUEST, sum(used["cycles"]))
    billed = sum(used["cycle_ms"]) / 1000 * prices.EXPRESS_GB
    yield Usage("Step Functions Express time", prices.EXPRESS_GB_SECOND, billed)
    yield Usage("API Gateway", prices.API_REQUEST, sum(used["requests"]))
    yield Usage("CloudWatch Logs", prices.LOG_GB, sum(used["log_bytes"]) / _GB)
    yield Usage("CloudWatch metrics", prices.METRIC, deployment.series("Lago", "service", name), by_month=True)
    for what, kind, price in (
        ("alarms", "Alarm", prices.ALARM),
        ("composite alarms", "CompositeAlarm", prices.COMPOSITE_ALARM),
        ("dashboard", "Dashboard", prices.DASHBOARD),
    ):
        yield Usage(f"CloudWatch {what}", price, len(of_kind(made_of, f"CloudWatch::{kind}")), by_month=True)


def _lambda(metric: str, function: str) -> Metric:
    return Metric("AWS/Lambda", metric, (("FunctionName", function),))


def _units(metric: str, tables: list[str], indexes: list[tuple[str, str]]) -> list[Metric]:
    """Of tables and of their indexes.

    Whether a table's figure holds its indexes' is said in two ways by AWS: better too much here than too little.
    """
    return [
        *(Metric("AWS/DynamoDB", metric, (("TableName", table),)) for table in tables),
        *(
            Metric("AWS/DynamoDB", metric, (("TableName", table), ("GlobalSecondaryIndexName", index)))
            for table, index in indexes
        ),
    ]


def _epoch(moment: datetime) -> EpochMs:
    return EpochMs(int(moment.timestamp() * 1000))
