"""A source's health during one cycle, shared by the cycle's threads."""

import pytest

from lago.domain.backoff import SOURCE
from lago.domain.ids import EpochMs, SourceName
from lago.domain.search import Health
from lago.errors import SourceBlockedError, SourceUnavailableError
from lago.source_health import REASON_BYTES, SourceHealth, State, search_health
from tests.fakes.market import MINUTE, START, WILLHABEN
from tests.fakes.searches import FakeSources

BLOCKED = Health(kind="blocked", reason="403", failures=3, since=EpochMs(START - 9 * MINUTE), retry_at=EpochMs(START))


def in_cycle(store: FakeSources, now: int = START) -> SourceHealth:
    health = SourceHealth(store, SOURCE, lambda: EpochMs(now), lambda: 0.5)
    health.state(WILLHABEN)
    return health


@pytest.mark.parametrize(
    ("stored", "now", "state"),
    [(None, START, State.OPEN), (BLOCKED, START - 1, State.RESTING), (BLOCKED, START, State.PROBING)],
)
def test_a_source_rests_until_its_time_has_come_and_is_probed_then(
    stored: Health | None, now: int, state: State
) -> None:
    store = FakeSources() if stored is None else FakeSources(willhaben=stored)

    assert in_cycle(store, now).state(WILLHABEN) is state


def test_of_two_failures_at_a_time_one_counts() -> None:
    store = FakeSources()
    health = in_cycle(store)

    health.failed(WILLHABEN, SourceBlockedError("403"))
    health.failed(WILLHABEN, SourceUnavailableError("time-out"))

    recorded = store.health(WILLHABEN)
    assert recorded is not None
    assert (recorded.kind, recorded.reason, recorded.failures) == ("blocked", "403", 1)


def test_an_answer_that_arrives_after_a_failure_does_not_end_it() -> None:
    store = FakeSources()
    health = in_cycle(store)
    health.failed(WILLHABEN, SourceBlockedError("403"))

    health.answered(WILLHABEN)

    assert health.state(WILLHABEN) is State.RESTING
    assert store.health(WILLHABEN) is not None


def test_an_answer_of_a_healthy_source_writes_nothing() -> None:
    store = FakeSources()

    in_cycle(store).answered(WILLHABEN)

    assert store.writes == 0


def test_a_source_that_fails_again_after_its_probe_is_no_beginner() -> None:
    store = FakeSources(willhaben=BLOCKED)
    health = in_cycle(store)
    health.answered(WILLHABEN)

    health.failed(WILLHABEN, SourceBlockedError("403"))

    recorded = store.health(WILLHABEN)
    assert recorded is not None
    assert (recorded.failures, recorded.since) == (4, BLOCKED.since)
    assert recorded.retry_at == START + 8 * MINUTE


def test_other_sources_are_not_touched() -> None:
    health = in_cycle(FakeSources(willhaben=BLOCKED), START - 1)

    assert health.state(SourceName("other")) is State.OPEN
    assert health.resting() == {WILLHABEN: "403"}


def test_a_long_reason_is_cut() -> None:
    health = search_health(None, "x" * 10_000, policy=SOURCE, now=START, random=lambda: 0.5)

    assert len(health.reason.encode()) == REASON_BYTES
