"""The figures that an owner sees."""

from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.outcome import DELIVERED, OutcomeKind
from lago.domain.search import Health
from lago.stats import read_stats
from lago.store.mailboxes import MailboxStore
from lago.store.searches import CycleStore, SearchStore, SourceStore
from tests.builders import NOW, WILLHABEN, a_search_id, an_event
from tests.fakes.sending import MINUTE, a_post, outage, refused
from tests.store.steps import found, run_drain, run_notify, watching


def figures(now=NOW):
    return read_stats(
        mailboxes=MailboxStore(1),
        searches=SearchStore(),
        sources=SourceStore(),
        cycles=CycleStore(),
        search_shards=1,
        clock=lambda: EpochMs(now),
    )


def test_an_empty_stack_has_figures_too():
    stats = figures()

    assert (stats.pending.total, stats.dead.total, stats.searches, stats.watches) == (0, 0, 0, 0)
    assert (stats.oldest_due_age_seconds, stats.delivered_24h, stats.cycles) == (0, 0, [])


def test_pending_dead_delivered_and_the_age_of_the_oldest_due_are_counted():
    post = a_post(outage(), DELIVERED, refused(OutcomeKind.MESSAGE))
    watching(post)
    found(an_event("1"))
    run_notify(post)
    stats = figures(NOW + 5 * MINUTE)
    assert (stats.pending.by_channel, stats.pending.total) == ({"telegram": 1}, 1)
    assert stats.oldest_due_age_seconds == 4 * 60
    assert (stats.pending_due, stats.pending_later) == (1, 0)
    before = figures(NOW + 1)
    assert (before.pending_due, before.pending_later) == (0, 1)

    post.clock.now += MINUTE
    run_drain(post)
    found(an_event("2", found=post.clock.now))
    run_notify(post)

    stats = figures(post.clock.now)
    assert (stats.pending.total, stats.dead.by_channel) == (0, {"telegram": 1})
    assert (stats.delivered_24h, stats.oldest_due_age_seconds) == (1, 0)
    assert figures(post.clock.now + 25 * 60 * MINUTE).delivered_24h == 0


def test_a_source_that_fails_a_search_that_fails_and_a_destination_that_refuses_are_named():
    post = a_post(refused(OutcomeKind.DESTINATION, "bot was blocked"))
    watching(post)
    found(an_event())
    run_notify(post)
    health = Health(kind="blocked", reason="HTTP 403", failures=2, since=NOW, retry_at=EpochMs(NOW + MINUTE))
    SourceStore().set_health(WILLHABEN, health)
    SearchStore().set_health(a_search_id(), health)

    stats = figures()

    assert not stats.sources["willhaben"].healthy
    assert stats.sources["willhaben"].reason == "HTTP 403"
    assert [failing.reason for failing in stats.failing_searches] == ["HTTP 403"]
    assert [(each.destination, each.reason) for each in stats.disabled_destinations] == [("me", "bot was blocked")]


def test_the_interval_is_the_one_really_achieved():
    cycles = CycleStore()
    for start in (NOW, NOW + 75_000):
        cycle = cycles.begin(0, EpochMs(start), Milliseconds(58_000))
        cycles.end(cycle, EpochMs(start + 3_000))

    (cycle,) = figures(NOW + 80_000).cycles

    assert cycle.interval_seconds == 75
    assert cycle.finished is not None
