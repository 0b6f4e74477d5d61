"""What becomes of a mail that SES is given."""

from collections.abc import Callable, Iterator
from email import message_from_string
from typing import Any

import boto3
import pytest
from botocore import exceptions as boto
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.backends import get_backend

from lago.channels.email.ses import SesTransport, make_client
from lago.channels.email.ses_answer import QUOTA_GATE, RATE_GATE
from lago.channels.email.transport import Mail
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from tests.unit.email.builders import ANNA
from tests.unit.telegram.builders import FakeTime

MAIL = Mail(sender="lago@example.org", recipient=ANNA, content=b"Subject: Hi\r\n\r\nHello\r\n")


class FakeSes:
    """Remembers requests; raises what it was made with."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.requests: list[dict] = []
        self.closed = 0

    def send_email(self, **request: object) -> dict:
        self.requests.append(request)
        if self._error:
            raise self._error
        return {"MessageId": "m1"}

    def close(self) -> None:
        self.closed += 1


def refusal(code: str, said: str, status: int = 400) -> ClientError:
    error = {"Error": {"Code": code, "Message": said}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(error, "SendEmail")


def transport(ses: FakeSes, time: FakeTime | None = None, configuration_set: str = "") -> SesTransport:
    return SesTransport(configuration_set=configuration_set, clock=(time or FakeTime()).clock, make=lambda: ses)


def outcome_of(error: Exception) -> Outcome:
    return transport(FakeSes(error)).send(MAIL)


def test_a_mail_is_handed_over_as_it_is() -> None:
    ses = FakeSes()

    assert transport(ses, configuration_set="lago-mail").send(MAIL) == DELIVERED

    assert ses.requests == [
        {
            "FromEmailAddress": "lago@example.org",
            "Destination": {"ToAddresses": [ANNA]},
            "Content": {"Raw": {"Data": MAIL.content}},
            "ConfigurationSetName": "lago-mail",
        }
    ]


def test_no_configuration_set_is_named_where_there_is_none() -> None:
    ses = FakeSes()

    transport(ses).send(MAIL)

    assert "ConfigurationSetName" not in ses.requests[0]


@pytest.mark.parametrize(
    ("code", "said", "status", "kind"),
    [
        ("TooManyRequestsException", "Maximum sending rate exceeded.", 429, OutcomeKind.GATE),
        ("ThrottlingException", "Rate exceeded", 400, OutcomeKind.GATE),
        ("LimitExceededException", "Daily message quota exceeded.", 400, OutcomeKind.GATE),
        ("AccountSuspendedException", "", 400, OutcomeKind.OUTAGE),
        ("SendingPausedException", "Sending is paused", 400, OutcomeKind.OUTAGE),
        ("MailFromDomainNotVerifiedException", "", 400, OutcomeKind.OUTAGE),
        ("NotFoundException", "Configuration set <lago> does not exist.", 404, OutcomeKind.OUTAGE),
        ("MessageRejected", "Email address is not verified. Identities: lago@example.org", 400, OutcomeKind.OUTAGE),
        ("MessageRejected", "Sending suspended for this account.", 400, OutcomeKind.OUTAGE),
        ("MessageRejected", "Message contained a virus.", 400, OutcomeKind.MESSAGE),
        ("BadRequestException", "Illegal address", 400, OutcomeKind.DESTINATION),
        ("BadRequestException", "Domain starts with dot", 400, OutcomeKind.DESTINATION),
        ("BadRequestException", "Message length is more than 41943040 bytes", 400, OutcomeKind.MESSAGE),
        ("AccessDeniedException", "User is not authorized", 403, OutcomeKind.OUTAGE),
        ("ExpiredTokenException", "The security token is expired", 403, OutcomeKind.OUTAGE),
        ("RequestExpired", "", 400, OutcomeKind.OUTAGE),
        ("SomethingNew", "of tomorrow", 418, OutcomeKind.OUTAGE),
        ("InternalFailure", "", 500, OutcomeKind.OUTAGE),
        ("BadRequestException", "Illegal address", 503, OutcomeKind.OUTAGE),
        ("", "", 0, OutcomeKind.OUTAGE),
    ],
)
def test_each_refusal_has_its_class(code: str, said: str, status: int, kind: OutcomeKind) -> None:
    outcome = outcome_of(refusal(code, said, status))

    assert outcome.kind is kind
    assert outcome.reason.startswith(f"SES {code or 'error'}")
    assert (outcome.retry_after is not None) == (kind is OutcomeKind.GATE)


def test_a_rate_passes_soon_a_quota_in_hours() -> None:
    rate = outcome_of(refusal("TooManyRequestsException", "Maximum sending rate exceeded", 429))
    quota = outcome_of(refusal("TooManyRequestsException", "Daily message quota exceeded", 429))

    assert (rate.retry_after, quota.retry_after) == (RATE_GATE, QUOTA_GATE)


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (refusal("MessageRejected", "Email address is not verified. " + "x" * 900), "verify the sender"),
        (refusal("NotFoundException", "", 404), "deploy again"),
        (refusal("AccessDeniedException", "no", 403), "may not send"),
        (refusal("SendingPausedException", ""), "resume it"),
    ],
)
def test_what_is_the_owners_to_mend_says_how(error: ClientError, hint: str) -> None:
    outcome = outcome_of(error)

    assert hint in outcome.reason
    assert len(outcome.reason.encode()) <= 500


def test_a_refused_signature_is_not_repeated_with_its_request() -> None:
    said = "The Canonical String should have been 'POST x-amz-security-token:IQoJb3JpZ2luX2VjE'"

    assert "IQoJ" not in outcome_of(refusal("SignatureDoesNotMatch", said, 403)).reason


URL = "https://email.eu-central-1.amazonaws.com/v2/email/outbound-emails"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (boto.EndpointConnectionError(endpoint_url=URL), OutcomeKind.OUTAGE),
        (boto.ConnectTimeoutError(endpoint_url=URL), OutcomeKind.OUTAGE),
        (boto.SSLError(endpoint_url=URL, error="bad certificate"), OutcomeKind.OUTAGE),
        (boto.NoCredentialsError(), OutcomeKind.OUTAGE),
        (boto.ReadTimeoutError(endpoint_url=URL), OutcomeKind.AMBIGUOUS),
        (boto.ConnectionClosedError(endpoint_url=URL), OutcomeKind.AMBIGUOUS),
        (boto.HTTPClientError(error="broken"), OutcomeKind.AMBIGUOUS),
        (boto.IncompleteReadError(actual_bytes=1, expected_bytes=9), OutcomeKind.AMBIGUOUS),
    ],
)
def test_a_lost_request_is_an_outage_a_lost_answer_ambiguous(error: Exception, kind: OutcomeKind) -> None:
    outcome = outcome_of(error)

    assert outcome == Outcome(kind=kind, reason=f"SES: {type(error).__name__}")


@pytest.mark.parametrize(
    "error",
    [
        boto.UnknownServiceError(service_name="sesv2", known_service_names="ssm"),
        boto.NoRegionError(),
        ValueError("url"),
    ],
)
def test_without_a_client_mails_wait(error: Exception) -> None:
    def fail() -> FakeSes:
        raise error

    ses = SesTransport(configuration_set="", clock=FakeTime().clock, make=fail)

    assert ses.send(MAIL).kind is OutcomeKind.OUTAGE


def test_the_client_is_made_for_the_first_mail_and_kept() -> None:
    made: list[FakeSes] = []

    def make() -> FakeSes:
        made.append(FakeSes())
        return made[-1]

    ses = SesTransport(configuration_set="", clock=FakeTime().clock, make=make)
    assert made == []

    ses.send(MAIL)
    ses.send(MAIL)

    (client,) = made
    assert len(client.requests) == 2


@pytest.mark.parametrize(("pause", "closed"), [(19_000, 0), (60_000, 1), (-60_000, 1)])
def test_no_mail_goes_over_a_connection_from_before_a_pause(pause: int, closed: int) -> None:
    ses, time = FakeSes(), FakeTime()
    channel = transport(ses, time)

    channel.send(MAIL)
    time.pass_by(pause)
    channel.send(MAIL)

    assert ses.closed == closed


@pytest.fixture
def simulated_ses() -> Iterator[Callable[[], list]]:
    """SES in this process, with a sender that was verified; gives the mails it took."""
    with mock_aws():
        boto3.client("sesv2").create_email_identity(EmailIdentity="lago@example.org")
        yield lambda: get_backend("ses")["123456789012"]["eu-central-1"].sent_messages


def test_ses_takes_the_real_request(simulated_ses: Callable[[], list]) -> None:
    ses = SesTransport(configuration_set="", clock=FakeTime().clock)

    assert ses.send(MAIL) == DELIVERED

    (mail,) = simulated_ses()
    assert mail.destinations == [ANNA]
    assert message_from_string(mail.raw_data)["Subject"] == "Hi"


def test_the_client_asks_once_and_waits_briefly() -> None:
    client: Any = make_client()
    config = client.meta.config

    assert config.retries["total_max_attempts"] == 1
    assert 1000 * (config.connect_timeout + config.read_timeout) <= SesTransport.timeout


def test_a_closed_client_goes_on(simulated_ses: Callable[[], list]) -> None:
    time = FakeTime()
    ses = SesTransport(configuration_set="", clock=time.clock)

    ses.send(MAIL)
    time.pass_by(60_000)

    assert ses.send(MAIL) == DELIVERED
    assert len(simulated_ses()) == 2
