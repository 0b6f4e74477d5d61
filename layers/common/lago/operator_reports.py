"""What Notify tells whoever runs Lago for others: for a scrape, and for the state machine when a cycle failed."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from lago.courier import Tally
from lago.domain.ids import DestinationId, EpochMs
from lago.domain.operator import Sign
from lago.domain.redact import reason
from lago.operator_alerts import OperatorAlerts
from lago.operator_signs import DRAIN, SCRAPE, Report

_TOLD = 400


class Sender(Protocol):
    """The way out."""

    def drain(self, destination: DestinationId, *, soft: EpochMs, deadline: EpochMs) -> Tally:
        """Send what is due in one mailbox."""
        ...


class Step(Struct, frozen=True, kw_only=True):
    """A step's answer as the state machine has it, of which nothing matters here; or why it failed, in its names."""

    Error: str | None = None
    Cause: str | None = None


class FailedCycle(Struct, frozen=True, kw_only=True):
    """The end of a cycle in which something failed; `scrape` has a step for each shard."""

    drain: Step = Step()
    scrape: tuple[Step, ...] = ()


class _Raised(Struct):
    """What a Python function that failed answers (Lambda's developer guide, "Lambda function errors in Python")."""

    errorMessage: str  # noqa: N815 (Lambda's names)
    errorType: str  # noqa: N815


def report_in(event: Mapping[str, Any]) -> Report | None:
    """The report in an event: what a scrape saw, or what follows from a failed cycle; None when it has none.

    Its texts may quote errors, so they are cleaned and cut. Raises msgspec.ValidationError for one that is malformed.
    """
    if "operator" in event:
        report = msgspec.convert(event["operator"], Report)
    elif "failed_cycle" in event:
        report = _failed(msgspec.convert(event["failed_cycle"], FailedCycle))
    else:
        return None
    return replace(report, signs=tuple(replace(sign, text=reason(sign.text, limit=_TOLD)) for sign in report.signs))


def tell_now(report: Report, *, alerts: OperatorAlerts, sender: Sender, deadline: EpochMs) -> Tally:
    """Tell what is to be told of a report, at once: the drain that would send it later may be what failed.

    What can't be sent now waits for that. Raises StoreError.
    """
    if not alerts.report(report.scope, report.signs).queued:
        return Tally()
    return sender.drain(alerts.destination, soft=deadline, deadline=deadline)


def _failed(cycle: FailedCycle) -> Report:
    """Each step by itself: that it works again is seen by the next one of its kind that ends well."""
    steps = [(DRAIN, "drain", cycle.drain)]
    for shard, step in enumerate(cycle.scrape):
        steps.append((f"{SCRAPE}/{shard}", f"scrape of shard {shard}" if len(cycle.scrape) > 1 else "scrape", step))
    signs = (
        Sign(key=key, text=f"A cycle failed in its {name}: {_why(step)}", over=f"The {name} works again.")
        for key, name, step in steps
        if step.Error is not None
    )
    return Report(signs=tuple(signs))


def _why(step: Step) -> str:
    """The function's own words where Lambda hands them on; else what Step Functions knows."""
    try:
        raised = msgspec.json.decode(step.Cause or "", type=_Raised)
    except msgspec.DecodeError:
        return f"{step.Error} {step.Cause or ''}".strip()
    return f"{raised.errorType}: {raised.errorMessage}"
