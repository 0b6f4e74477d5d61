"""When a destination may be told: quiet hours, clubs and digests. Pure; right when the clocks change."""

from datetime import UTC, datetime, timedelta

from lago.domain.ids import EpochMs
from lago.domain.notification import Destination
from lago.domain.time_zone import zone_of


def quiet_until(destination: Destination, now: EpochMs) -> EpochMs:
    """When the quiet hours that hold now are over; `now` itself outside of them.

    The hours are wall time: where the clock skips the end, the first minute after the gap counts; where it comes twice,
    the first.
    """
    if destination.quiet is None:
        return now
    start, end = destination.quiet
    local = _local(destination, now)
    minute = local.hour * 60 + local.minute
    within = start <= minute < end if start <= end else minute >= start or minute < end
    if not within:
        return now
    return max(now, _at(local, end, days=1 if start > end and minute >= start else 0))


def club_until(destination: Destination, now: EpochMs) -> EpochMs:
    """When what is found now is told with the rest of its club; `now` itself without a club interval."""
    if destination.club_seconds <= 0:
        return now
    interval = destination.club_seconds * 1000
    return EpochMs(-(-now // interval) * interval)


def digest_until(destination: Destination, now: EpochMs) -> EpochMs:
    """When the next digest is told, in wall time as quiet hours are; `now` itself without one."""
    if destination.digest_at is None:
        return now
    local = _local(destination, now)
    today = _at(local, destination.digest_at)
    return today if today >= now else _at(local, destination.digest_at, days=1)


def held_until(destination: Destination, now: EpochMs) -> EpochMs:
    """When a notification found now may be told: with its digest or club, and not in quiet hours."""
    together = digest_until if destination.digest_at is not None else club_until
    return quiet_until(destination, together(destination, now))


def _local(destination: Destination, now: EpochMs) -> datetime:
    return datetime.fromtimestamp(now / 1000, zone_of(destination.time_zone))


def _at(day: datetime, minute: int, *, days: int = 0) -> EpochMs:
    """That minute of that day, or of the one so many days after it, by the clock on the wall."""
    midnight = day.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    return EpochMs(int((midnight + timedelta(days=days, minutes=minute)).astimezone(UTC).timestamp() * 1000))
