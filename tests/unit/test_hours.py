"""Quiet hours and club intervals, on the wall clock of the person."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lago.domain.hours import club_until, digest_until, held_until, quiet_until
from lago.domain.ids import EpochMs
from tests.builders import a_destination

NIGHT = (22 * 60, 7 * 60)
VIENNA = ZoneInfo("Europe/Vienna")


def at(text: str, zone: ZoneInfo = VIENNA) -> EpochMs:
    return EpochMs(int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp() * 1000))


def quiet(hours=NIGHT, **more):
    return replace(a_destination(), quiet=hours, **more)


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("2026-11-29T21:59", "2026-11-29T21:59"),
        ("2026-11-29T22:00", "2026-11-30T07:00"),
        ("2026-11-30T03:30", "2026-11-30T07:00"),
        ("2026-11-30T07:00", "2026-11-30T07:00"),
        ("2026-03-28T23:00", "2026-03-29T07:00"),  # the night that is an hour short
        ("2026-10-24T23:00", "2026-10-25T07:00"),  # the night that is an hour long
    ],
)
def test_a_night_is_over_at_its_hour_on_the_wall(now: str, until: str):
    assert quiet_until(quiet(), at(now)) == at(until)


def test_hours_within_a_day_are_quiet_too():
    noon = quiet((12 * 60, 14 * 60))

    assert quiet_until(noon, at("2026-11-29T13:00")) == at("2026-11-29T14:00")
    assert quiet_until(noon, at("2026-11-29T14:00")) == at("2026-11-29T14:00")


def test_an_end_that_the_clock_skips_comes_right_after_the_gap():
    early = quiet((22 * 60, 2 * 60 + 30))

    assert quiet_until(early, at("2026-03-28T23:00")) == at("2026-03-29T03:30")


def test_without_quiet_hours_any_time_will_do():
    assert quiet_until(a_destination(), at("2026-11-29T03:00")) == at("2026-11-29T03:00")


def test_a_zone_that_nobody_knows_is_read_as_home():
    assert quiet_until(quiet(time_zone="Mars/Olympus"), at("2026-11-29T23:00")) == at("2026-11-30T07:00")


def test_a_club_ends_at_the_next_full_interval():
    destination = replace(a_destination(), club_seconds=600)

    assert club_until(destination, EpochMs(600_001)) == 1_200_000
    assert club_until(destination, EpochMs(1_200_000)) == 1_200_000
    assert club_until(a_destination(), EpochMs(600_001)) == 600_001


def test_a_club_that_ends_at_night_is_told_in_the_morning():
    destination = quiet(club_seconds=7_200)

    assert held_until(destination, at("2026-11-29T21:30")) == at("2026-11-30T07:00")


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ("2026-11-29T17:59", "2026-11-29T18:00"),
        ("2026-11-29T18:00", "2026-11-29T18:00"),
        ("2026-11-29T18:01", "2026-11-30T18:00"),
        ("2026-03-28T19:00", "2026-03-29T18:00"),  # a day of 23 hours
        ("2026-10-24T19:00", "2026-10-25T18:00"),  # a day of 25 hours
    ],
)
def test_a_digest_is_told_at_its_hour_on_the_wall(now: str, told: str):
    assert held_until(replace(a_destination(), digest_at=18 * 60), at(now)) == at(told)


def test_a_digest_at_an_hour_that_the_clock_skips_is_told_right_after_the_gap():
    assert digest_until(replace(a_destination(), digest_at=2 * 60 + 30), at("2026-03-28T12:00")) == at(
        "2026-03-29T03:30"
    )


def test_a_digest_in_quiet_hours_is_told_in_the_morning():
    assert held_until(quiet(digest_at=23 * 60), at("2026-11-29T12:00")) == at("2026-11-30T07:00")


def test_a_digest_takes_the_place_of_a_club():
    destination = replace(a_destination(), digest_at=18 * 60, club_seconds=600)

    assert held_until(destination, at("2026-11-29T12:00")) == at("2026-11-29T18:00")


def test_without_a_digest_any_time_will_do():
    assert digest_until(a_destination(), at("2026-11-29T03:00")) == at("2026-11-29T03:00")


@given(
    st.integers(0, 1_439),
    st.integers(1_700_000_000_000, 1_900_000_000_000).map(EpochMs),
    st.sampled_from(["Europe/Vienna", "America/St_Johns", "Australia/Lord_Howe", "UTC"]),
)
def test_whenever_it_is_the_next_digest_comes_within_a_day(minute, now, zone):
    told = digest_until(replace(a_destination(), digest_at=minute, time_zone=zone), now)

    assert now <= told <= now + 26 * 3_600_000


@given(
    st.integers(0, 1_439),
    st.integers(0, 1_439),
    st.integers(1_700_000_000_000, 1_900_000_000_000).map(EpochMs),
    st.sampled_from(["Europe/Vienna", "America/St_Johns", "Australia/Lord_Howe", "UTC"]),
)
def test_whatever_the_hours_they_end_within_a_day_and_stay_ended(start, end, now, zone):
    destination = quiet((start, end), time_zone=zone)

    over = quiet_until(destination, now)

    assert now <= over <= now + 25 * 3_600_000
