"""A test message takes the way of any other, says how that ended, and leaves nothing behind."""

import pytest
from msgspec.structs import replace

from lago.domain.ids import EpochMs
from lago.domain.outcome import OutcomeKind
from lago.store.dead_letters import DeadLetterStore
from lago.store.queue_reads import Counts
from lago.trial import TrialReport, try_destination
from tests.builders import ME, NOW, a_destination, a_row
from tests.fakes.sending import MINUTE, FakeSecrets, Post, a_post, gate, outage, refused


def a_try(post: Post, seconds: int = 60) -> TrialReport:
    return try_destination(
        ME,
        key="k1",
        mailboxes=post.mailboxes,
        deliveries=post.deliveries,
        letters=DeadLetterStore(post.mailboxes),
        sender=post.sender,
        clock=post.clock,
        deadline=EpochMs(post.clock() + 1_000 * seconds),
    )


def a_tried(*outcomes) -> tuple[Post, TrialReport]:
    post = a_post(*outcomes)
    post.mailboxes.put_destination(a_destination())
    return post, a_try(post)


def nothing_is_left(post: Post) -> bool:
    return all(counts == Counts(0, 0) for counts in post.mailboxes.counts().values())


def test_a_message_that_arrives_is_reported_as_delivered():
    post, report = a_tried()

    assert report == TrialReport(delivered=True, outcome="delivered")
    (message,) = post.channel.sent
    assert [each.kind for each in message.notifications] == ["test"]
    assert nothing_is_left(post)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (refused(OutcomeKind.MESSAGE, "bad request"), "it refuses the message for good (bad request)"),
        (refused(OutcomeKind.DESTINATION, "bot was blocked"), "it accepts no messages"),
        (gate(90_000), "it asks to wait (HTTP 429)"),
        (outage("HTTP 500"), "it does not answer as it should (HTTP 500)"),
        (
            refused(OutcomeKind.AMBIGUOUS, "ReadTimeout"),
            "it never answered: the message may have arrived (ReadTimeout)",
        ),
        (refused(OutcomeKind.RENDER, "KeyError"), "the message could not be written"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.kind,
)
def test_what_the_far_side_said_is_told_and_the_message_is_taken_back(outcome, said):
    post, report = a_tried(outcome)

    assert not report.delivered
    assert said in report.outcome
    assert nothing_is_left(post)


def test_it_is_sent_with_the_secret_that_was_given_a_moment_ago():
    post = a_post(secrets=FakeSecrets(known="1:old", stored="1:new"))
    post.mailboxes.put_destination(a_destination())

    assert a_try(post).delivered
    assert post.channel.secrets == ["1:new"]


def test_a_disabled_destination_is_said_to_be_and_nothing_is_queued():
    post = a_post()
    post.mailboxes.put_destination(replace(a_destination(), disabled="on holiday"))

    report = a_try(post)

    assert (report.delivered, report.outcome) == (False, "the destination is disabled: on holiday")
    assert post.channel.sent == []
    assert nothing_is_left(post)


def test_an_unknown_destination_is_named():
    assert a_try(a_post()) == TrialReport(delivered=False, outcome="there is no destination me")


def test_what_waits_is_not_overtaken_by_a_test():
    post = a_post()
    post.mailboxes.put_destination(a_destination())
    post.mailboxes.enqueue(a_destination(), (a_row(),), now=NOW)

    report = a_try(post)

    assert "messages wait there before it (1)" in report.outcome
    assert post.channel.sent == []
    assert [row.id for row in post.mailboxes.waiting(ME, 5)] == [a_row().id]


def test_a_mailbox_that_is_being_sent_from_is_not_waited_for():
    post = a_post()
    post.mailboxes.put_destination(a_destination())
    post.mailboxes.claim(post.mailboxes.head(ME), (), now=NOW, lease_until=EpochMs(NOW + 60_000))

    report = a_try(post)

    assert "another message is being sent there just now" in report.outcome
    assert nothing_is_left(post)


def test_a_mailbox_that_must_wait_says_how_long():
    post, _ = a_tried(outage())

    report = a_try(post)

    assert "nothing may be sent there for another 60 s (failures in a row: 1)" in report.outcome
    assert len(post.channel.sent) == 1


def test_in_quiet_hours_a_test_comes_all_the_same():
    post = a_post()
    post.mailboxes.put_destination(replace(a_destination(), quiet=(0, 1_439), club_seconds=600, digest_at=60))

    assert a_try(post).delivered


def test_a_test_that_a_drain_delivers_in_between_is_delivered():
    post = a_post(outage())
    post.mailboxes.put_destination(a_destination())
    cancel = post.mailboxes.cancel

    def after_a_drain(destination, rows):
        post.clock.now += 2 * MINUTE
        post.sender.drain(ME, soft=post.deadline, deadline=post.deadline)
        return cancel(destination, rows)

    post.mailboxes.cancel = after_a_drain

    assert a_try(post).delivered
    assert len(post.channel.sent) == 2
    assert nothing_is_left(post)


def test_with_too_little_time_nothing_is_sent():
    post = a_post()
    post.mailboxes.put_destination(a_destination())

    report = a_try(post, seconds=3)

    assert report.outcome == "there was no time left to send it: try again"
    assert nothing_is_left(post)
