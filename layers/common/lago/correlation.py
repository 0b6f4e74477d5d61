"""What the work under way is about, for the log: whatever is said inside `about` bears its words.

In a context variable, so that threads that work on different searches do not answer for each other. The package says
what it is about; how that gets into a line is `lago.observability`'s.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_NOTHING: Mapping[str, str] = MappingProxyType({})
_subject: ContextVar[Mapping[str, str]] = ContextVar("subject", default=_NOTHING)


@contextmanager
def about(**words: str) -> Iterator[None]:
    """Say in every line logged inside, by this thread, what it is about.

    >>> with about(search="3f9a"):
    ...     subject()
    {'search': '3f9a'}
    """
    token = _subject.set({**_subject.get(), **words})
    try:
        yield
    finally:
        _subject.reset(token)


def subject() -> Mapping[str, str]:
    """What this thread's work is about now."""
    return _subject.get()
