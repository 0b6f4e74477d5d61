from lago.domain.ids import DestinationId, EpochMs
from lago.domain.mailbox import dead
from tests.builders import a_row, an_event
from tests.cli.fakes import NOW, FakeDestinations, FakeStack, FakeWatches, a_destination, a_watch, a_world
from tests.cli.run import answer, lago

ME, YOU = DestinationId("me"), DestinationId("you")


def a_stack(*watches: tuple[str, tuple[DestinationId, ...]]) -> FakeStack:
    return FakeStack(
        destinations=FakeDestinations({ME: a_destination(), YOU: a_destination(id=YOU)}),
        watches=FakeWatches([a_watch(name, destinations=to) for name, to in watches]),
    )


def remove(stack: FakeStack, *arguments: str, typed: str | None = None):
    return lago(a_world(stack), "destination", "remove", "me", *arguments, typed=typed)


def test_it_asks_with_what_goes_and_a_no_keeps_everything() -> None:
    stack = a_stack()
    rows = (a_row(), dead(a_row(an_event("2")), "message", NOW))
    stack.destinations.mailboxes.enqueue(a_destination(), rows, now=NOW)

    result = remove(stack, typed="n\n")

    assert result.exit_code == 1
    assert "Remove “me” (telegram 1) with its delivery log and its secret, 1 unsent message, 1 dead letter?" in (
        result.stderr
    )
    assert ME in stack.destinations.kept


def test_a_yes_removes_all_of_it() -> None:
    stack = a_stack()
    stack.destinations.mailboxes.enqueue(a_destination(), (a_row(),), now=NOW)
    stack.destinations.removals.log[ME] = 3
    stack.secrets.put("/lago/test/destinations/me/slack", "secret")

    result = remove(stack, typed="y\n")

    assert result.exit_code == 0
    assert "Removed “me” with 1 message and 3 entries of its delivery log." in result.stdout
    assert list(stack.destinations.kept) == [YOU]
    assert stack.secrets.kept == {}


def test_while_watches_name_it_only_force_removes_it() -> None:
    stack = a_stack(("w1", (ME,)), ("w2", (YOU, ME)))

    refused = remove(stack, "--yes")
    removed = answer(remove(stack, "--yes", "--force", "--json"))

    assert refused.exit_code == 2
    assert "--force: got 'not given'" in refused.stderr
    assert "'rennrad' (w1), 'rennrad' (w2)" in refused.stderr
    assert (removed["done"], removed["turned"], removed["removed"]) == (True, ["w2"], ["w1"])
    assert [(watch.id, watch.destinations) for watch in stack.watches.kept] == [("w2", (YOU,))]


def test_a_message_on_its_way_is_waited_for() -> None:
    stack = a_stack()
    queue = stack.destinations.mailboxes
    queue.claim(queue.head(ME), (), now=NOW, lease_until=EpochMs(NOW + 6_000))
    world = a_world(stack)

    result = lago(world, "destination", "remove", "me", "--yes")

    assert result.exit_code == 0
    assert list(stack.destinations.kept) == [YOU]


def test_a_destination_that_is_always_busy_is_given_up_and_stays_disabled() -> None:
    stack = a_stack()
    queue = stack.destinations.mailboxes
    queue.claim(queue.head(ME), (), now=NOW, lease_until=EpochMs(NOW + 10_000_000))

    result = remove(stack, "--yes")

    assert result.exit_code == 1
    assert "run the command again, it goes on then" in result.stderr
    assert stack.destinations.kept[ME].disabled == "it is being removed"


def test_what_is_not_there_is_said_to_be() -> None:
    result = lago(a_world(a_stack()), "destination", "remove", "home", "--yes")

    assert result.exit_code == 1
    assert "There is no destination 'home'" in result.stderr
