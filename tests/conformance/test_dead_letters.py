"""The list of dead letters on every engine: what their indexes order differently is where it could lose one."""

import pytest

from tests.store.test_dead_letters import (
    test_a_discarded_letter_is_gone_from_row_list_and_count_and_leaves_one_log_line,
    test_a_letter_is_found_by_the_beginning_of_its_id,
    test_a_list_goes_on_behind_a_letter_that_is_gone_and_below_one_that_is_new,
    test_filters_narrow_the_list,
    test_shards_are_merged_into_one_list,
    test_what_died_in_one_moment_is_listed_once_however_the_parts_are_cut,
    test_what_was_brought_back_meanwhile_is_not_discarded,
)
from tests.store.test_dead_letters_redriven import (
    test_a_letter_whose_delivery_was_acknowledged_late_is_gone_when_it_is_brought_back,
    test_a_redrive_of_more_than_a_request_takes_goes_on_at_its_rate,
    test_what_was_delivered_is_never_told_again_by_a_redrive,
)
from tests.store.test_operator_alerts import (
    post,
    test_of_two_drains_that_decide_at_once_one_tells,
    test_that_none_is_left_is_told_once,
)

__all__ = [
    "post",
    "test_a_discarded_letter_is_gone_from_row_list_and_count_and_leaves_one_log_line",
    "test_a_letter_is_found_by_the_beginning_of_its_id",
    "test_a_letter_whose_delivery_was_acknowledged_late_is_gone_when_it_is_brought_back",
    "test_a_list_goes_on_behind_a_letter_that_is_gone_and_below_one_that_is_new",
    "test_a_redrive_of_more_than_a_request_takes_goes_on_at_its_rate",
    "test_filters_narrow_the_list",
    "test_of_two_drains_that_decide_at_once_one_tells",
    "test_shards_are_merged_into_one_list",
    "test_that_none_is_left_is_told_once",
    "test_what_died_in_one_moment_is_listed_once_however_the_parts_are_cut",
    "test_what_was_brought_back_meanwhile_is_not_discarded",
    "test_what_was_delivered_is_never_told_again_by_a_redrive",
]
pytestmark = pytest.mark.usefixtures("tables")
