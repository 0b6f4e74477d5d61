"""What begins ends before the function and the lease do, also when what comes before a send is slow."""

from dataclasses import dataclass

import pytest

from lago.courier import PATIENCE, Candidate
from lago.domain.ids import EpochMs
from lago.domain.watch import Filters
from tests.builders import ME, a_destination, a_row, an_event
from tests.fakes.sending import TIMEOUT, FakeClock, FakeSecrets, Post, a_post

SLOWEST = TIMEOUT + 2_000 + PATIENCE


@dataclass
class SlowSecrets(FakeSecrets):
    """Parameter Store answers after so many ms."""

    clock: FakeClock | None = None
    ms: int = 0

    def get(self, name: str, *, anew: bool = False) -> str:
        assert self.clock is not None
        self.clock.now += self.ms
        return super().get(name, anew=anew)


def a_slow_post(ms: int) -> Post:
    secrets = SlowSecrets(ms=ms)
    post = a_post(in_memory=True, secrets=secrets)
    secrets.clock = post.clock
    post.mailboxes.put_destination(a_destination())
    return post


@pytest.mark.parametrize(("ms", "messages"), [(PATIENCE, 1), (PATIENCE + 1, 0)])
def test_a_send_for_which_a_slow_secret_left_no_time_waits_uncharged(ms: int, messages: int) -> None:
    post = a_slow_post(ms)
    deadline = EpochMs(post.clock() + SLOWEST)

    post.sender.deliver(ME, [Candidate(a_row(an_event()), (Filters(),))], deadline=deadline)

    assert len(post.channel.sent) == messages
    assert [row.attempts for row in post.mailboxes.waiting(ME, 5)] == [0] * (1 - messages)


def test_a_row_for_which_a_slow_secret_left_no_time_waits_uncharged() -> None:
    post = a_slow_post(PATIENCE + 1)
    post.mailboxes.enqueue(a_destination(), (a_row(an_event()),), now=post.clock())
    begun = post.clock()

    post.sender.drain(ME, soft=EpochMs(begun + 1), deadline=EpochMs(begun + SLOWEST))

    assert post.channel.sent == []
    (row,) = post.mailboxes.waiting(ME, 5)
    assert (row.attempts, row.lost) == (0, 0)
