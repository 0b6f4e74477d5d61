"""AWS's list prices in US dollars, and what is free each month for a whole account, however old it is.

us-east-1, 2026-11; other regions cost up to a third more. The free tiers are those that do not end after a year:
https://aws.amazon.com/lambda/pricing/ and the same page of each service.
"""

from msgspec import Struct


class Price(Struct, frozen=True):
    """Dollars for one unit; `free` units a month cost nothing."""

    unit: str
    dollars: float
    free: float = 0


WRITE_UNIT = Price("write units", 0.625e-6)
"""DynamoDB on demand; its free 25 units a second are for provisioned tables."""
READ_UNIT = Price("read units", 0.125e-6)
TABLE_GB = Price("GB a month", 0.25, free=25)
BACKUP_GB = Price("GB a month", 0.20)
LAMBDA_GB_SECOND = {
    "arm64": Price("GB-s", 13.3334e-6, free=400_000),
    "x86_64": Price("GB-s", 16.6667e-6, free=400_000),
}
LAMBDA_REQUEST = Price("requests", 0.2e-6, free=1_000_000)
SCHEDULE = Price("invocations", 1e-6, free=14_000_000)
EXPRESS_REQUEST = Price("cycles", 1e-6)
"""Step Functions Express; its free 4,000 transitions are for standard workflows."""
EXPRESS_GB_SECOND = Price("GB-s", 16.67e-6)
EXPRESS_GB = 0.0625
"""An Express execution is billed by 64 MB; the cycle's needs one such part."""
API_REQUEST = Price("requests", 3.5e-6)
LOG_GB = Price("GB", 0.5, free=5)
METRIC = Price("series", 0.30, free=10)
ALARM = Price("alarms", 0.10, free=10)
COMPOSITE_ALARM = Price("alarms", 0.50)
DASHBOARD = Price("dashboards", 3.00, free=3)
