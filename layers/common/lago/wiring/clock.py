"""The real clock and the real sleep; everything else gets them as arguments."""

import time

from aws_lambda_powertools.utilities.typing import LambdaContext

from lago.domain.ids import EpochMs, Milliseconds


def now() -> EpochMs:
    """The current time."""
    return EpochMs(time.time_ns() // 1_000_000)


def pause(length: Milliseconds) -> None:
    """Wait."""
    time.sleep(length / 1000)


def deadline(context: LambdaContext) -> EpochMs:
    """When Lambda will end this invocation."""
    return EpochMs(now() + context.get_remaining_time_in_millis())
