"""The process dies at each write in turn, just before and just after it was applied: nothing is lost or told twice.

The writes of a scenario are counted in a run that nobody disturbs; then the scenario runs once for each, killed there,
and the world goes on: the stream's wake-up again, then a cycle a minute.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager, suppress

import pytest

from lago.domain.event import AdEvent
from lago.domain.outcome import OutcomeKind
from lago.store.connection import connection
from lago.store.queue_reads import Counts
from lago.store.searches import SearchStore
from tests.builders import ME, a_search_id, an_event
from tests.fakes.sending import MINUTE, Post, WorkerKilledError, a_post, gate, outage, refused
from tests.store.steps import found, outbox, run_drain, run_notify, watching

pytestmark = pytest.mark.proof

WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")


class Reaper:
    """Counts the writes that a process makes, and kills it at one of them."""

    def __init__(self, at: int | None = None, *, applied: bool = False) -> None:
        self.writes, self.at, self.applied = 0, at, applied

    @contextmanager
    def watching(self):
        events = connection().client.meta.events
        events.register_first("before-call.dynamodb.*", self._before)
        events.register("after-call.dynamodb.*", self._after)
        try:
            yield self
        finally:
            events.unregister("before-call.dynamodb.*", self._before)
            events.unregister("after-call.dynamodb.*", self._after)

    def _before(self, model, **_):
        if model.name in WRITES:
            self.writes += 1
            if self.writes == self.at and not self.applied:
                raise WorkerKilledError

    def _after(self, model, **_):
        if model.name in WRITES and self.writes == self.at and self.applied:
            raise WorkerKilledError


def at_once(post: Post) -> None:
    found(an_event("1"), an_event("2"))
    run_notify(post)


def in_one_club(post: Post) -> None:
    found(*(an_event(str(n)) for n in range(1, 5)))
    run_notify(post)


def failing_first(post: Post) -> None:
    found(an_event("1"))
    run_notify(post)
    post.clock.now += MINUTE
    run_drain(post)


SCENARIOS: dict[str, tuple[Callable[[Post], None], list]] = {
    "two ads at once": (at_once, []),
    "four ads in one club": (in_one_club, []),
    "an outage, then delivered": (failing_first, [outage()]),
    "told to wait, then delivered": (failing_first, [gate(MINUTE)]),
    "a lost answer, then delivered": (failing_first, [refused(OutcomeKind.AMBIGUOUS)]),
}


def a_world(name: str) -> Post:
    _, outcomes = SCENARIOS[name]
    post = a_post(*outcomes)
    watching(post)
    return post


def undisturbed(name: str) -> tuple[int, list[AdEvent]]:
    """How many writes the scenario makes, and what it tells, when nobody kills it."""
    post = a_world(name)
    with Reaper().watching() as reaper:
        SCENARIOS[name][0](post)
    told = {each.id: each.event for message in post.channel.sent for each in message.notifications}
    return reaper.writes, list(told.values())


def the_world_goes_on(post: Post) -> None:
    """The wake-up comes again, then a cycle a minute until the retry schedule is over."""
    run_notify(post)
    for _ in range(12):
        post.clock.now += MINUTE
        run_notify(post)
        run_drain(post)


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_lost_and_at_most_the_message_in_flight_is_doubled(name: str, applied: bool, tables_anew):
    total, committed = undisturbed(name)
    assert total >= 5
    for at in range(1, total + 1):
        tables_anew()
        post = a_world(name)
        before = SearchStore().get(a_search_id()).version

        with Reaper(at, applied=applied).watching(), suppress(WorkerKilledError):
            SCENARIOS[name][0](post)
        post.channel.outcomes = []
        if SearchStore().get(a_search_id()).version == before:
            found(*committed)  # killed before the commit: the next scrape finds it again
        the_world_goes_on(post)

        where = f"killed at write {at} of {total}"
        told = Counter(ad for ads in post.channel.ads for ad in ads)
        assert told.keys() == {event.ad for event in committed}, where
        failures = len(SCENARIOS[name][1])
        doubled = {ad for ad, times in told.items() if times > 1 + failures}
        in_flight = max((len(ads) for ads in post.channel.ads), default=0)
        assert len(doubled) <= in_flight, where
        assert max(told.values()) <= 2 + failures, where
        assert outbox() == (), where
        assert post.mailboxes.counts().get("telegram", Counts(0, 0)) == Counts(0, 0), where
        head = post.mailboxes.head(ME)
        assert (head.waiting, head.due_at, head.in_flight, head.suspects) == (0, None, (), ()), where
