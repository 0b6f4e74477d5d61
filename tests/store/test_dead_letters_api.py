"""`/dead-letters` as the function answers it: thin handlers, input refused by name."""

import json
from functools import partial
from typing import Any

import pytest
from pynamodb.exceptions import QueryError

from lago.domain.dead_letter import letter_id
from lago.request_body import LONGEST_BODY
from lago.store.mailboxes import MailboxStore
from lago.store.queue_items import QueueItem
from lago.store.queue_reads import Counts
from lago.wiring.clock import now
from scripts.local_invoke import EXPECTED
from tests.builders import ME, NOW, an_event
from tests.infra.stack import ROOT
from tests.store.api import Context, asked, load
from tests.store.letters import a_letter, ads, buried


@pytest.fixture(scope="module")
def handler():
    return load()


@pytest.fixture
def answer_of(handler):
    """Asks the function: all of its answer."""
    return partial(asked, handler)


@pytest.fixture
def ask(answer_of):
    """Asks the function: the status, and what the answer's JSON says."""

    def asked(method: str, path: str, body: object = None, **query: str) -> tuple[int, Any]:
        answer = answer_of(method, path, body, **query)
        return answer["statusCode"], json.loads(answer["body"])

    return asked


@pytest.fixture
def export(answer_of):
    """Asks the function for lines: the letters, and the cursor of the next part."""

    def asked(**query: str) -> tuple[list[Any], str | None]:
        answer = answer_of("GET", "/dead-letters/export", **query)
        assert (answer["statusCode"], answer["multiValueHeaders"]["Content-Type"]) == (200, ["application/x-ndjson"])
        *lines, end = answer["body"].split("\n")
        assert end == ""
        return [json.loads(each) for each in lines], answer["multiValueHeaders"].get("x-next-cursor", [None])[0]

    return asked


def test_letters_are_listed_part_by_part_and_shown_whole(ask):
    letters = [a_letter(str(n), died=NOW + n) for n in range(3)]
    buried(*letters)

    status, first = ask("GET", "/dead-letters", limit="2")
    _, second = ask("GET", "/dead-letters", cursor=first["cursor"])
    _, shown = ask("GET", f"/dead-letters/{first['letters'][0]['id']}")

    assert status == 200
    assert [letter["notification"] for letter in first["letters"]] == [letters[2].id, letters[1].id]
    assert ([letter["notification"] for letter in second["letters"]], second["cursor"]) == ([letters[0].id], None)
    assert (shown["event"]["ad"], shown["reason"], shown["may_return"]) == ("2", "message", True)


def test_letters_are_listed_by_destination_kind_and_reason(ask):
    buried(a_letter("1"), a_letter("2", reason="outage"), a_letter("3", to="you", reason="outage"))

    _, found = ask("GET", "/dead-letters", destination="you", kind="new_ad", reason="outage")

    assert [letter["destination"] for letter in found["letters"]] == ["you"]


HOUR = 3_600_000


@pytest.mark.parametrize("event", ["api", "api-dead-letters"])
def test_the_events_for_local_invocations_are_answered_as_they_are_expected(handler, event):
    answer = handler(json.loads((ROOT / "events" / f"{event}.json").read_text()), Context())

    _, holds = EXPECTED[event]
    assert holds(answer)


@pytest.mark.parametrize(
    ("since", "listed"),
    [
        ("30min", []),
        ("30m", []),
        ("2h", ["1"]),
        ("2d", ["1", "2"]),
        ("2000-01-01", ["1", "2"]),
        ("2000-01-01T00:00Z", ["1", "2"]),
    ],
)
def test_letters_are_listed_since_a_time_or_for_a_span(ask, since, listed):
    buried(a_letter("1", died=now() - HOUR), a_letter("2", died=now() - 25 * HOUR))

    _, found = ask("GET", "/dead-letters", since=since)

    assert [letter["about"] for letter in found["letters"]] == [a_letter(ad).notification.event.title for ad in listed]


def test_letters_are_exported_whole_one_a_line_and_part_by_part(ask, export):
    letters = [a_letter(str(n), died=NOW + n) for n in range(3)]
    buried(*letters)

    first, cursor = export(limit="2")
    second, end = export(limit="2", cursor=cursor)

    assert [letter["notification"] for letter in first + second] == [row.id for row in reversed(letters)]
    assert (len(first), end) == (2, None)
    assert first[0] == ask("GET", f"/dead-letters/{first[0]['id']}")[1]


def test_letters_are_exported_by_the_filters_of_the_list(export):
    buried(
        a_letter("1", died=now()),
        a_letter("2", reason="outage", died=now()),
        a_letter("3", reason="outage", died=now() - 2 * HOUR),
    )

    found, _ = export(reason="outage", since="1h")

    assert [letter["event"]["ad"] for letter in found] == ["2"]


def test_an_export_of_nothing_has_no_line(export):
    assert export() == ([], None)


def test_a_letter_stays_one_line_whatever_its_seller_wrote(export):
    buried(a_letter("1", event=an_event("1", title="two\r\nlines and \u2028 a third")))

    (letter,), _ = export()

    assert letter["about"] == "two\r\nlines and \u2028 a third"


@pytest.mark.parametrize("path", ["/dead-letters", "/dead-letters/export"])
@pytest.mark.parametrize("since", ["", "soon", "-1d", "99999999d", "3 weeks", "2026-13-01", "2026-11-29T18:00 02:00"])
def test_a_since_that_is_no_time_is_refused_by_name(ask, path, since):
    status, refusal = ask("GET", path, since=since)

    assert (status, refusal["field"]) == (400, "since")


@pytest.mark.parametrize(
    ("body", "back"),
    [
        ({"ids": [letter_id(a_letter("1"))]}, ["1"]),
        ({"filter": {"reason": "outage"}, "per_minute": 600}, ["2"]),
        ({"all": True}, ["1", "2"]),
        ({"filter": {"since": "3d"}}, ["2"]),
    ],
)
def test_letters_are_brought_back_by_id_by_filter_or_all(ask, body, back):
    buried(a_letter("1", died=now() - 100 * HOUR), a_letter("2", reason="outage", died=now()))

    status, done = ask("POST", "/dead-letters/redrive", body)

    assert (status, done["done"], done["refused"], done["gone"]) == (200, len(back), [], [])
    assert sorted(ads(MailboxStore(1).waiting(ME, 10))) == back


def test_letters_are_discarded_with_a_reason(ask):
    buried(a_letter("1"), a_letter("2"))

    status, done = ask("POST", "/dead-letters/discard", {"ids": [letter_id(a_letter("1"))], "reason": "sold"})

    assert (status, done["done"]) == (200, 1)
    assert MailboxStore(1).counts() == {"telegram": Counts(0, 1)}


@pytest.mark.parametrize(
    ("query", "field", "right"),
    [
        ({"limit": "0"}, "limit", "from 1 to 100"),
        ({"limit": "١"}, "limit", "from 1 to 100"),
        ({"limit": "10000000000000000000"}, "limit", "from 1 to 100"),
        ({"cursor": "x"}, "cursor", "as an answer gave it"),
        ({"kind": "spam"}, "kind", "new_ad, price_drop"),
        ({"reason": "bad luck"}, "reason", "message, outage"),
        ({"destination": ""}, "destination", "characters"),
        ({"destinaton": "me"}, "query", "destination"),
    ],
)
def test_a_listing_that_makes_no_sense_is_refused_by_name(ask, query, field, right):
    status, refusal = ask("GET", "/dead-letters", **query)

    assert (status, refusal["field"]) == (400, field)
    assert right in refusal["error"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (None, "body"),
        ("", "body"),
        ("{", "body"),
        ("[]", "body"),
        ("[" * 50_000, "body"),
        ('"\ud800"', "body"),
        ("{}", "body"),
        ({"all": True, "ids": ["x"]}, "body"),
        ({"all": False}, "all"),
        ({"all": 1}, "all"),
        ({"al": True}, "body"),
        ({"ids": []}, "ids"),
        ({"ids": "x"}, "ids"),
        ({"ids": [1]}, "ids"),
        ({"ids": ["x"] * 101}, "ids"),
        ({"ids": ["x"]}, "ids"),
        ({"ids": ["x"], "cursor": "y"}, "cursor"),
        ({"filter": {}}, "filter"),
        ({"filter": {"destination": None, "kind": None}}, "filter"),
        ({"filter": "me"}, "filter"),
        ({"filter": {"destinaton": "me"}}, "filter"),
        ({"filter": {"kind": ["new_ad"]}}, "kind"),
        ({"filter": {"destination": 7}}, "destination"),
        ({"filter": {"since": 7}}, "since"),
        ({"filter": {"since": "9" * 100}}, "since"),
        ({"all": True, "per_minute": 0}, "per_minute"),
        ({"all": True, "per_minute": True}, "per_minute"),
        ({"all": True, "per_minute": 1.5}, "per_minute"),
        ({"all": True, "cursor": 5}, "cursor"),
    ],
)
def test_a_redrive_that_makes_no_sense_is_refused_by_name_and_changes_nothing(ask, body, field):
    buried(a_letter("1"))

    status, refusal = ask("POST", "/dead-letters/redrive", body)

    assert (status, refusal["field"]) == (400, field)
    assert MailboxStore(1).counts() == {"telegram": Counts(0, 1)}


@pytest.mark.parametrize("reason", [None, "", "  ", "two\nlines", "x" * 201, 7])
def test_nothing_is_discarded_without_a_reason(ask, reason):
    buried(a_letter("1"))

    status, refusal = ask("POST", "/dead-letters/discard", {"ids": [letter_id(a_letter("1"))], "reason": reason})

    assert (status, refusal["field"]) == (400, "reason")
    assert MailboxStore(1).counts() == {"telegram": Counts(0, 1)}


def test_a_body_beyond_its_limit_is_not_even_read(ask):
    status, refusal = ask("POST", "/dead-letters/redrive", " " * LONGEST_BODY + '{"all": true}')

    assert (status, refusal["field"]) == (400, "body")
    assert "at most 65536 bytes" in refusal["error"]


def test_what_is_not_there_is_not_found(ask):
    unknown = letter_id(a_letter("1"))

    assert ask("GET", f"/dead-letters/{unknown}")[0] == 404
    assert ask("POST", "/dead-letters/redrive", {"ids": [unknown]})[0] == 404
    assert ask("POST", "/dead-letters/discard", {"ids": [unknown], "reason": "sold"})[0] == 404


def test_what_is_no_id_is_refused(ask):
    status, refusal = ask("GET", "/dead-letters/nonsense")

    assert (status, refusal["field"]) == (400, "id")


def test_a_database_that_does_not_answer_is_said_to_be_away(ask, monkeypatch):
    def throttled(*_, **__):
        raise QueryError("throttled")

    monkeypatch.setattr(QueueItem.dead_rows, "query", throttled)

    assert ask("GET", "/dead-letters")[0] == 503
