"""The one error tree: what went wrong, by what the caller can do about it.

LagoError
├── BadInputError          a person's input: show the message, change nothing
├── NotFoundError          what a person asked for is not there (any more): show the message
├── SettingError           an environment variable or parameter: fix the deployment
├── SourceError            the marketplace could not be read: back off the source, conclude nothing
│   ├── SourceBlockedError       403, 429, a block page
│   └── SourceUnavailableError   5xx, time-outs, no connection
├── SearchError            this search alone cannot be read: back off the search, conclude nothing
└── StoreError             the database
    ├── ConflictError            a condition did not hold: someone else was first, read again
    └── StoreUnavailableError    throttled or unreachable: try again later
        └── NewerItemError           only a newer version can read it: left alone until that runs
"""


class LagoError(Exception):
    """Base of every error that Lago raises on purpose."""


class BadInputError(LagoError):
    """Names the field, the value and what would be right.

    >>> raise BadInputError("price_to", "-5", "a price of 0 or more")
    Traceback (most recent call last):
        ...
    lago.errors.BadInputError: price_to: got '-5', expected a price of 0 or more
    """

    def __init__(self, field: str, value: object, expected: str) -> None:
        """All three parts are shown to the person; `value` is cut at 120 characters."""
        self.field, self.value, self.expected = field, value, expected
        shown = str(value)
        shown = shown if len(shown) <= 120 else shown[:117] + "..."
        super().__init__(f"{field}: got {shown!r}, expected {expected}")


class NotFoundError(LagoError):
    """What a person asked for is not there (any more)."""


class SettingError(LagoError):
    """A setting is missing or out of range; the message names the environment variable."""


class SourceError(LagoError):
    """The marketplace could not be read. `retry_after_ms` is what it asked for, if it did."""

    def __init__(self, reason: str, retry_after_ms: int | None = None) -> None:
        """`reason` is for health and logs: no query strings, no secrets."""
        self.reason, self.retry_after_ms = reason, retry_after_ms
        super().__init__(reason)


class SourceBlockedError(SourceError):
    """403, 429 or a block page."""


class SourceUnavailableError(SourceError):
    """5xx, a time-out or no connection."""


class SearchError(LagoError):
    """This search alone: 400/404, an ignored filter, a wrong sort order, a page that is not understood."""

    def __init__(self, reason: str) -> None:
        """`reason` is for health and logs."""
        self.reason = reason
        super().__init__(reason)


class StoreError(LagoError):
    """The database did not do what was asked."""


class ConflictError(StoreError):
    """A condition did not hold: someone else was first."""


class StoreUnavailableError(StoreError):
    """Throttled, timed out or unreachable."""


class NewerItemError(StoreUnavailableError):
    """An item that only a newer version can read: it is left alone until that runs."""
