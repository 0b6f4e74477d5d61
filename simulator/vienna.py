"""Vienna's wall clock, without a time zone database: the simulator starts wherever Python does."""

from datetime import UTC, datetime, timedelta, timezone


def offset(epoch_ms: int) -> timedelta:
    """1 hour, and 2 between the last Sundays of March and October at 01:00 UTC (the EU's rule since 1996)."""
    moment = datetime.fromtimestamp(epoch_ms / 1000, UTC)
    begins, ends = _last_sunday(moment.year, 3), _last_sunday(moment.year, 10)
    return timedelta(hours=2 if begins <= moment < ends else 1)


def local(epoch_ms: int) -> datetime:
    """The wall time with its offset, whole seconds."""
    zone = timezone(offset(epoch_ms))
    return datetime.fromtimestamp(epoch_ms // 1000, zone)


def false_utc(epoch_ms: int) -> str:
    """PUBLISHED_String as willhaben writes it: wall time, mislabelled with a Z."""
    return local(epoch_ms).strftime("%Y-%m-%dT%H:%M:%SZ")


def with_offset(epoch_ms: int) -> str:
    """Dates of ad pages and searchDate: the offset has no colon."""
    return local(epoch_ms).strftime("%Y-%m-%dT%H:%M:%S%z")


def _last_sunday(year: int, month: int) -> datetime:
    last = datetime(year, month, 31, 1, tzinfo=UTC)
    return last - timedelta(days=(last.weekday() + 1) % 7)
