"""When a destination may be told: quiet hours and club intervals. Pure; right when the clocks change."""

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
    local = datetime.fromtimestamp(now / 1000, zone_of(destination.time_zone))
    minute = local.hour * 60 + local.minute
    within = start <= minute < end if start <= end else minute >= start or minute < end
    if not within:
        return now
    days = 1 if start > end and minute >= start else 0
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    over = midnight + timedelta(days=days, minutes=end)
    return EpochMs(max(now, int(over.astimezone(UTC).timestamp() * 1000)))


def club_until(destination: Destination, now: EpochMs) -> EpochMs:
    """When what is found now is told with the rest of its club; `now` itself without a club interval."""
    if destination.club_seconds <= 0:
        return now
    interval = destination.club_seconds * 1000
    return EpochMs(-(-now // interval) * interval)


def held_until(destination: Destination, now: EpochMs) -> EpochMs:
    """When a notification found now may be told: at the end of its club, and not in quiet hours."""
    return quiet_until(destination, club_until(destination, now))
