"""One line of a log, read: the functions write JSON, the platform its own kinds, and a crash anything at all."""

import json
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from lago.domain.ids import EpochMs
from lago_cli.deployment import LogLine
from lago_cli.text import plain

_FAILURES = frozenset({"ERROR", "CRITICAL", "FATAL"})
_FRAME = frozenset(
    {
        *(
            "timestamp",
            "time",
            "level",
            "log_level",
            "message",
            "location",
            "service",
            "xray_trace_id",
            "sampling_rate",
        ),
        *(
            "cold_start",
            "function_name",
            "function_memory_size",
            "function_arn",
            "function_request_id",
            "logger",
            "type",
        ),
        *("requestId", "stackTrace", "exception", "exception_name", "errorMessage", "errorType", "stack_trace"),
    }
)
"""Fields that stand on every record, or have their place in its line already."""
_ENDS_BADLY = ("Failed", "TimedOut", "Aborted")
_PLATFORM_TEXT = ("START RequestId:", "END RequestId:", "REPORT RequestId:", "INIT_START ")
_MOST_FIELDS = 12
_WIDEST = 300


class Record(Struct, frozen=True, kw_only=True):
    """A log line and what it means. `routine`: metrics, and what the platform says of each invocation."""

    at: EpochMs
    function: str
    level: str
    message: str
    fields: dict[str, Any]
    routine: bool
    raw: str
    said: dict[str, Any] | None
    """The whole record where it is JSON."""

    @property
    def failed(self) -> bool:
        """Whether it tells of a failure."""
        return self.level in _FAILURES


def read(line: LogLine, function: str) -> Record:
    """The record of a line. Never raises: what is no JSON is its own message."""
    text = line.text.strip()
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        decoded = None
    said = decoded if isinstance(decoded, dict) else None
    level, message, fields, routine = _unstructured(text) if said is None else _said(said)
    return Record(
        at=line.at,
        function=function,
        level=level,
        message=message,
        fields=fields,
        routine=routine,
        raw=text,
        said=said,
    )


def _said(said: dict[str, Any]) -> tuple[str, str, dict[str, Any], bool]:
    if "_aws" in said:
        values = {name: each for name, each in said.items() if name not in {"_aws", "service"}}
        return "INFO", "metrics", values, True
    kind, record = said.get("type"), said.get("record")
    if isinstance(kind, str) and kind.startswith("platform.") and isinstance(record, dict):
        return _platform(kind, record)
    if isinstance(kind, str) and "execution_arn" in said:
        return _step(kind, said)
    level = str(said.get("level", "ERROR" if "errorMessage" in said else "INFO")).upper()
    message = said.get("message", said.get("errorMessage", ""))
    failure = _failure(said)
    if failure:
        message = f"{message} ({failure})"
    fields = {name: each for name, each in said.items() if name not in _FRAME and each not in (None, "", [], {})}
    return level, message if isinstance(message, str) else json.dumps(message), fields, False


def _failure(said: dict[str, Any]) -> str:
    """The exception in a few words: the last line of its trace, else its name."""
    trace = said.get("exception")
    if isinstance(trace, str) and trace.strip():
        return trace.strip().splitlines()[-1]
    return str(said.get("exception_name") or said.get("errorType") or "")


def _platform(kind: str, record: dict[str, Any]) -> tuple[str, str, dict[str, Any], bool]:
    """What Lambda says of an invocation: routine unless it failed."""
    status = str(record.get("status", "success"))
    measured = record.get("metrics")
    fields = measured if isinstance(measured, dict) else {}
    failed = status != "success"
    why = f": {status} {record.get('errorType', '')}".rstrip() if failed else ""
    return "ERROR" if failed else "INFO", f"{kind.removeprefix('platform.')}{why}", fields, not failed


def _step(kind: str, said: dict[str, Any]) -> tuple[str, str, dict[str, Any], bool]:
    """What Step Functions logs of an execution (its developer guide, "CloudWatch Logs payloads")."""
    details, arn = said.get("details"), str(said["execution_arn"]).split(":")
    fields = {"cycle": arn[7] if len(arn) > 7 else "", **(details if isinstance(details, dict) else {})}
    failed = kind == "FailStateEntered" or kind.endswith(_ENDS_BADLY)
    return "ERROR" if failed else "INFO", kind, fields, False


def _unstructured(text: str) -> tuple[str, str, dict[str, Any], bool]:
    level = "ERROR" if "Task timed out" in text or text.startswith(("Traceback", "[ERROR]")) else "INFO"
    return level, text, {}, text.startswith(_PLATFORM_TEXT)


def as_json_line(record: Record) -> str:
    """The whole record for a program, in ASCII: nothing in it moves a terminal's cursor."""
    at = datetime.fromtimestamp(record.at / 1000, UTC).isoformat(timespec="milliseconds")
    whole = record.raw if record.said is None else record.said
    return json.dumps({"at": at, "function": record.function, "level": record.level, "record": whole})


def in_a_line(record: Record) -> str:
    """Time (UTC), function, level, message and the main fields, harmless for a terminal."""
    at = datetime.fromtimestamp(record.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    shown = [f"{plain(name, 40)}={_value(each)}" for name, each in list(record.fields.items())[:_MOST_FIELDS]]
    message = plain(record.message, _WIDEST) or "-"
    return "  ".join([at, f"{plain(record.function, 12):7}", f"{plain(record.level, 8):7}", message, *shown])


def _value(value: Any) -> str:
    """A field as `name=value` shows it: a group in brackets, without what is zero or empty."""
    match value:
        case dict():
            inner = ", ".join(f"{plain(str(name), 40)}={_value(each)}" for name, each in value.items() if each)
            return plain(f"({inner})", _WIDEST)
        case list():
            return plain(f"[{', '.join(_value(each) for each in value[:_MOST_FIELDS])}]", _WIDEST)
        case bool() | None:
            return json.dumps(value)
    return plain(str(value), _WIDEST)
