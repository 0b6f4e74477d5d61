"""The one place that makes the logger and the metrics.

Metrics are CloudWatch's embedded format: lines in the log, so they cost no request. Ten series at most, which is what
CloudWatch gives for free: every name here has the one dimension `service`, which is the stack. METRIC_DIMENSIONS adds
a second series to each, for people who would rather pay for telling the functions apart.
"""

import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from lago.domain.redact import masked, shown
from lago.errors import SettingError
from lago.http import Exchange
from lago.log_line import line
from lago.settings import Environment, text

UNITS = {
    "PendingNotifications": MetricUnit.Count,
    "DeadLetters": MetricUnit.Count,
    "OldestDueAge": MetricUnit.Seconds,
    "Delivered": MetricUnit.Count,
    "Retried": MetricUnit.Count,
    "NewAds": MetricUnit.Count,
    "FetchErrors": MetricUnit.Count,
    "FetchLatency": MetricUnit.Milliseconds,
    "ConnectionsReused": MetricUnit.Count,
    "SourcesBlocked": MetricUnit.Count,
}
DIMENSIONS = ("none", "function")
_LONGEST_CYCLE = 100
_more: dict[str, str] = {}
"""The dimensions that METRIC_DIMENSIONS adds; the same for the life of a process."""

Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]
Values = Mapping[str, float | Sequence[float]]

# An RFC 3339 time: of a line whose time it can't read, Lambda drops the level (Lambda's "Log-level filtering").
logger = Logger(json_serializer=line, use_rfc3339=True, utc=True)
metrics = Metrics()


def observe(environment: Environment = os.environ) -> None:
    """Make the package's loggers write as the function's does. Raises SettingError.

    In an invocation that is sampled for debugging the package says all, other libraries nothing below INFO, whatever
    Lambda has set: botocore logs whole answers at DEBUG, and one of them is the bot token.
    """
    dimensions = text(environment, "METRIC_DIMENSIONS", DIMENSIONS[0])
    if dimensions not in DIMENSIONS:
        raise SettingError(f"METRIC_DIMENSIONS: got {shown(dimensions)}, expected one of {', '.join(DIMENSIONS)}")
    # named as AWS names it, so that its own metrics of the function can be laid beside
    _more.update({} if dimensions == "none" else {"function": text(environment, "AWS_LAMBDA_FUNCTION_NAME")})
    # a function that is asked for a test message, say, has nothing to measure
    warnings.filterwarnings("ignore", "No application metrics to publish")
    logging.getLogger().setLevel(logging.INFO)
    logging.getLogger("lago").setLevel(logging.DEBUG)
    copy_config_to_registered_loggers(source_logger=logger, include={"lago"}, ignore_log_level=True)
    for handler in logger.handlers:
        handler.addFilter(_wanted)


def _wanted(record: logging.LogRecord) -> bool:
    return record.levelno >= logger.log_level


def logged(handler: Handler) -> Handler:
    """A function's handler, with the request's id and the cycle on each log line.

    An error that nothing else took is logged with these, and goes on with a private text: Lambda's runtime writes it
    into the log by itself, and hands it to the state machine, past `lago.log_line`.
    """

    @logger.inject_lambda_context(clear_state=True)
    @wraps(handler)
    def run(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        cycle = event.get("cycle")
        if isinstance(cycle, str):
            logger.append_keys(cycle=cycle[:_LONGEST_CYCLE])
        try:
            return handler(event, context)
        except Exception as error:
            logger.exception("failed")
            error.args = (masked(str(error)),)
            raise

    wrapped: Handler = run
    return wrapped


def observed(handler: Handler) -> Handler:
    """The same for a function that measures: its metrics go out in one line, also when it fails."""
    measured: Handler = metrics.log_metrics(handler)
    return logged(measured)


def publish(values: Values) -> None:
    """Add metric values to this invocation's line, each of a sequence. Raises KeyError for a name not listed here."""
    if _more and not metrics.provider.dimension_sets:
        # beside the series with `service` alone, which alarms and dashboard look at
        metrics.add_dimensions(service=metrics.provider.service, **_more)
    for name, value in values.items():
        for each in value if isinstance(value, Sequence) else (value,):
            metrics.add_metric(name=name, unit=UNITS[name], value=each)


class Fetches:
    """How the requests of one invocation went, as metric values. Threads may add at the same time."""

    def __init__(self) -> None:
        self._seen: list[Exchange] = []

    def add(self, exchange: Exchange) -> None:
        """One request is over, answered or not."""
        self._seen.append(exchange)

    def take(self) -> Values:
        """A value for each request since the last time; no values where there was none, as 0 ms would be a lie.

        ConnectionsReused is 1 or 0 for each: its average is the share, its sum the number.
        """
        seen, self._seen = self._seen, []
        if not seen:
            return {}
        return {
            "FetchLatency": [exchange.ms for exchange in seen],
            "ConnectionsReused": [int(exchange.reused) for exchange in seen],
        }
