"""Distances on the ground."""

from math import asin, cos, radians, sin, sqrt

EARTH_RADIUS_KM = 6371.0
"""Mean radius (IUGG)."""


def distance_km(here: tuple[float, float], there: tuple[float, float]) -> float:
    """Great-circle distance in km between two (latitude, longitude) pairs in degrees, by the haversine formula."""
    (lat1, lon1), (lat2, lon2) = here, there
    a = (
        sin(radians(lat2 - lat1) / 2) ** 2
        + cos(radians(lat1)) * cos(radians(lat2)) * sin(radians(lon2 - lon1) / 2) ** 2
    )
    return 2 * EARTH_RADIUS_KM * asin(min(1.0, sqrt(a)))
