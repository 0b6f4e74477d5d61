import pytest

from lago.domain.ids import DestinationId
from tests.cli.fakes import FakeDestinations, FakeStack, a_destination, a_world
from tests.cli.run import answer, lago

ME = DestinationId("me")


def a_stack() -> FakeStack:
    return FakeStack(destinations=FakeDestinations({ME: a_destination()}))


def test_quiet_hours_clubs_and_time_zone_are_set_and_the_rest_stays() -> None:
    stack = a_stack()
    before = stack.destinations.get(ME)
    assert before is not None

    world = a_world(stack)
    options = ("--quiet", "22:00-7:30", "--club", "600", "--time-zone", "Europe/London", "--json")
    answer(lago(world, "destination", "set", "me", *options))
    answer(lago(world, "destination", "set", "me", "--club", "0", "--json"))

    after = stack.destinations.get(ME)
    assert after is not None
    assert (after.quiet, after.club_seconds, after.time_zone) == ((1_320, 450), 0, "Europe/London")
    assert (after.address, after.credentials) == (before.address, before.credentials)


def test_quiet_hours_can_be_taken_back() -> None:
    stack = a_stack()
    lago(a_world(stack), "destination", "set", "me", "--quiet", "22:00-07:00")

    said = lago(a_world(stack), "destination", "set", "me", "--quiet", "none").output

    after = stack.destinations.get(ME)
    assert after is not None
    assert after.quiet is None
    assert "no quiet hours" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--quiet", "22-7"), "--quiet: got '22-7', expected two different times of the day"),
        (("--quiet", "07:00-7:00"), "expected two different times"),
        (("--quiet", "25:00-07:00"), "expected two different times"),
        (("--club", "30"), "--club: got '30', expected 0 (tell at once), or from 60 to 7200 seconds"),
        (("--time-zone", "Mars/Olympus"), "--time-zone: got 'Mars/Olympus'"),
    ],
)
def test_a_wrong_value_is_named_and_changes_nothing(options: tuple[str, ...], words: str) -> None:
    stack = a_stack()
    before = stack.destinations.get(ME)

    result = lago(a_world(stack), "destination", "set", "me", *options)

    assert result.exit_code == 2
    assert words in " ".join(result.output.split())
    assert stack.destinations.get(ME) == before


def test_a_destination_that_is_not_there_is_named() -> None:
    result = lago(a_world(a_stack()), "destination", "set", "you", "--club", "60")

    assert result.exit_code == 2
    assert "a destination of this stack" in " ".join(result.output.split())
