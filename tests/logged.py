"""The log as the functions write it, and everything put back afterwards: what `observe` sets holds for the process."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lago import observability
from lago.observability import logger, metrics, observe


@dataclass
class Log:
    """What was written so far."""

    text: io.StringIO = field(default_factory=io.StringIO)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.getvalue().splitlines()]

    def of(self, message: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["message"] == message]

    def one(self, message: str) -> dict[str, Any]:
        (line,) = self.of(message)
        return line


@contextmanager
def logged() -> Iterator[Log]:
    package, root, handler = logging.getLogger("lago"), logging.getLogger(), logger.handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    before = (package.handlers[:], package.level, package.propagate, root.level, handler.filters[:], handler.stream)
    sampling, level = logger.sampling_rate, logger.log_level
    log = Log()
    handler.stream = log.text
    observe({})
    try:
        yield log
    finally:
        package.handlers[:], package.level, package.propagate, root.level, handler.filters[:], handler.stream = before
        logger.sampling_rate = sampling
        logger.setLevel(level)
        logger.structure_logs()
        observability._more.clear()
        metrics.provider.clear_metrics()
