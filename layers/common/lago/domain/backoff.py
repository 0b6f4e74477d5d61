"""How long to wait before trying again: a pure function, safe for any attempt number."""

from collections.abc import Callable

from msgspec import Struct

from lago.domain.ids import Milliseconds

FLOOR = Milliseconds(1_000)
"""No wait is shorter, whatever base and jitter say."""


class Backoff(Struct, frozen=True, kw_only=True):
    """Waits of base, base*factor, base*factor², … up to cap, each ± jitter (a share), `attempts` attempts in all."""

    base: Milliseconds
    factor: float = 2.0
    cap: Milliseconds
    jitter: float = 0.1
    attempts: int


ALERT = Backoff(base=Milliseconds(60_000), cap=Milliseconds(960_000), attempts=6)
"""Waits of 1, 2, 4, 8 and 16 minutes between six attempts, then dead."""

PATIENT = Backoff(base=Milliseconds(60_000), cap=Milliseconds(3_600_000), attempts=10)
"""Waits of 1 minute, doubling to 1 hour, ten attempts: for mail and for messages to whoever runs Lago."""

SOURCE = Backoff(base=Milliseconds(60_000), cap=Milliseconds(3_600_000), attempts=2**31)
"""A marketplace or search that fails is tried again after 1 minute, doubling to 1 hour, for ever."""


def wait(policy: Backoff, failures: int, random: Callable[[], float]) -> Milliseconds:
    """The wait in ms after the `failures`-th failure (from 1); never above the cap, never below `FLOOR`.

    `random` returns a number in [0, 1). The exponent is bounded before it is raised, so that no count overflows.
    """
    steps = max(failures, 1) - 1
    plain: float = policy.cap
    if policy.factor <= 1.0:
        plain = min(policy.base, policy.cap)
    elif policy.base * policy.factor ** min(steps, 64) < policy.cap:
        plain = policy.base * policy.factor**steps
    jittered = plain * (1 + policy.jitter * (2 * random() - 1))
    return Milliseconds(max(FLOOR, min(int(jittered), policy.cap)))
