import pytest

from lago.domain.ids import DestinationId
from lago.domain.mailbox import dead
from tests.builders import NOW, a_row, an_event
from tests.cli.fakes import FakeDestinations, FakeStack, a_destination, a_watch, a_world
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
        (("--digest", "6 pm"), "--digest: got '6 pm', expected a time of the day such as 18:00, or none"),
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


@pytest.mark.parametrize("command", [("set", "--club", "60"), ("enable",), ("disable", "--because", "x")])
def test_a_destination_that_is_not_there_is_named(command: tuple[str, ...]) -> None:
    result = lago(a_world(a_stack()), "destination", command[0], "you", *command[1:])

    assert result.exit_code == 1
    assert "there is no destination you" in result.stderr


def test_a_digest_is_set_and_taken_back() -> None:
    stack = a_stack()

    said = lago(a_world(stack), "destination", "set", "me", "--digest", "18:00").stdout
    at_six = stack.destinations.kept[ME].digest_at
    lago(a_world(stack), "destination", "set", "me", "--digest", "none")

    assert "a digest at 18:00" in said
    assert (at_six, stack.destinations.kept[ME].digest_at) == (1_080, None)


def test_the_list_shows_what_waits_and_what_is_dead() -> None:
    stack = a_stack()
    rows = (a_row(an_event("1")), a_row(an_event("2")), dead(a_row(an_event("3")), "message", NOW))
    stack.destinations.mailboxes.enqueue(a_destination(), rows, now=NOW)

    (shown,) = answer(lago(a_world(stack), "destination", "list", "--json"))
    printed = lago(a_world(stack), "destination", "list").stdout

    assert (shown["id"], shown["channel"], shown["waiting"], shown["dead"]) == ("me", "telegram", 2, 1)
    assert "credentials" not in shown
    assert printed.split()[-3:] == ["works", "2", "1"]


def test_disabled_it_rests_with_the_reason_and_enabled_its_watches_go_on() -> None:
    stack = a_stack()
    stack.watches.kept = [a_watch("w1", paused="on holiday"), a_watch("w2", paused="paused by you")]

    rests = lago(a_world(stack), "destination", "disable", "me", "--because", "on holiday")
    disabled = stack.destinations.kept[ME].disabled
    works = lago(a_world(stack), "destination", "enable", "me")

    assert "is disabled (on holiday)" in rests.stdout
    assert (disabled, stack.destinations.kept[ME].disabled) == ("on holiday", "")
    assert "Watches that go on: w1." in works.stderr
    assert [watch.paused for watch in stack.watches.kept] == ["", "paused by you"]


def test_disabling_without_a_reason_is_refused() -> None:
    stack = a_stack()

    assert lago(a_world(stack), "destination", "disable", "me").exit_code == 2
    assert lago(a_world(stack), "destination", "disable", "me", "--because", " ").exit_code == 2
    assert stack.destinations.kept[ME].disabled == ""


@pytest.mark.parametrize("command", [("set", "--club", "60"), ("disable", "--because", "away"), ("enable",)])
@pytest.mark.parametrize("name", ["", "directory", "shard#0", "a/b", "x" * 3_000])
def test_what_can_be_no_destination_is_not_looked_for(command: tuple[str, ...], name: str) -> None:
    verb, *options = command

    result = lago(a_world(a_stack()), "destination", verb, name, *options)

    assert result.exit_code == 2
    assert "ID: got" in result.stderr
