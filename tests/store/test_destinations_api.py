"""`/destinations` as the function answers it: checked by name, secrets in and never out."""

import io
import json
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from msgspec.structs import replace

from lago.channels import registry
from lago.domain.ids import EpochMs
from lago.domain.mailbox import dead
from lago.errors import StoreUnavailableError
from lago.request_body import LONGEST_BODY
from lago.store.deliveries import DeliveryStore
from lago.store.mailboxes import MailboxStore
from lago.store.watches import WatchStore
from lago.trial import TrialReport
from lago.wiring.clock import now
from lago.wiring.directory import ParameterStore, Trials
from tests.builders import ME, NOW, a_destination, a_query, a_row, a_search_id, a_watch, an_event
from tests.fakes.destinations import a_spec
from tests.store.api import asked, load

HOOK = "https://hooks.example/T0/B0/very-secret"
SECRET = "/lago/test/destinations/home/slack"


@pytest.fixture(scope="module")
def handler():
    return load("api_app_of_destinations")


@pytest.fixture
def ask(handler):
    """Asks the function: the status, and the answer."""

    def answered(method: str, path: str, body: object = None, **query: str) -> tuple[int, Any]:
        answer = asked(handler, method, path, body, **query)
        return answer["statusCode"], json.loads(answer["body"])

    return answered


@pytest.fixture(autouse=True)
def _channels(monkeypatch) -> None:
    monkeypatch.setattr(registry, "import_module", Module)


class Module:
    """A channel's target module."""

    def __init__(self, path: str) -> None:
        self.TARGET = a_spec("telegram" if path.endswith("telegram_target") else path.split(".")[2])


def kept(name: str) -> str | None:
    ssm = boto3.client("ssm")
    try:
        return str(ssm.get_parameter(Name=name, WithDecryption=True)["Parameter"]["Value"])
    except ssm.exceptions.ParameterNotFound:
        return None


def test_a_destination_is_added_with_its_secret_and_shown_without(ask):
    options = {"time_zone": "Europe/London", "quiet": "22:00-7:00", "club_seconds": 600, "digest": "18:00"}

    status, added = ask("POST", "/destinations", {"id": "home", "channel": "slack", "target": HOOK, **options})
    _, shown = ask("GET", "/destinations/home")
    _, listed = ask("GET", "/destinations")

    assert status == 201
    assert added["show"].startswith("key ")
    assert shown == {
        "id": "home",
        "channel": "slack",
        "address": "hooks.example",
        "disabled": "",
        "time_zone": "Europe/London",
        "quiet": "22:00-07:00",
        "club_seconds": 600,
        "digest": "18:00",
        "waiting": 0,
        "dead": 0,
    }
    assert listed == {"destinations": [shown]}
    assert kept(SECRET) == HOOK
    assert "secret" not in json.dumps([added, shown, listed])


def test_a_reader_who_is_added_again_keeps_the_key_of_old_mails(ask):
    mail = {"id": "home", "channel": "email", "target": "anna@example.org"}
    ask("POST", "/destinations", mail)
    key = kept("/lago/test/destinations/home/email")

    status, _ = ask("POST", "/destinations", mail)

    assert status == 201
    assert kept("/lago/test/destinations/home/email") == key


def test_what_waits_and_what_is_dead_is_counted(ask):
    MailboxStore(1).put_destination(a_destination())
    rows = (a_row(an_event("1")), a_row(an_event("2")), dead(a_row(an_event("3")), "message", NOW))
    MailboxStore(1).enqueue(a_destination(), rows, now=NOW)

    _, shown = ask("GET", "/destinations/me")

    assert (shown["waiting"], shown["dead"]) == (2, 1)


def test_options_change_one_by_one_and_null_takes_them_back(ask):
    ask("POST", "/destinations", {"id": "me", "channel": "telegram", "target": "1", "quiet": "22:00-07:00"})

    ask("PATCH", "/destinations/me", {"digest": "08:30"})
    status, changed = ask("PATCH", "/destinations/me", {"quiet": None})

    assert status == 200
    assert (changed["destination"]["quiet"], changed["destination"]["digest"]) == (None, "08:30")


def test_a_destination_is_disabled_with_a_reason_and_enabled_with_its_watches(ask):
    ask("POST", "/destinations", {"id": "me", "channel": "telegram", "target": "1"})
    WatchStore(1).add(a_query(), a_watch(paused="on holiday"))

    _, disabled = ask("PATCH", "/destinations/me", {"disabled": "on holiday", "club_seconds": 60})
    _, enabled = ask("PATCH", "/destinations/me", {"enabled": True})

    assert (disabled["destination"]["disabled"], disabled["destination"]["club_seconds"]) == ("on holiday", 60)
    assert (enabled["destination"]["disabled"], enabled["resumed"]) == ("", ["w1"])
    assert WatchStore(1).of(a_search_id()) == [a_watch()]


def test_a_destination_is_removed_with_all_that_was_known_of_it(ask):
    ask("POST", "/destinations", {"id": "home", "channel": "slack", "target": HOOK})
    home = replace(a_destination("home"), channel="slack")
    MailboxStore(1).enqueue(home, (a_row(destination="home"),), now=NOW)
    DeliveryStore(400).log(home.id, [an_event()], NOW)

    status, removed = ask("DELETE", "/destinations/home")

    assert (status, removed["done"], removed["messages"], removed["log_entries"]) == (200, True, 1, 1)
    assert kept(SECRET) is None
    assert ask("DELETE", "/destinations/home")[0] == 404


def test_one_that_watches_name_is_removed_by_force_alone(ask):
    ask("POST", "/destinations", {"id": "me", "channel": "telegram", "target": "1"})
    WatchStore(1).add(a_query(), a_watch())

    status, refusal = ask("DELETE", "/destinations/me")
    _, removed = ask("DELETE", "/destinations/me", force="true")

    assert (status, refusal["field"]) == (400, "force")
    assert "'rennrad' (w1)" in refusal["error"]
    assert (removed["done"], removed["removed"]) == (True, ["w1"])
    assert WatchStore(1).of(a_search_id()) == []


def test_a_removal_that_has_to_wait_says_that_it_is_not_done(ask):
    queue = MailboxStore(1)
    queue.put_destination(a_destination())
    queue.claim(queue.head(ME), (), now=now(), lease_until=EpochMs(now() + 60_000))

    status, removed = ask("DELETE", "/destinations/me")

    assert (status, removed["done"]) == (202, False)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (None, "body"),
        ("{", "body"),
        ("[]", "body"),
        ("[" * 50_000, "body"),
        ({"id": "a", "channel": "slack", "target": HOOK, "quite": "x"}, "body"),
        ({"channel": "slack", "target": HOOK}, "id"),
        ({"id": 7, "channel": "slack", "target": HOOK}, "id"),
        ({"id": "shard#0", "channel": "slack", "target": HOOK}, "id"),
        ({"id": "directory", "channel": "slack", "target": HOOK}, "id"),
        ({"id": "x" * 41, "channel": "slack", "target": HOOK}, "id"),
        ({"id": "a", "target": HOOK}, "channel"),
        ({"id": "a", "channel": "pigeon", "target": HOOK}, "channel"),
        ({"id": "a", "channel": "slack"}, "target"),
        ({"id": "a", "channel": "slack", "target": ["very-secret"]}, "target"),
        ({"id": "a", "channel": "slack", "target": "ftp://very-secret"}, "target"),
        ({"id": "a", "channel": "slack", "target": HOOK + "x" * 4_096}, "target"),
        ({"id": "a", "channel": "slack", "target": "very-secret" + "x" * 16_384}, "target"),
        ({"id": "a", "channel": "slack", "target": HOOK, "time_zone": "Mars"}, "time_zone"),
        ({"id": "a", "channel": "slack", "target": HOOK, "quiet": "22-7"}, "quiet"),
        ({"id": "a", "channel": "slack", "target": HOOK, "quiet": [1, 2]}, "quiet"),
        ({"id": "a", "channel": "slack", "target": HOOK, "club_seconds": "60"}, "club_seconds"),
        ({"id": "a", "channel": "slack", "target": HOOK, "club_seconds": True}, "club_seconds"),
        ({"id": "a", "channel": "slack", "target": HOOK, "club_seconds": 59}, "club_seconds"),
        ({"id": "a", "channel": "slack", "target": HOOK, "digest": "24:00"}, "digest"),
        ({"id": "a", "channel": "slack", "target": HOOK, "replace": "yes"}, "replace"),
    ],
)
def test_an_addition_that_makes_no_sense_is_refused_by_name_and_stores_nothing(ask, body, field):
    status, refusal = ask("POST", "/destinations", body)

    assert (status, refusal["field"]) == (400, field)
    assert "very-secret" not in refusal["error"]
    assert MailboxStore(1).destinations() == []
    assert boto3.client("ssm").describe_parameters()["Parameters"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"target": "x"}, "body"),
        ({"enabled": False}, "enabled"),
        ({"enabled": True, "disabled": "x"}, "enabled"),
        ({"disabled": ""}, "disabled"),
        ({"disabled": "two\nlines"}, "disabled"),
        ({"disabled": "x" * 201}, "disabled"),
        ({"disabled": True}, "disabled"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused_by_name_and_changes_nothing(ask, body, field):
    MailboxStore(1).put_destination(a_destination())

    status, refusal = ask("PATCH", "/destinations/me", body)

    assert (status, refusal["field"]) == (400, field)
    assert MailboxStore(1).head(ME).destination == a_destination()


def test_a_removal_that_is_misspelt_removes_nothing(ask):
    MailboxStore(1).put_destination(a_destination())

    assert ask("DELETE", "/destinations/me", forse="true")[0] == 400
    assert ask("DELETE", "/destinations/me", force="yes")[0] == 400

    assert MailboxStore(1).destinations() == [ME]


def test_a_body_beyond_its_limit_is_not_even_read(ask):
    status, refusal = ask("POST", "/destinations", " " * LONGEST_BODY + "{}")

    assert (status, refusal["field"]) == (400, "body")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/destinations/me", None),
        ("PATCH", "/destinations/me", {"enabled": True}),
        ("PATCH", "/destinations/me", {"digest": None}),
        ("DELETE", "/destinations/me", None),
        ("POST", "/destinations/me/test", None),
    ],
)
def test_a_destination_that_is_not_there_is_not_found(ask, method, path, body):
    assert ask(method, path, body)[0] == 404


class Lambda:
    """Answers with a payload, or fails."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[dict] = []

    def invoke(self, **request):
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_a_test_goes_through_notify_and_its_report_comes_back():
    report = {"delivered": False, "outcome": "it asks to wait (HTTP 429)"}
    function = Lambda({"Payload": io.BytesIO(json.dumps(report).encode())})

    came = Trials("lago-notify", lambda: function)(ME)

    assert came == TrialReport(delivered=False, outcome="it asks to wait (HTTP 429)")
    assert function.asked == [{"FunctionName": "lago-notify", "Payload": b'{"test": "me"}'}]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ReadTimeoutError(endpoint_url="x"), "no answer within 24 s"),
        ({"FunctionError": "Unhandled", "Payload": io.BytesIO(b"{}")}, "the log of the function notify"),
    ],
    ids=["slow", "failed"],
)
def test_a_test_without_an_answer_says_so(answer, said):
    came = Trials("lago-notify", lambda: Lambda(answer))(ME)

    assert not came.delivered
    assert said in came.outcome


def test_a_test_that_cannot_be_asked_for_is_asked_for_later():
    away = EndpointConnectionError(endpoint_url="x")

    with pytest.raises(StoreUnavailableError, match="EndpointConnectionError"):
        Trials("lago-notify", lambda: Lambda(away))(ME)


def test_a_secret_that_cannot_be_stored_is_not_in_the_error():
    class Refusing:
        def put_parameter(self, **request):
            raise ClientError({"Error": {"Code": "ThrottlingException", "Message": request["Value"]}}, "PutParameter")

    with pytest.raises(StoreUnavailableError, match="ThrottlingException") as caught:
        ParameterStore(make_client=Refusing).put("/x", HOOK)

    assert "very-secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_the_owners_key_encrypts_the_secret():
    asked: list[str] = []

    class Recording:
        def put_parameter(self, **request):
            asked.append(request["KeyId"])

    ParameterStore("arn:key", Recording).put("/x", HOOK)

    assert asked == ["arn:key"]
