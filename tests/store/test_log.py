"""What the ways of a notification leave in the log: a line for each outcome, none for nothing, nothing private."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from lago.domain.outcome import OutcomeKind
from lago.domain.redact import hashed
from lago.store.dead_letters import DeadLetterStore
from tests.builders import a_destination, a_search_id, a_watch, an_event
from tests.fakes.sending import MINUTE, a_post, outage, refused
from tests.logged import Log, logged
from tests.store.steps import found, run_drain, run_notify, watching

ID, CHAT, MAIL = "marias-phone", "777000111", "maria@example.org"


@pytest.fixture
def log() -> Iterator[Log]:
    with logged() as log:
        yield log


def test_a_dead_letter_leaves_one_line_that_says_of_what_it_died(log: Log):
    post = a_post(refused(OutcomeKind.MESSAGE, "HTTP 400: message is too long"))
    watching(post)
    found(an_event("1"))

    run_notify(post)

    line = log.one("dead letter")
    assert (line["kind"], line["died_of"], line["reason"]) == ("new_ad", "message", "HTTP 400: message is too long")
    assert line["destination"] == hashed("me")
    assert line["notification"] == next(iter(post.mailboxes.dead("me"))).id


def test_a_letter_that_is_brought_back_dies_in_a_line_of_its_own(log: Log):
    post = a_post(*[refused(OutcomeKind.MESSAGE)] * 2)
    watching(post)
    found(an_event("1"))
    run_notify(post)

    post.mailboxes.redrive(a_destination(), post.mailboxes.dead("me"), now=post.clock())
    assert len(log.of("dead letter")) == 1
    run_drain(post)

    assert len(log.of("dead letter")) == 2


def test_lines_of_a_delivery_say_search_and_destination(log: Log):
    post = a_post()
    watching(post)
    found(an_event("1"))

    run_notify(post)

    line = log.one("sent")
    assert (line["search"], line["destination"], line["outcome"]) == (a_search_id(), hashed("me"), "delivered")


def test_an_idle_drain_says_nothing(log: Log):
    run_drain(a_post())

    assert log.lines == []


def test_nobody_can_be_told_from_the_log(log: Log):
    post = a_post(outage(f"550 {MAIL} is away"), outage(), RuntimeError(f"lost {MAIL}"))
    watching(post, replace(a_watch(destinations=(ID,)), label="Geheimes Geschenk"))
    post.mailboxes.put_destination(a_destination(ID, address=CHAT))
    found(an_event("1", title="Verlobungsring", seller_name="Huber"))

    run_notify(post)
    for _ in range(8):
        post.clock.now += 20 * MINUTE
        run_drain(post)
    for row in post.mailboxes.dead(ID):
        DeadLetterStore(post.mailboxes).discard(a_destination(ID), row, f"told {MAIL} myself")

    written = log.text.getvalue()
    assert {"sent", "could not drain"} <= {line["message"] for line in log.lines}
    assert hashed(ID) in written
    for private in (ID, CHAT, MAIL, "maria", "Verlobungsring", "Huber", "Geheimes", "1:secret", "keyword=", "adId="):
        assert private not in written, private
