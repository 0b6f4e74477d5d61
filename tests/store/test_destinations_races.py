"""Destinations that several people, or a person and a removal, change at once."""

import pytest
from msgspec.structs import replace

from lago.destinations import Addition
from lago.errors import BadInputError
from tests.builders import ME, a_destination
from tests.fakes.sending import WorkerKilledError
from tests.store.steps import just_before
from tests.store.test_destinations import Stack, revived, writes_of


def test_what_a_person_changes_while_it_is_added_anew_is_kept():
    stack = Stack().with_a_backlog()

    def quiet_hours_are_set():
        stack.mailboxes.change_destination(ME, lambda each: replace(each, quiet=(60, 120)))

    just_before(stack.directory, "_resume", quiet_hours_are_set)
    stack.directory.add(Addition(id=ME, channel="telegram", target="77"))

    assert stack.mailboxes.head(ME).destination == replace(a_destination(address="77"), quiet=(60, 120))


def test_a_destination_that_is_being_removed_is_not_added_before_that_is_finished():
    stack = Stack().with_a_backlog()
    writes_of(stack, kill_at=3)
    with pytest.raises(WorkerKilledError):
        stack.remove()

    with pytest.raises(BadInputError, match="removal"):
        stack.directory.add(Addition(id=ME, channel="telegram", target="77"))

    assert revived(stack).remove().done


def test_a_destination_that_is_made_to_live_on_while_it_is_removed_stays():
    stack = Stack().with_a_backlog()
    forget = stack.removals.forget

    def while_it_is_set_up_anew(claim):
        stack.mailboxes.put_destination(a_destination(address="77"))
        return forget(claim)

    stack.removals.forget = while_it_is_set_up_anew

    assert not stack.remove().done
    head = stack.mailboxes.head(ME)
    assert (head.destination.address, head.lease_until, head.waiting) == ("77", None, 0)
