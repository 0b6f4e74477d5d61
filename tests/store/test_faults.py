"""The database fails at each write in turn, in every way it can: nothing is lost, and what is doubled has a reason."""

from collections import Counter
from contextlib import suppress

import pytest

from lago.errors import StoreError
from lago.store.mailboxes import MailboxStore
from lago.store.queue_reads import Counts, DueMailbox
from lago.store.searches import SearchStore
from tests.builders import ME, a_search_id, an_event
from tests.fakes.faulty_dynamodb import FaultyDynamoDb
from tests.fakes.sending import MINUTE, a_post, outage
from tests.store.steps import found, outbox, run_drain, run_notify, watching
from tests.store.test_killed_at_every_write import SCENARIOS, a_world, the_world_goes_on

pytestmark = pytest.mark.proof


def undisturbed(name: str) -> tuple[int, list]:
    post = a_world(name)
    with FaultyDynamoDb().installed() as database:
        SCENARIOS[name][0](post)
    told = {each.id: each.event for message in post.channel.sent for each in message.notifications}
    return database.writes, list(told.values())


@pytest.mark.parametrize("fault", ["throttled", "conflict", "timeout before", "timeout after"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_database_that_fails_at_any_write_loses_nothing(name, fault, tables_anew):
    total, committed = undisturbed(name)
    failures = len(SCENARIOS[name][1])
    for at in range(1, total + 1):
        tables_anew()
        post = a_world(name)
        before = SearchStore().get(a_search_id()).version

        with FaultyDynamoDb(at, fault).installed() as database, suppress(StoreError):
            SCENARIOS[name][0](post)
        assert database.served, f"{fault} at write {at} of {total}"
        post.channel.outcomes = []
        if SearchStore().get(a_search_id()).version == before:
            found(*committed)
        the_world_goes_on(post)

        where = f"{fault} at write {at} of {total}"
        told = Counter(ad for ads in post.channel.ads for ad in ads)
        assert told.keys() == {event.ad for event in committed}, where
        assert max(told.values()) <= 2 + failures, where
        assert outbox() == (), where
        assert post.mailboxes.counts().get("telegram", Counts(0, 0)) == Counts(0, 0), where
        head = post.mailboxes.head(ME)
        assert (head.waiting, head.due_at, head.in_flight, head.suspects) == (0, None, (), ()), where


def test_a_conflict_with_other_transactions_is_tried_again_at_once():
    post = a_post(outage())
    watching(post)
    found(an_event())

    with FaultyDynamoDb(2, "conflict", times=3).installed():
        report = run_notify(post)

    assert (report.tally.queued, report.cleared) == (1, True)
    assert post.mailboxes.counts() == {"telegram": Counts(1, 0)}


class LaggingStore(MailboxStore):
    """The index answers as the table was one look ago."""

    def __init__(self) -> None:
        super().__init__(1)
        self.before: list[DueMailbox] = []

    def due(self, shard, now, limit):
        shown, self.before = self.before, list(super().due(shard, now, limit))
        return iter(shown)


def test_an_index_that_lags_delays_and_neither_loses_nor_doubles():
    post = a_post(outage())
    post.mailboxes = LaggingStore()
    watching(post)
    found(an_event("1"))
    run_notify(post)

    for _ in range(5):
        post.clock.now += MINUTE
        run_drain(post)

    assert post.channel.ads == [["1"], ["1"]]
    assert post.mailboxes.counts() == {"telegram": Counts(0, 0)}


def test_an_idle_drain_makes_no_write_at_all():
    post = a_post(outage())
    watching(post)
    found(an_event())
    run_notify(post)

    with FaultyDynamoDb().installed() as database:
        run_drain(post)

    assert database.writes == 0
