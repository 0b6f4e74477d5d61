"""The one place that makes the logger and the metrics.

Metrics are CloudWatch's embedded format: lines in the log, so they cost no request. Ten series at most, which is what
CloudWatch gives for free: every name here has the one dimension `service`, which is the stack.
"""

import logging

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.metrics import MetricUnit

UNITS = {
    "PendingNotifications": MetricUnit.Count,
    "DeadLetters": MetricUnit.Count,
    "OldestDueAge": MetricUnit.Seconds,
    "Delivered": MetricUnit.Count,
    "Retried": MetricUnit.Count,
    "NewAds": MetricUnit.Count,
    "FetchErrors": MetricUnit.Count,
    "SourcesBlocked": MetricUnit.Count,
}

logger = Logger()
metrics = Metrics()


def observe() -> None:
    """Make the package's loggers write as the function's does: JSON lines with the service and the request's id."""
    logging.getLogger("lago").setLevel(logging.INFO)
    copy_config_to_registered_loggers(source_logger=logger, include={"lago"}, ignore_log_level=True)


def publish(values: dict[str, float]) -> None:
    """Add metric values to this invocation's line. Raises KeyError for a name that is not listed here."""
    for name, value in values.items():
        metrics.add_metric(name=name, unit=UNITS[name], value=value)
