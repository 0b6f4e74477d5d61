"""Each function may do what its code asks of AWS, and nothing else.

The functions run as they are deployed, on moto, through what can happen to them, while each request is seen on its way
out. A right that nothing here needs is one too many; a request without its right would be refused on AWS. The second is
also asked of every test in tests/store (its conftest): a path that is forgotten here is looked at there.
"""

import json

import pytest

from lago.channels.email.unsubscribe import token
from lago.domain.ids import DestinationId
from lago.errors import SourceUnavailableError
from lago.store.mailboxes import MailboxStore
from lago.store.searches import SearchStore
from lago.store.watches import WatchStore
from tests.builders import a_destination, a_query, a_row, a_search_id, a_watch, an_event
from tests.fakes.market import MINUTE, an_ad
from tests.infra.calls import Recorder, Right, covers, granted
from tests.infra.stack import FUNCTIONS, Stack
from tests.infra.test_security import KEY
from tests.infra.workers import Workers
from tests.unit.email.test_feedback import a_bounce

HOUR = 60 * MINUTE
PARAMETERS = {"OperatorDestination": "ops", "MailFrom": "lago@example.org"}
STACK = Stack(**PARAMETERS)
BLOCKED = (403, b'{"ok": false, "error_code": 403, "description": "Forbidden: bot was blocked by the user"}')
REFUSED = (400, b'{"ok": false, "error_code": 400, "description": "Bad Request: message is too strange"}')
AWAY = (500, b"")
SLACK = "https://hooks.slack.com/services/" + "T00000000/B00000000/" + "X" * 24

OF_AWS_ITSELF = {
    "logs:CreateLogStream": "Lambda writes the function's log with its role",
    "logs:PutLogEvents": "Lambda writes the function's log with its role",
    "dynamodb:DescribeStream": "the event source reads the stream with the function's role",
    "dynamodb:GetRecords": "the event source reads the stream with the function's role",
    "dynamodb:GetShardIterator": "the event source reads the stream with the function's role",
    "dynamodb:ListStreams": "the event source finds the stream with the function's role",
    "xray:PutTraceSegments": "Lambda reports its traces with the function's role",
    "xray:PutTelemetryRecords": "Lambda reports its traces with the function's role",
    "kms:Decrypt": "DynamoDB, Parameter Store and Lambda use the owner's key in the role's name",
    "kms:Encrypt": "Parameter Store stores a secret with the owner's key in the role's name",
    "kms:GenerateDataKey": "DynamoDB, Parameter Store and Lambda use the owner's key in the role's name",
}
"""Rights that no code of ours asks for: who uses them."""


def a_watched_search(workers: Workers) -> None:
    """A watch and its destination, after the baseline and its message."""
    mailboxes = MailboxStore(1)
    mailboxes.put_destination(a_destination())
    mailboxes.put_destination(a_destination("ops", address="9"))
    WatchStore(1).add(a_query(), a_watch())
    workers("scrape", {"shard": 0})
    tell(workers)


def tell(workers: Workers, *answers: tuple[int, bytes] | None) -> None:
    """The stream wakes Notify; the far side gives these answers, then acknowledges."""
    workers.answers = list(answers)
    workers("notify", {"search": a_search_id()})
    workers.answers.clear()


def news(workers: Workers, number: int) -> None:
    """A cycle finds a new ad."""
    workers.now += MINUTE
    workers.market.publish(an_ad(920_000_000 + number, published=workers.now))
    workers("scrape", {"shard": 0})


def cycles(workers: Workers, count: int, *, minutes: int = 1, answers: tuple[tuple[int, bytes], ...] = ()) -> None:
    """Drains, a time apart."""
    workers.answers = list(answers)
    for _ in range(count):
        workers.now += minutes * MINUTE
        workers("drain", {})
    workers.answers.clear()


def what_scrape_does(workers: Workers) -> None:
    a_watched_search(workers)
    workers("scrape", {"shard": 0})
    # a source that fails, and is well again
    workers.market.errors = [SourceUnavailableError("HTTP 500")]
    for minutes in (1, 2, 5):
        workers.now += minutes * MINUTE
        workers("scrape", {"shard": 0})
    # an outbox that the stream left behind; moto has no such function, which costs a log line
    news(workers, 51)
    workers.now += 5 * MINUTE
    workers("scrape", {"shard": 0})
    # the last watch goes
    tell(workers)
    WatchStore(1).remove(a_watch())
    workers.now += MINUTE
    workers("scrape", {"shard": 0})
    assert SearchStore().get(a_search_id()) is None


def nothing() -> None:
    """No hook."""


def what_notify_does(workers: Workers) -> None:
    a_watched_search(workers)
    news(workers, 51)
    tell(workers)
    # another queues what is being sent: it is acknowledged by its row
    news(workers, 52)
    waiting = a_row(SearchStore().get(a_search_id()).outbox[0])

    def queue_it_too() -> None:
        MailboxStore(1).enqueue(a_destination(), (waiting,), now=workers.now)

    workers.before_answer = queue_it_too
    tell(workers)
    workers.before_answer = nothing
    # the far side is away; what waits is not overtaken; it answers again, and what died of it comes back
    news(workers, 53)
    tell(workers, AWAY)
    news(workers, 54)
    tell(workers)
    cycles(workers, 3, minutes=20)
    # a watch that rests, a destination that refuses
    WatchStore(1).set_paused(a_watch(), "on holiday")
    news(workers, 55)
    tell(workers)
    WatchStore(1).set_paused(a_watch(), "")
    news(workers, 56)
    tell(workers, BLOCKED)

    # what others hand it: a test, a sign for the operator, a mail that came back
    workers("notify", {"test": "ops"})
    workers("notify", {"operator": {"signs": [{"key": "cycle/drain", "text": "A cycle failed.", "over": "It works."}]}})
    a_mail_destination(workers)
    workers("notify", {"test": "mail"})
    workers("notify", {"Records": [{"EventSource": "aws:sns", "Sns": {"Message": a_bounce("anna@example.org")}}]})


def a_mail_destination(workers: Workers) -> None:
    added = {"id": "mail", "channel": "email", "target": "anna@example.org"}
    status, said = workers.ask("POST", "/destinations", json.dumps(added))
    assert status == 201, said


def what_drain_does(workers: Workers) -> None:
    a_watched_search(workers)
    # fails until it is dead, which the operator is told; what died of the outage comes back
    news(workers, 51)
    tell(workers, AWAY)
    cycles(workers, 6, minutes=20, answers=(AWAY,) * 5)
    news(workers, 52)
    tell(workers)
    cycles(workers, 4)
    # refused for good; a sender that died in the middle
    news(workers, 53)
    tell(workers, AWAY)
    cycles(workers, 2, minutes=20, answers=(REFUSED,) * 2)
    # by other channels, each with its own secret
    a_mail_destination(workers)
    added = {"id": "team", "channel": "slack", "target": SLACK}
    assert workers.ask("POST", "/destinations", json.dumps(added))[0] == 201
    queue = MailboxStore(1)
    for name in ("mail", "team"):
        row = a_row(an_event(found=workers.now), destination=name, created=workers.now)
        queue.enqueue(queue.head(row.notification.destination).destination, (row,), now=workers.now)
    cycles(workers, 1)
    # blocked: nobody is told, the watch is paused
    news(workers, 54)
    tell(workers, AWAY)
    cycles(workers, 2, minutes=20, answers=(BLOCKED,))


def what_api_does(workers: Workers) -> None:
    a_watched_search(workers)
    for number in (51, 52):
        news(workers, number)
        tell(workers, REFUSED, REFUSED)
    status, listed = workers.ask("GET", "/dead-letters")
    first, second = (letter["id"] for letter in json.loads(listed)["letters"])
    assert status == 200
    mailed = {"id": "mail", "channel": "email", "target": "anna@example.org"}
    slack = {"id": "team", "channel": "slack", "target": SLACK}
    WatchStore(1).add(a_query(), a_watch("w2", destinations=("me", "ops")))
    for method, path, body in (
        ("GET", "/stats", None),
        ("GET", f"/dead-letters/{first}", None),
        ("POST", "/dead-letters/redrive", {"ids": [first]}),
        ("POST", "/dead-letters/discard", {"ids": [second], "reason": "seen"}),
        ("POST", "/destinations", slack),
        ("POST", "/destinations", mailed),
        ("GET", "/destinations", None),
        ("GET", "/destinations/team", None),
        ("POST", "/destinations/ops/test", None),
        ("PATCH", "/destinations/me", {"disabled": "on holiday"}),
        ("PATCH", "/destinations/me", {"enabled": True, "club_seconds": 600}),
        ("DELETE", "/destinations/team", None),
    ):
        status, said = workers.ask(method, path, None if body is None else json.dumps(body))
        assert status in {200, 201}, said
    status, said = workers.ask("POST", "/unsubscribe", d="mail", t=token("no key of ours", DestinationId("mail")))
    assert status in {400, 403, 404}, said
    # one that others share a watch with, with all that is known of it
    news(workers, 53)
    tell(workers, AWAY)
    status, said = workers.ask("DELETE", "/destinations/me", force="true")
    assert status == 200, said


SCENARIOS = {
    "scrape": what_scrape_does,
    "notify": what_notify_does,
    "drain": what_drain_does,
    "api": what_api_does,
}


@pytest.fixture(scope="module")
def needed() -> dict[str, set[Right]]:
    """What each function asked for, in all scenarios."""
    recorder = Recorder()
    for scenario in SCENARIOS.values():
        with Workers(**PARAMETERS).at_work() as workers, recorder.installed():
            scenario(workers)
    return recorder.needed


def test_every_function_has_its_scenario() -> None:
    assert set(SCENARIOS) == set(FUNCTIONS)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_do_all_that_its_code_asks_for(function: str, needed: dict[str, set[Right]]) -> None:
    rights = granted(STACK, function)

    assert {each for each in needed[function] if not any(covers(right, each) for right in rights)} == set()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_do_nothing_that_its_code_does_not_ask_for(function: str, needed: dict[str, set[Right]]) -> None:
    rights = {right for right in granted(STACK, function) if right[0] not in OF_AWS_ITSELF}

    assert {right for right in rights if not any(covers(right, each) for each in needed[function])} == set()


def test_every_right_of_aws_itself_is_granted_and_those_of_an_option_only_with_it() -> None:
    def actions(stack: Stack) -> set[str]:
        return {action for name in FUNCTIONS for action, _ in granted(stack, name)}

    optional = {action for action in OF_AWS_ITSELF if action.startswith(("xray:", "kms:"))}

    assert set(OF_AWS_ITSELF) - optional <= actions(STACK)
    assert not optional & actions(STACK)
    assert optional <= actions(Stack(Tracing="Active", KmsKeyArn=KEY))
