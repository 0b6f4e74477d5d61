"""What is posted: CloudEvents that the published schema describes, whatever sellers typed."""

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from lago.channels.webhook.payload import cloud_event, event_id
from lago.domain.event import Event
from lago.domain.notification import Message
from tests.unit.telegram.builders import NOON, a_drop, an_ad, live, message, newest, news
from tests.unit.webhook.builders import EVENTS, club

DOCS = Path(__file__).parents[3] / "docs" / "channels"
SCHEMA = json.loads((DOCS / "webhook.schema.json").read_text())


def posted(what: Message) -> Any:
    return json.loads(cloud_event(what))


def mismatch(event: Any) -> str:
    """Where an event differs from the schema; "" where it doesn't."""
    validator = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
    return "\n".join(f"{error.json_path}: {error.message}" for error in validator.iter_errors(event))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("event", EVENTS, ids=[event.kind for event in EVENTS])
def test_every_kind_is_as_the_schema_says(event: Event) -> None:
    body = posted(message(news(event)))

    assert mismatch(body) == ""
    assert body["type"] == f"lago.{event.kind}.v1"
    assert body["data"]["kind"] == event.kind


@pytest.mark.parametrize("field", ["id", "type", "data", "specversion", "source"])
def test_the_schema_misses_what_is_missing(field: str) -> None:
    body = posted(message())
    del body[field]

    assert mismatch(body)


@pytest.mark.parametrize("field", ["title", "url", "price", "published", "seller", "details"])
def test_the_schema_misses_what_is_missing_of_an_ad(field: str) -> None:
    body = posted(message())
    del body["data"]["ad"][field]

    assert mismatch(body)


def test_the_schema_tells_types_apart() -> None:
    assert mismatch(posted(message()) | {"type": "lago.club.v1"})


def test_a_club_of_all_kinds_tells_all_of_them() -> None:
    what = club(*EVENTS, more=3)

    body = posted(what)

    assert mismatch(body) == ""
    assert (body["type"], body["data"]["total"], body["data"]["more"]) == ("lago.club.v1", len(EVENTS) + 3, 3)
    assert [entry["id"] for entry in body["data"]["notifications"]] == [f"n{n}" for n in range(len(EVENTS))]
    assert body["data"]["notifications"][0]["data"] == posted(message(news(EVENTS[0])))["data"]


def test_fifty_at_once_are_told_whole() -> None:
    assert len(posted(club(*[an_ad()] * 50))["data"]["notifications"]) == 50


def test_the_id_is_the_notifications_own() -> None:
    assert event_id(message(news(id="n7"))) == "n7"
    assert posted(message(news(id="n7")))["id"] == "n7"


def test_the_id_of_a_club_is_a_function_of_its_ids() -> None:
    first, second, third = news(id="n1"), news(id="n2"), news(id="n3")

    assert event_id(message(first, second)) == event_id(message(second, first))
    assert event_id(message(first, second)) != event_id(message(first, third))
    assert event_id(message(first, second)).startswith("club-")
    assert "." not in event_id(message(first, second))


def test_times_and_prices_are_for_programs() -> None:
    body = posted(message(news(a_drop(), distance_km=3.4)))

    assert body["time"] == "2025-11-29T10:30:00Z"
    assert body["data"]["ad"]["price"] == {"amount": 28_300, "currency": "EUR"}
    assert body["data"]["old_price"] == {"amount": 31_000, "currency": "EUR"}
    assert body["data"]["ad"]["distance_km"] == 3.4


def test_what_was_told_at_last_is_the_old_price() -> None:
    assert posted(message(news(a_drop(), old_price=29_900)))["data"]["old_price"]["amount"] == 29_900
    assert posted(message(news(an_ad(old_price=31_000))))["data"]["old_price"] is None


def test_a_gift_is_not_an_ad_without_a_price() -> None:
    assert posted(message(news(an_ad(price=0))))["data"]["ad"]["price"]["amount"] == 0
    assert posted(message(news(an_ad(price=None))))["data"]["ad"]["price"] is None


def test_what_sellers_type_loses_what_hides_and_stays_bounded() -> None:
    hostile = "<b>\u202eevil\u0000\ud800 </script>\n" + "x" * 10_000
    event = an_ad(title=hostile, place=hostile, seller_name=hostile, price_text=hostile, currency=hostile)

    body = posted(message(news(event, label=hostile)))

    assert mismatch(body) == ""
    assert body["data"]["ad"]["title"].startswith("<b>evil </script> x")
    assert len(json.dumps(body)) < 2_500


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://good@evil/", "", "https://x.example.org/" + "x" * 9_000]
)
def test_links_that_may_not_be_shown_are_null(url: str) -> None:
    body = posted(message(news(an_ad(url=url, image=url), search_url=url)))

    assert mismatch(body) == ""
    assert body["data"]["ad"]["url"] is None
    assert body["data"]["ad"]["image"] is None
    assert body["data"]["watch"]["search_url"] is None


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0])
def test_numbers_that_are_none_are_null(number: float) -> None:
    body = posted(message(news(an_ad(coordinates=(number, float("nan"))), distance_km=number)))

    assert mismatch(body) == ""
    assert body["data"]["ad"]["coordinates"] is None
    assert body["data"]["ad"]["distance_km"] is None


@pytest.mark.parametrize("moment", [10**18, -(10**18)])
def test_a_time_that_no_calendar_has_is_left_out(moment: int) -> None:
    body = posted(message(news(an_ad(found=moment, published=moment))))

    assert mismatch(body) == ""
    assert "time" not in body
    assert body["data"]["ad"]["published"] is None


def test_the_documented_example_is_what_is_posted() -> None:
    text = (DOCS / "webhook.md").read_text()
    example = json.loads(text.partition("```json\n")[2].partition("```")[0])
    event = a_drop(published=NOON, coordinates=(48.2, 16.35), paylivery=True, details=("54 cm",))

    body = posted(message(news(event, distance_km=3.4)))

    assert mismatch(example) == ""
    assert body | {"id": example["id"]} == example


def test_a_new_watch_names_the_newest() -> None:
    body = posted(message(news(live(0, newest("One")))))

    assert body["data"]["total"] == 1
    assert body["data"]["newest"][0]["title"] == "One"
