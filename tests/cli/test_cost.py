"""`lago cost`: what was used, times list prices, and the month foretold from it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from lago.domain.ids import EpochMs
from lago_cli import prices
from lago_cli.cost_usage import Usage, bill, month_of
from lago_cli.ports import World
from tests.cli.fake_deployment import PARAMETERS, FakeDeployment
from tests.cli.fakes import a_world
from tests.cli.run import answer, lago


def at(day: int, month: int = 6, hour: int = 0) -> EpochMs:
    return EpochMs(int(datetime(2026, month, day, hour, tzinfo=UTC).timestamp() * 1000))


TOTALS = {
    ("Invocations", "test-drain"): 14_400.0,
    ("Invocations", "test-scrape"): 14_400.0,
    ("Duration", "test-scrape"): 14_400 * 5_000.0,
    ("ConsumedWriteCapacityUnits", "test-queue"): 1_000_000.0,
    ("ConsumedWriteCapacityUnits", "due"): 200_000.0,
    ("ConsumedReadCapacityUnits", "test-queue"): 2_000_000.0,
    ("ExecutionsStarted", "arn:aws:states:eu-central-1:1:stateMachine:test-cycle"): 14_400.0,
    ("ExpressExecutionBilledDuration", "arn:aws:states:eu-central-1:1:stateMachine:test-cycle"): 14_400 * 6_000.0,
    ("Count", "lago"): 2_000.0,
    ("IncomingBytes", "/logs/scrape"): 1e9,
}


def a_month(**changes: Any) -> World:
    """Ten days of June, of a stack that is older."""
    known: dict[str, Any] = {"totals": TOTALS, "created": at(1, month=1)}
    return replace(a_world(deployment=FakeDeployment(**{**known, **changes})), clock=lambda: at(11))


def line(world: World, what: str) -> dict[str, Any]:
    (found,) = (each for each in answer(lago(world, "cost", "--json"))["lines"] if each["what"] == what)
    return dict(found)


@pytest.mark.parametrize(
    ("what", "used", "so_far", "month"),
    [
        ("Lambda requests", 28_800, 28_800 * 0.2e-6, 86_400 * 0.2e-6),
        ("Lambda time", 14_400 * 5 * 0.25, 18_000 * 13.3334e-6, 54_000 * 13.3334e-6),
        ("DynamoDB writes", 1_200_000, 0.75, 2.25),
        ("DynamoDB reads", 2_000_000, 0.25, 0.75),
        ("DynamoDB storage", 1, 0.25 / 3, 0.25),
        ("DynamoDB backups", 1, 0.20 / 3, 0.20),
        ("EventBridge Scheduler", 14_400, 0.0144, 0.0432),
        ("Step Functions Express", 14_400, 0.0144, 0.0432),
        ("Step Functions Express time", 14_400 * 6 * 0.0625, 5_400 * 16.67e-6, 16_200 * 16.67e-6),
        ("API Gateway", 2_000, 0.007, 0.021),
        ("CloudWatch Logs", 1, 0.5, 1.5),
        ("CloudWatch metrics", 10, 1.0, 3.0),
        ("CloudWatch alarms", 1, 0.1 / 3, 0.1),
        ("CloudWatch dashboard", 1, 1.0, 3.0),
    ],
)
def test_each_part_is_what_was_used_at_its_list_price_and_three_times_that_for_the_month(
    what: str, used: float, so_far: float, month: float
) -> None:
    found = line(a_month(), what)

    assert found["used"] == pytest.approx(used)
    assert found["so_far"] == pytest.approx(so_far)
    assert found["month"] == pytest.approx(month)


def test_the_free_tier_covers_a_part_of_the_month() -> None:
    assert line(a_month(), "Lambda requests")["month_after_free"] == 0
    much = TOTALS | {("Invocations", "test-drain"): 1_000_000 - 14_400.0}

    found = line(a_month(totals=much), "Lambda requests")

    assert found["free_share"] == pytest.approx(1 / 3)
    assert found["month_after_free"] == pytest.approx(2_000_000 * 0.2e-6)


def test_the_sums_are_those_of_the_lines() -> None:
    estimate = answer(lago(a_month(), "cost", "--json"))

    for name in ("so_far", "month", "month_after_free"):
        assert estimate[name] == pytest.approx(sum(each[name] for each in estimate["lines"]))
    assert (estimate["since"], estimate["until"]) == ("2026-06-01T00:00Z", "2026-06-11T00:00Z")


def test_it_is_shown_as_a_table_that_says_what_it_is() -> None:
    result = lago(a_month(), "cost")

    assert "An estimate from 2026-06-01T00:00Z to 2026-06-11T00:00Z, in US dollars at list prices." in result.stdout
    assert "Not in it: mail (SES)" in result.stderr
    (logs,) = (each.split() for each in result.stdout.splitlines() if "CloudWatch Logs" in each)
    assert logs[2:] == ["1", "GB", "0.50", "1.50", "100%", "0.00"]


def test_a_local_cloud_costs_nothing_and_says_so() -> None:
    local = PARAMETERS | {"AwsEndpointUrl": "http://127.0.0.1:4566"}

    assert "A local cloud costs nothing" in lago(a_month(parameters=local), "cost").stderr


def test_a_stack_that_nothing_ran_in_costs_only_what_is_billed_by_the_month() -> None:
    used = [each["what"] for each in answer(lago(a_month(totals={}), "cost", "--json"))["lines"] if each["so_far"]]

    assert used == [
        "DynamoDB storage",
        "DynamoDB backups",
        "CloudWatch metrics",
        "CloudWatch alarms",
        "CloudWatch dashboard",
    ]


def test_a_stack_of_this_month_is_foretold_from_its_own_days() -> None:
    period = month_of(at(21), created=at(11))

    assert bill(Usage("x", prices.WRITE_UNIT, 1_000_000), period).month == pytest.approx(2 * 0.625)
    assert bill(Usage("x", prices.COMPOSITE_ALARM, 3, by_month=True), period).month == pytest.approx(1.0)


def test_minutes_of_use_are_not_taken_for_a_rate() -> None:
    minute = 60_000

    period = month_of(EpochMs(at(1) + minute), created=at(1))

    assert period.grown(1) < 24 * 30 + 1


@pytest.mark.parametrize(
    ("now", "first", "end"), [(at(31, 12), at(1, 12), at(1, 12) + 31 * 86_400_000), (at(1, 6), at(1, 6), at(1, 7))]
)
def test_the_month_is_the_calendar_s_in_utc(now: EpochMs, first: int, end: int) -> None:
    period = month_of(now, created=at(1, month=1))

    assert (period.first, period.end) == (first, end)
