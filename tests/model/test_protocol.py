"""The claim/lease/finish protocol, gone through whole: what can't happen, what can, and that the check would notice."""

import pytest
from msgspec.structs import replace

from lago.domain import protocol
from lago.domain.protocol import ANYTHING, Guard
from tests.model.box import Rules
from tests.model.checker import BrokenError, Found, check
from tests.model.world import Bounds

pytestmark = pytest.mark.proof

SPACES = {
    "one message, lost answers and frozen workers": Bounds(crashes=0),
    "one message, a crash at any step": Bounds(cap=2, crashes=1),
    "one message with one attempt in all": Bounds(cap=1, crashes=1),
    "two messages": Bounds(messages=2, cap=1, crashes=0, time=False),
}


@pytest.mark.parametrize("space", SPACES)
def test_nothing_impossible_is_reached(space: str, record_property):
    found = check(SPACES[space])

    record_property("found", str(found))
    print(f"\n{space}: {told(found)}")  # noqa: T201
    assert found.settled


def test_a_second_send_needs_a_first_one_that_was_not_heard_of_or_outlived_its_lease():
    calm = check(Bounds(crashes=0, time=False, lost_answers=False))

    assert calm.doubled == 0
    assert calm.buried == 0


def test_a_second_send_that_had_started_before_the_first_was_acknowledged_can_not_be_undone():
    assert check(Bounds(cap=2, crashes=0, lost_answers=False)).doubled > 0


# the lease alone could go unasked in the claim's write: none begins without a new epoch
MUTATIONS = {
    "a failure is recorded whenever its row waits": Rules(
        to_record=lambda guard: replace(guard, epoch=None), to_release=lambda _claim, **_: ANYTHING
    ),
    "an acknowledgement needs the epoch": Rules(to_acknowledge=lambda claim: Guard(epoch=claim.epoch)),
    "a claim charges nothing": Rules(
        claimed=lambda head, _ids, **how: protocol.claimed(head, (), **how | {"suspects": frozenset()})
    ),
    "a lease without an epoch": Rules(
        to_claim=lambda head, now: replace(protocol.to_claim(head, now), epoch=None),
        claimed=lambda head, ids, **how: replace(protocol.claimed(head, ids, **how), epoch=head.epoch),
    ),
    "a claim does not ask what is in the air": Rules(
        to_claim=lambda head, now: replace(protocol.to_claim(head, now), in_the_air=frozenset())
    ),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_the_check_notices(mutation: str):
    with pytest.raises(BrokenError) as broken:
        check(Bounds(crashes=1), MUTATIONS[mutation])

    print(f"\n{mutation}:\n{broken.value}")  # noqa: T201


def told(found: Found) -> str:
    return (
        f"{found.states:,} states, {found.steps:,} steps; in {found.doubled:,} a message has arrived twice, "
        f"in {found.buried:,} one is dead that was told"
    )
