"""What Notify makes of what others hand it for whoever runs Lago."""

import json
from typing import Any

import msgspec
import pytest

from lago.operator_reports import report_in

RAISED = {
    "Error": "SettingError",
    "Cause": json.dumps({"errorMessage": "DRAIN_BATCH: got 'x'", "errorType": "SettingError"}),
}
TIMED_OUT = {"Error": "Sandbox.Timedout", "Cause": "RequestId: 1 Error: Task timed out after 55.00 seconds"}
WENT_WELL = {"shard": 0, "errors": {}, "notes": []}


def texts(drain: object, *scrape: object) -> dict[str, str]:
    """What is told of a cycle that ended so, by key."""
    report = report_in({"cycle": "c1", "failed_cycle": {"drain": drain, "scrape": scrape}})
    assert report is not None
    assert report.scope == (), "nothing is known to be over"
    return {sign.key: sign.text for sign in report.signs}


def test_a_failed_drain_is_told_in_the_words_of_the_function():
    assert texts(RAISED, WENT_WELL) == {
        "cycle/drain": "A cycle failed in its drain: SettingError: DRAIN_BATCH: got 'x'"
    }


def test_where_the_function_could_say_nothing_the_state_machines_words_are_told():
    (text,) = texts({"mailboxes": 0}, TIMED_OUT).values()

    assert text.startswith("A cycle failed in its scrape: Sandbox.Timedout RequestId: 1 Error: Task timed out")


def test_of_several_shards_each_that_failed_is_told_by_its_number():
    told = texts({}, RAISED, WENT_WELL, TIMED_OUT)

    assert list(told) == ["cycle/scrape/0", "cycle/scrape/2"]
    assert "scrape of shard 2: Sandbox.Timedout" in told["cycle/scrape/2"]


def test_drain_and_scrape_that_both_failed_are_both_told():
    assert list(texts(RAISED, RAISED)) == ["cycle/drain", "cycle/scrape/0"]


@pytest.mark.parametrize("cause", [None, "", "null", "[]", '{"errorMessage": 1}', "{" * 5_000])
def test_a_cause_of_any_shape_is_told_with_its_error(cause: str | None):
    (text,) = texts({"Error": "Lambda.Unknown", "Cause": cause}).values()

    assert "Lambda.Unknown" in text
    assert len(text.encode()) <= 400


def test_what_a_scrape_carries_is_cleaned_before_it_is_told():
    secret = "https://api.telegram.org/bot123456:AAEhBOweik6ad9rHZQ3lk0dF4/x " * 20
    sign = {"key": "source/willhaben", "text": secret, "over": ""}

    report = report_in({"operator": {"scope": ["source"], "signs": [sign]}})

    assert report is not None
    (told,) = report.signs
    assert "AAEhBOweik6ad9rHZQ3lk0dF4" not in told.text
    assert len(told.text.encode()) <= 400


@pytest.mark.parametrize("event", [{}, {"search": "a1"}, {"Records": []}])
def test_other_events_have_no_report(event: dict[str, Any]):
    assert report_in(event) is None


def test_a_report_that_is_malformed_is_refused():
    with pytest.raises(msgspec.ValidationError):
        report_in({"failed_cycle": {"drain": "broken"}})
