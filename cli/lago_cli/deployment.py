"""What AWS itself says of a deployed stack, beside what is in its tables: the port that doctor, logs and cost ask."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from lago.domain.ids import EpochMs
from lago_cli.errors import StackError


class Described(Struct, frozen=True, kw_only=True):
    """The stack as CloudFormation describes it.

    `aws_time` is what AWS's own clock said in the answer, `endpoint` the address that answered.
    """

    status: str
    reason: str
    parameters: dict[str, str]
    outputs: dict[str, str]
    created: EpochMs
    aws_time: EpochMs | None
    endpoint: str = "https://"

    @property
    def is_local(self) -> bool:
        """Whether it lives in an embedded cloud: AWS itself is never asked without TLS.

        Some embedded clouds lead their functions to themselves, so the stack's own parameter may be empty.
        """
        return self.endpoint.startswith("http://") or bool(self.parameters.get("AwsEndpointUrl"))


class Resource(Struct, frozen=True):
    """One resource: its name in the template, its name in AWS, its type such as `AWS::Logs::LogGroup`."""

    name: str
    id: str
    kind: str


class Alarm(Struct, frozen=True, kw_only=True):
    """An alarm and its state, `OK`, `ALARM` or `INSUFFICIENT_DATA`."""

    name: str
    state: str
    means: str


class Schedule(Struct, frozen=True):
    """When cycles run."""

    enabled: bool
    expression: str


class Subscriber(Struct, frozen=True):
    """Who hears of alarms; nothing is sent before it was confirmed."""

    endpoint: str
    confirmed: bool


class Table(Struct, frozen=True, kw_only=True):
    """A table: its size (AWS updates it about every six hours), its indexes that are billed apart, its backups."""

    id: str
    size: int
    indexes: tuple[str, ...]
    restorable: bool


class Function(Struct, frozen=True, kw_only=True):
    """What a function's time costs depends on."""

    id: str
    memory_mb: int
    architecture: str


class Metric(Struct, frozen=True):
    """One CloudWatch series."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]


class LogLine(Struct, frozen=True, kw_only=True):
    """One record of a log group."""

    at: EpochMs
    group: str
    stream: str
    text: str
    id: str = ""
    """AWS's own; empty where the cloud gives none."""


class Deployment(Protocol):
    """One stack in its account. Errors are the AWS library's own, or StackError; `explain` makes sentences of both."""

    def describe(self) -> Described:
        """The stack. Raises StackError when there is none of its name."""
        ...

    def clock(self) -> EpochMs | None:
        """What AWS's clock says now, also where it refuses the request; None when the answer has no time."""
        ...

    def resources(self) -> list[Resource]:
        """All that the stack is made of."""
        ...

    def alarms(self, ids: Sequence[str]) -> list[Alarm]:
        """These alarms."""
        ...

    def schedule(self, schedule: str) -> Schedule:
        """This schedule."""
        ...

    def subscribers(self, topic: str) -> list[Subscriber]:
        """Who hears what is published on this topic."""
        ...

    def concurrency(self) -> int:
        """How many functions may run at a time in the account."""
        ...

    def mail_is_limited(self) -> bool:
        """Whether SES sends to verified addresses only (its sandbox)."""
        ...

    def tables(self, ids: Sequence[str]) -> list[Table]:
        """These tables."""
        ...

    def functions(self, ids: Sequence[str]) -> list[Function]:
        """These functions."""
        ...

    def retention_days(self, log_group: str) -> int | None:
        """How long the group keeps its records; None: for ever."""
        ...

    def sums(self, metrics: Sequence[Metric], since: EpochMs, until: EpochMs) -> list[float]:
        """What each series adds up to; 0 for one without values."""
        ...

    def series(self, namespace: str, dimension: str, value: str) -> int:
        """How many series of a namespace have a dimension of this value, of those with a value in two weeks."""
        ...

    def log_lines(self, log_group: str, since: EpochMs, until: EpochMs) -> Iterator[LogLine]:
        """The group's records from `since` to before `until`, oldest first."""
        ...


def of_kind(resources: Sequence[Resource], kind: str) -> list[Resource]:
    """The resources of a type such as `Logs::LogGroup`."""
    return [each for each in resources if each.kind == f"AWS::{kind}"]


def the(resources: Sequence[Resource], name: str) -> Resource:
    """The resource of that name in the template. Raises StackError when the stack has none."""
    for each in resources:
        if each.name == name:
            return each
    raise StackError(f"The stack has no resource {name}: it is not Lago's, or of another version than this command.")
