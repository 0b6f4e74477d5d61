"""Destinations on DynamoDB: removed whole, whatever dies in between; and two of a watch, each on its own."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from lago.destination_answers import REMOVING
from lago.destinations import Directory
from lago.domain.ids import DestinationId, EpochMs
from lago.domain.mailbox import Settlement, dead
from lago.drain import drain
from lago.errors import BadInputError, ConflictError, NotFoundError
from lago.notify import notify
from lago.store.deliveries import DeliveryItem, DeliveryStore
from lago.store.destinations import RemovalStore, turn
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import QueueItem
from lago.store.queue_reads import Counts
from lago.store.searches import SearchStore
from lago.store.watches import WatchStore
from tests.builders import ME, NOW, a_cursor, a_destination, a_query, a_row, a_search_id, a_watch, an_event
from tests.fakes.destinations import KeptSecrets
from tests.fakes.sending import MINUTE, FakeChannel, FakeClock, Post, WorkerKilledError, a_post, outage

YOU = DestinationId("you")
FAR = EpochMs(NOW + 60_000)


class Stack:
    """The directory on the tables."""

    def __init__(self) -> None:
        self.clock, self.secrets = FakeClock(), KeptSecrets()
        self.mailboxes, self.watches, self.deliveries = MailboxStore(1), TurningWatches(1), DeliveryStore(400)
        self.removals = RemovalStore(self.mailboxes)
        self.directory = Directory(
            self.mailboxes,
            self.removals,
            self.watches,
            self.secrets,
            prefix="/lago/lago/destinations",
            clock=self.clock,
            random_bytes=bytes,
        )

    def with_a_backlog(self, waiting: int = 3, died: int = 2, told: int = 2) -> "Stack":
        self.mailboxes.put_destination(a_destination())
        rows = tuple(a_row(an_event(str(n))) for n in range(waiting))
        letters = tuple(dead(a_row(an_event(f"9{n}")), "message", NOW) for n in range(died))
        self.mailboxes.enqueue(a_destination(), (*rows, *letters), now=NOW)
        self.deliveries.log(ME, [an_event(f"5{n}") for n in range(told)], NOW)
        self.secrets.put("/lago/lago/destinations/me/slack", "https://hooks")
        return self

    def remove(self, *, force: bool = False):
        return self.directory.remove(ME, force=force, deadline=EpochMs(self.clock() + 60_000))

    def traces(self) -> list[str]:
        """All that is left of the destination, anywhere."""
        queue = [f"{item.mailbox}/{item.id}" for item in QueueItem.scan() if ME in {item.mailbox, item.id}]
        log = [item.ad for item in DeliveryItem.scan() if item.destination == ME]
        return [*queue, *log, *(name for name in self.secrets.kept if "/me/" in name)]


class TurningWatches(WatchStore):
    def turn(self, watch, destinations):
        return turn(watch, destinations)


def test_a_removed_destination_leaves_nothing_behind_and_the_counts_are_exact():
    stack = Stack().with_a_backlog(waiting=45, died=42, told=130)
    stack.mailboxes.put_destination(a_destination("you"))
    stack.mailboxes.enqueue(a_destination("you"), (a_row(destination="you"),), now=NOW)
    stack.deliveries.log(YOU, [an_event()], NOW)

    removed = stack.remove()

    assert (removed.done, removed.messages, removed.log_entries) == (True, 87, 130)
    assert stack.traces() == []
    assert stack.mailboxes.counts() == {"telegram": Counts(1, 0)}
    assert stack.mailboxes.destinations() == [YOU]
    assert [box.destination for box in stack.mailboxes.due(0, FAR, 10)] == [YOU]
    assert len(stack.deliveries.told(YOU, [an_event()])) == 1


def test_what_is_removed_is_due_no_more_and_not_found():
    stack = Stack().with_a_backlog()

    stack.remove()

    assert list(stack.mailboxes.due(0, FAR, 10)) == []
    with pytest.raises(NotFoundError):
        stack.remove()
    with pytest.raises(NotFoundError):
        stack.directory.show(ME)


def writes_of(stack: Stack, kill_at: int) -> Callable[[], int]:
    """Every step of a removal in turn: the one with this number is done, and then the process is gone."""
    steps = 0

    def counted(target: object, name: str) -> None:
        step = getattr(target, name)

        def killed_after(*args, **more):
            nonlocal steps
            result = step(*args, **more)
            steps += 1
            if steps == kill_at:
                raise WorkerKilledError
            return result

        setattr(target, name, killed_after)

    for target, names in (
        (stack.mailboxes, ("put_destination", "claim")),
        (stack.removals, ("clear", "forget", "erase_log", "strike")),
        (stack.watches, ("turn", "remove")),
        (stack.secrets, ("delete",)),
    ):
        for name in names:
            counted(target, name)
    return lambda: steps


def test_a_removal_that_dies_at_any_step_is_finished_by_asking_again(tables_anew):
    for kill_at in range(1, 100):
        tables_anew()
        stack = Stack().with_a_backlog()
        stack.watches.add(a_query(), a_watch("w1"))
        stack.watches.add(a_query(), a_watch("w2", destinations=("me", "you")))
        counted = writes_of(stack, kill_at)

        try:
            stack.remove(force=True)
        except WorkerKilledError:
            pass
        else:
            assert counted() == kill_at - 1 > 10  # every step was killed once
            return
        counts = stack.mailboxes.counts()["telegram"]
        assert counts == Counts(
            sum(item.next_attempt_at is not None for item in QueueItem.query(ME)),
            sum(item.died_at is not None for item in QueueItem.query(ME)),
        )
        stack = revived(stack)
        with suppress(NotFoundError):  # it had died after the last step
            assert stack.remove(force=True).done

        assert stack.traces() == []
        assert stack.mailboxes.counts() == {"telegram": Counts(0, 0)}
        assert [(watch.id, watch.destinations) for watch in stack.watches.of(a_search_id())] == [("w2", (YOU,))]
    pytest.fail("the removal never ended")


def revived(died: Stack) -> Stack:
    """A new process, after the lease of the one that died."""
    stack = Stack()
    stack.secrets.kept = died.secrets.kept
    stack.clock.now += 80_000
    return stack


def test_while_it_is_being_removed_nothing_is_sent_there():
    stack = Stack().with_a_backlog()
    writes_of(stack, kill_at=3)
    with pytest.raises(WorkerKilledError):
        stack.remove()
    post = a_post()
    post.clock.now += 2 * 60 * MINUTE

    drain_(post)

    assert post.channel.sent == []
    (shown,) = stack.directory.list()
    assert shown.disabled == REMOVING
    with pytest.raises(BadInputError, match="removal"):
        stack.directory.enable(ME)


def test_a_mailbox_that_is_being_sent_from_is_left_alone_until_that_is_over():
    stack = Stack().with_a_backlog()
    head = stack.mailboxes.head(ME)
    claim = stack.mailboxes.claim(head, [a_row(an_event("1")).id], now=NOW, lease_until=EpochMs(NOW + 60_000))

    assert not stack.remove().done
    assert stack.mailboxes.counts() == {"telegram": Counts(3, 2)}

    stack.mailboxes.record(
        claim, Settlement(done=(a_row(an_event("1")).id,), delivered=1), new=False, next_row_at=NOW, now=NOW
    )
    assert stack.remove().done
    assert stack.traces() == []


def test_a_sender_whose_mailbox_was_removed_meanwhile_brings_nothing_back():
    stack = Stack().with_a_backlog(waiting=1, died=0)
    row = a_row(an_event("0"))
    claim = stack.mailboxes.claim(stack.mailboxes.head(ME), [row.id], now=NOW, lease_until=EpochMs(NOW + 60_000))
    stack.clock.now += 61_000
    assert stack.remove().done

    recorded = stack.mailboxes.record(claim, Settlement(done=(row.id,)), new=False, next_row_at=None, now=FAR)
    stack.mailboxes.release(claim, Settlement(done=(row.id,)), now=FAR)
    with pytest.raises(ConflictError):
        stack.mailboxes.enqueue(a_destination(), (a_row(),), now=FAR)

    assert not recorded
    assert stack.traces() == []
    assert stack.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_a_row_that_arrives_just_before_the_end_is_removed_too():
    stack = Stack().with_a_backlog()
    forget, late = stack.removals.forget, [a_row(an_event("77"))]

    def while_a_row_arrives(claim):
        if late:
            stack.mailboxes.enqueue(a_destination(), (late.pop(),), now=NOW)
        return forget(claim)

    stack.removals.forget = while_a_row_arrives

    assert stack.remove().messages == 6
    assert stack.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_a_head_is_not_deleted_over_a_row_that_came_after_the_last_look():
    stack = Stack().with_a_backlog(waiting=0, died=0)
    claim = stack.mailboxes.claim(stack.mailboxes.head(ME), (), now=NOW, lease_until=FAR)
    look = stack.removals._rows

    def and_then_a_row_arrives(*args):
        found = look(*args)
        stack.mailboxes.enqueue(a_destination(), (a_row(),), now=NOW)
        return found

    stack.removals._rows = and_then_a_row_arrives

    assert not stack.removals.forget(claim)
    assert stack.mailboxes.head(ME).waiting == 1


def test_rows_that_change_under_the_removal_are_counted_as_they_are():
    stack = Stack().with_a_backlog(waiting=2, died=0)
    rows, row = stack.removals._rows, a_row(an_event("1"))

    def while_one_is_delivered(*args):
        found = rows(*args)
        stack.mailboxes.acknowledge(a_destination(), [row.id])
        return found

    stack.removals._rows = while_one_is_delivered

    assert stack.remove().messages == 1
    assert stack.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_a_destination_that_is_added_anew_just_then_stays_on_the_list():
    stack = Stack().with_a_backlog()

    assert not stack.removals.strike(ME)

    assert stack.mailboxes.destinations() == [ME]


def test_turning_a_watch_changes_where_it_tells_and_nothing_else():
    watches = WatchStore(1)
    watches.add(a_query(), a_watch())
    watches.set_paused(a_watch(), "holiday")

    assert turn(a_watch(), (YOU, ME))

    assert watches.of(a_search_id()) == [a_watch(destinations=("you", "me"), paused="holiday")]


def test_a_watch_that_is_gone_is_not_brought_back():
    assert not turn(a_watch(), (YOU,))

    assert WatchStore(1).of(a_search_id()) == []


def drain_(post: Post):
    return drain(
        mailboxes=post.mailboxes,
        sender=post.sender,
        clock=post.clock,
        batch=50,
        budget=20_000,
        deadline=EpochMs(post.clock() + 60_000),
    )


class Far(FakeChannel):
    """One channel of which the destination `bad` always answers 500."""

    def send(self, destination, secret, message):
        outcome = super().send(destination, secret, message)
        return outage() if destination.id == "bad" else outcome


def test_of_two_destinations_of_a_watch_the_one_that_fails_hides_nothing_of_the_other():
    post = a_post(channel=Far())
    for name in ("good", "bad"):
        post.mailboxes.put_destination(a_destination(name))
    watch = a_watch(destinations=("bad", "good"))
    post.watches.add(a_query(), watch)
    searches = SearchStore()
    events = tuple(an_event(str(n)) for n in range(2))
    announced = frozenset({watch.id})
    searches.commit(searches.get(a_search_id()), cursor=a_cursor(), events=events, announced=announced, now=NOW)

    report = notify(a_search_id(), searches=searches, watches=post.watches, sender=post.sender, deadline=post.deadline)
    for _ in range(40):
        post.clock.now += MINUTE
        drain_(post)

    assert report.cleared
    told = [
        each.event.ad for message in post.channel.sent for each in message.notifications if each.destination == "good"
    ]
    assert told == ["0", "1"]
    assert post.deliveries.told(DestinationId("good"), events).keys() == {event.subject for event in events}
    assert post.deliveries.told(DestinationId("bad"), events) == {}
    assert {row.dead_reason for row in post.mailboxes.dead(DestinationId("bad"))} == {"outage"}
    assert post.mailboxes.dead(DestinationId("good")) == []
    good = post.mailboxes.head(DestinationId("good"))
    assert (good.failures, good.waiting, good.dead) == (0, 0, 0)
