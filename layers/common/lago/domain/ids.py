"""Identities and units. Times are UTC epoch milliseconds, prices are integers in minor currency units."""

from collections.abc import Callable
from typing import NewType

SourceName = NewType("SourceName", str)
AdId = NewType("AdId", str)
SearchId = NewType("SearchId", str)
WatchId = NewType("WatchId", str)
OwnerId = NewType("OwnerId", str)
DestinationId = NewType("DestinationId", str)
NotificationId = NewType("NotificationId", str)

EpochMs = NewType("EpochMs", int)
Milliseconds = NewType("Milliseconds", int)
Minor = NewType("Minor", int)

Clock = Callable[[], EpochMs]
"""Returns now. The core gets it as an argument, so that no test sleeps."""

Sleep = Callable[[Milliseconds], None]
