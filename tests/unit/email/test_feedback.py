"""Bounces and complaints, as SES tells them."""

import json

import pytest

from lago.channels.email.feedback import read_feedback
from lago.domain.ids import DestinationId
from lago.errors import StoreUnavailableError
from lago.mail_feedback import FeedbackReport, is_mail_feedback, take_mail_feedback
from tests.fakes.mailboxes import FakeMailboxes
from tests.unit.email.builders import ANNA, a_reader
from tests.unit.telegram.builders import chat


def a_bounce(address: str = ANNA, type_: str = "Permanent", **changes: object) -> str:
    event = {
        "eventType": "Bounce",
        "bounce": {
            "bounceType": type_,
            "bounceSubType": "General",
            "bouncedRecipients": [
                {
                    "emailAddress": address,
                    "action": "failed",
                    "status": "5.1.1",
                    "diagnosticCode": "smtp; 550 5.1.1 user unknown",
                }
            ],
            "timestamp": "2025-11-29T10:30:00.000Z",
            "feedbackId": "f1",
        },
        "mail": {"messageId": "m1", "destination": [address], "tags": {"ses:configuration-set": ["lago"]}},
    }
    return json.dumps(event | changes)


def a_complaint(address: str = ANNA, **changes: object) -> str:
    complaint = {"complainedRecipients": [{"emailAddress": address}], "complaintFeedbackType": "abuse"} | changes
    return json.dumps(
        {"eventType": "Complaint", "complaint": complaint, "mail": {"messageId": "m1", "destination": [address]}}
    )


def told(*messages: str) -> dict:
    return {"Records": [{"EventSource": "aws:sns", "Sns": {"Message": message}} for message in messages]}


def houses() -> FakeMailboxes:
    """Anna twice, Bert, and a chat that looks like Anna."""
    mailboxes = FakeMailboxes()
    mailboxes.put_destination(a_reader())
    mailboxes.put_destination(a_reader("Anna@Example.ORG", id=DestinationId("anna-too")))
    mailboxes.put_destination(a_reader("bert@example.org", id=DestinationId("bert")))
    mailboxes.put_destination(chat(ANNA, id=DestinationId("chat")))
    return mailboxes


def disabled(mailboxes: FakeMailboxes) -> dict[str, str]:
    heads = [mailboxes.head(id_) for id_ in mailboxes.destinations()]
    return {head.destination.id: head.destination.disabled for head in heads if head.destination.disabled}


def test_a_permanent_bounce_ends_every_destination_with_that_address() -> None:
    mailboxes = houses()

    report = take_mail_feedback(told(a_bounce("ANNA@example.org")), mailboxes=mailboxes)

    why = "mail to it bounced for good (General) smtp; 550 5.1.1 user unknown"
    assert disabled(mailboxes) == {"anna": why, "anna-too": why}
    assert report == FeedbackReport(messages=1, understood=1, disabled=("anna", "anna-too"))


def test_a_complaint_does_so_too() -> None:
    mailboxes = houses()

    take_mail_feedback(told(a_complaint("bert@example.org")), mailboxes=mailboxes)

    assert disabled(mailboxes) == {"bert": "its reader reported a mail as spam"}


@pytest.mark.parametrize("message", [a_bounce(type_="Transient"), a_bounce(type_="Undetermined"), a_bounce(type_="")])
def test_a_bounce_that_may_pass_changes_nothing(message: str) -> None:
    mailboxes = houses()

    report = take_mail_feedback(told(message), mailboxes=mailboxes)

    assert disabled(mailboxes) == {}
    assert report == FeedbackReport(messages=1, understood=0, disabled=())


def test_a_mail_taken_out_of_the_spam_folder_is_no_complaint() -> None:
    assert read_feedback(a_complaint(complaintFeedbackType="not-spam")) is None
    assert read_feedback(a_complaint(complaintFeedbackType=None)) is not None


def test_twice_is_once() -> None:
    mailboxes = houses()
    take_mail_feedback(told(a_bounce()), mailboxes=mailboxes)
    before = disabled(mailboxes)

    report = take_mail_feedback(told(a_bounce(), a_complaint()), mailboxes=mailboxes)

    assert disabled(mailboxes) == before
    assert report.disabled == ()


def test_several_messages_are_all_read() -> None:
    mailboxes = houses()

    take_mail_feedback(told("{", a_bounce(), a_complaint("bert@example.org")), mailboxes=mailboxes)

    assert set(disabled(mailboxes)) == {"anna", "anna-too", "bert"}


def test_of_a_forwarded_mail_the_address_it_was_sent_to_is_meant() -> None:
    bounced = json.loads(a_bounce("anna.forwarded@example.net"))
    bounced["mail"]["destination"] = ["Anna <anna@example.org>"]

    feedback = read_feedback(json.dumps(bounced))

    assert feedback.addresses == {ANNA}


def test_of_a_mail_to_several_those_that_bounced_are_meant() -> None:
    bounced = json.loads(a_bounce())
    bounced["mail"]["destination"] = [ANNA, "bert@example.org"]

    assert read_feedback(json.dumps(bounced)).addresses == {ANNA}


def test_a_notification_of_an_identity_is_read_as_well() -> None:
    old = a_bounce().replace('"eventType"', '"notificationType"')

    assert read_feedback(old).addresses == {ANNA}


def test_missing_details_are_missed_by_nobody() -> None:
    bounced = {"bounceType": "Permanent", "bounceSubType": None, "bouncedRecipients": [{"emailAddress": ANNA}]}

    feedback = read_feedback(json.dumps({"eventType": "Bounce", "bounce": bounced, "complaint": None, "mail": None}))

    assert feedback.reason == "mail to it bounced for good"
    assert feedback.addresses == {ANNA}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        '"Bounce"',
        "{}",
        '{"eventType": 7}',
        '{"eventType": "Bounce"}',
        '{"eventType": "Bounce", "bounce": {"bounceType": "Permanent"}}',
        '{"eventType": "Bounce", "bounce": {"bounceType": "Permanent", "bouncedRecipients": "anna"}}',
        '{"eventType": "Complaint", "complaint": {}}',
        '{"eventType": "Delivery", "delivery": {}, "mail": {"destination": ["anna@example.org"]}}',
        "Successfully validated SNS topic for Amazon SES event publishing.",
        "[" * 100_000,
        a_bounce("anna"),
        a_bounce("\x00"),
        a_bounce() + " " * 300_000,
        '{"eventType": "\\ud800"}',
    ],
)
def test_what_is_not_understood_says_nothing(text: str) -> None:
    mailboxes = houses()

    take_mail_feedback(told(text), mailboxes=mailboxes)

    assert disabled(mailboxes) == {}


def test_what_the_far_side_says_is_cut_and_cleaned() -> None:
    said = json.loads(a_bounce())
    said["bounce"]["bouncedRecipients"][0]["diagnosticCode"] = "line\r\nline password=hunter2 \u202e" + "x" * 9_000

    feedback = read_feedback(json.dumps(said))

    assert len(feedback.reason.encode()) <= 500
    assert "line line" in feedback.reason
    assert "hunter2" not in feedback.reason
    assert "\u202e" not in feedback.reason


def test_a_database_that_does_not_answer_lets_sns_tell_it_again() -> None:
    mailboxes = houses()

    def fail(destination: DestinationId) -> None:
        raise StoreUnavailableError("throttled")

    mailboxes.head = fail

    with pytest.raises(StoreUnavailableError):
        take_mail_feedback(told(a_bounce()), mailboxes=mailboxes)


def test_what_means_nothing_costs_no_read() -> None:
    report = take_mail_feedback(told(a_bounce(type_="Transient")), mailboxes=None)

    assert report.understood == 0


@pytest.mark.parametrize(
    ("event", "is_feedback"),
    [
        (told(a_bounce()), True),
        ({"Records": [{"EventSource": "aws:sns", "Sns": None}]}, True),
        ({"Records": [{"eventSource": "aws:dynamodb", "dynamodb": {}}]}, False),
        ({"search": "s1"}, False),
        ({"Records": None}, False),
        ({"Records": ["x"]}, False),
        ({}, False),
    ],
)
def test_feedback_is_told_from_what_else_wakes_the_function(event: dict, is_feedback: bool) -> None:
    assert is_mail_feedback(event) is is_feedback


@pytest.mark.parametrize(
    "record", [{"Sns": None}, {"Sns": {}}, {"Sns": {"Message": 7}}, {"Sns": {"Message": {"eventType": "Bounce"}}}, {}]
)
def test_a_record_without_a_text_is_passed_over(record: dict) -> None:
    event = {"Records": [{"EventSource": "aws:sns", **record}]}

    assert take_mail_feedback(event, mailboxes=houses()) == FeedbackReport(messages=0, understood=0, disabled=())
