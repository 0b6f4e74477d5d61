from hypothesis import given
from hypothesis import strategies as st

from lago.domain.backoff import ALERT, FLOOR, SOURCE, Backoff, wait
from lago.domain.ids import Milliseconds

policies = st.builds(
    Backoff,
    base=st.integers(1, 3_600_000).map(Milliseconds),
    factor=st.floats(1, 10),
    cap=st.integers(1_000, 86_400_000).map(Milliseconds),
    jitter=st.floats(0, 0.5),
    attempts=st.integers(1, 20),
)
dice = st.floats(0, 1, exclude_max=True)


def test_an_alert_waits_one_two_four_eight_and_sixteen_minutes():
    assert [wait(ALERT, n, lambda: 0.5) // 60_000 for n in range(1, 6)] == [1, 2, 4, 8, 16]


def test_a_source_is_tried_again_after_a_minute_doubling_to_an_hour():
    assert [wait(SOURCE, n, lambda: 0.5) // 60_000 for n in (1, 2, 6, 7, 1_000_000)] == [1, 2, 32, 60, 60]


@given(policies, st.integers(0, 1_000_000), dice)
def test_any_number_of_failures_waits_between_floor_and_cap(policy, failures, chance):
    assert FLOOR <= wait(policy, failures, lambda: chance) <= max(policy.cap, FLOOR)


@given(policies, st.integers(1, 1_000), dice)
def test_jitter_stays_within_its_share(policy, failures, chance):
    plain = wait(policy, failures, lambda: 0.5)

    jittered = wait(policy, failures, lambda: chance)

    assert abs(jittered - plain) <= policy.jitter * plain + 1 or jittered in (FLOOR, policy.cap)


@given(policies, st.integers(1, 1_000))
def test_waits_never_get_shorter(policy, failures):
    assert wait(policy, failures, lambda: 0.5) <= wait(policy, failures + 1, lambda: 0.5)
