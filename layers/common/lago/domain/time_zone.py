"""Time zones by name, for people whose zone may be misspelt and machines that may know none."""

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

HOME_ZONE = "Europe/Vienna"
"""Whose wall clock counts when a person's own time zone is unknown."""


def zone_of(name: str) -> tzinfo:
    """The named zone, else Vienna, else UTC (a machine without time zone data)."""
    return _known_zone(name) or _known_zone(HOME_ZONE) or UTC


def _known_zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # unknown; not a zone's name; a directory of zones
        return None
