"""Mail to SES over real HTTP, through botocore as it is: what is asked once is asked once."""

import socket

import pytest

from lago.channels.email.ses import SesTransport
from lago.channels.email.transport import Mail
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from tests.channels.mail_servers import Script, scripted
from tests.unit.telegram.builders import FakeTime

MAIL = Mail(sender="lago@example.org", recipient="anna@example.org", content=b"Subject: Hi\r\n\r\nHello\r\n")


class Far:
    """Counts requests, answers each the same: an HTTP status with a body, or nothing."""

    def __init__(self, status: str = "", body: str = "", error: str = "") -> None:
        self._status, self._body, self._error = status, body, error
        self.requests: list[bytes] = []

    def __call__(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as lines:
            self.requests.append(lines.readline())
            length = 0
            while (line := lines.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            lines.read(length)
        if self._status:
            error = f"x-amzn-errortype: {self._error}\r\n" if self._error else ""
            head = f"HTTP/1.1 {self._status}\r\n{error}content-length: {len(self._body)}\r\nconnection: close\r\n\r\n"
            connection.sendall(f"{head}{self._body}".encode())
        connection.close()


def outcome_of(script: Script, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    with scripted(script) as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", f"http://127.0.0.1:{port}")
        return SesTransport(configuration_set="", clock=FakeTime().clock).send(MAIL)


@pytest.mark.parametrize(
    ("far", "kind"),
    [
        (Far("200 OK", '{"MessageId": "m1"}'), OutcomeKind.DELIVERED),
        (Far("500 Broken", "{}"), OutcomeKind.OUTAGE),
        (Far("503 Away", "<html>"), OutcomeKind.OUTAGE),
        (
            Far("429 Slow", '{"message": "Maximum sending rate exceeded."}', "TooManyRequestsException"),
            OutcomeKind.GATE,
        ),
        (Far("400 Bad", '{"message": "Illegal address"}', "BadRequestException"), OutcomeKind.DESTINATION),
        (Far("200 OK", "not JSON"), OutcomeKind.AMBIGUOUS),
        (Far(), OutcomeKind.AMBIGUOUS),
    ],
)
def test_each_answer_has_its_class_and_is_asked_for_once(
    far: Far, kind: OutcomeKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert outcome_of(far, monkeypatch).kind is kind
    assert far.requests == [b"POST /v2/email/outbound-emails HTTP/1.1\r\n"]


def test_nobody_listening_is_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", "http://127.0.0.1:9")

    outcome = SesTransport(configuration_set="", clock=FakeTime().clock).send(MAIL)

    assert outcome == Outcome(kind=OutcomeKind.OUTAGE, reason="SES: EndpointConnectionError")


def test_one_transport_serves_many_mails(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Far("200 OK", '{"MessageId": "m1"}')
    with scripted(far) as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", f"http://127.0.0.1:{port}")
        ses = SesTransport(configuration_set="", clock=FakeTime().clock)

        assert [ses.send(MAIL) for _ in range(3)] == [DELIVERED] * 3
