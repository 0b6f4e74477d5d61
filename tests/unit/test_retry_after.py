import pytest

from lago.domain.ids import EpochMs
from lago.retry_after import retry_after_ms

NOW = EpochMs(1_795_885_500_000)  # 2026-11-28T17:05:00Z
DAY = 86_400_000
TOO_FAR = ("Fri, 31 Dec 9999 23:59:59 +99999999999999", "1 Jan 2026 999999999999999999999:00:00", "Fri, 31 Dec 99999")


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("0", 0),
        ("30", 30_000),
        (" 30 ", 30_000),
        ("Sat, 28 Nov 2026 17:06:00 GMT", 60_000),
        ("Sat, 28 Nov 2026 18:06:00 +0100", 60_000),
        ("Sat, 28 Nov 2026 17:06:00 -0000", 60_000),
        ("Sat, 28 Nov 2026 17:00:00 GMT", 0),
        ("Sat, 28 Nov 2126 17:00:00 GMT", DAY),
        ("9" * 5000, DAY),
        ("86401", DAY),
    ],
    ids=lambda value: str(value)[:40],
)
def test_seconds_and_dates_are_understood_within_a_day(value: str, wait: int) -> None:
    assert retry_after_ms({"retry-after": value}, NOW) == wait


@pytest.mark.parametrize(
    "headers", [{}, *({"retry-after": v} for v in ("", "soon", "-5", "1.5", "٣", "Sat, 99 Nov", *TOO_FAR))]
)
def test_anything_else_asks_for_nothing(headers: dict[str, str]) -> None:
    assert retry_after_ms(headers, NOW) is None
