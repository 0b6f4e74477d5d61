"""Mail destinations, a transport that keeps what it is given, and mails read back as a mail program reads them."""

from email import message_from_bytes, policy
from email.message import EmailMessage

from lago.channels.email.channel import EmailChannel
from lago.channels.email.transport import Mail
from lago.channels.email.unsubscribe import new_secret
from lago.domain.ids import DestinationId, Milliseconds, OwnerId
from lago.domain.notification import Destination, Message
from lago.domain.outcome import DELIVERED, Outcome
from tests.unit.telegram.builders import FakeTime

API = "https://abcdefghij.execute-api.eu-central-1.amazonaws.com/Prod"
ANNA = "anna@example.org"
SECRET = new_secret(bytes(range(32)))


def a_reader(address: str = ANNA, **changes: object) -> Destination:
    fields = {
        "id": DestinationId("anna"),
        "owner": OwnerId("o1"),
        "channel": "email",
        "address": address,
        "credentials": "/lago/secrets/anna",
    }
    return Destination(**fields | changes)


class FakeTransport:
    """Takes every mail over, or says what it was made to say."""

    timeout = Milliseconds(5_000)

    def __init__(self, outcome: Outcome = DELIVERED) -> None:
        self._outcome = outcome
        self.mails: list[Mail] = []

    def send(self, mail: Mail) -> Outcome:
        self.mails.append(mail)
        return self._outcome


def a_channel(transport: FakeTransport, mail_from: str = "lago@example.org", api_url: str = API) -> EmailChannel:
    return EmailChannel(transport, mail_from=mail_from, api_url=lambda: api_url, clock=FakeTime().clock)


def sent(message: Message, secret: str = SECRET, api_url: str = API) -> EmailMessage:
    """What arrives when `message` is sent to Anna."""
    transport = FakeTransport()
    assert a_channel(transport, api_url=api_url).send(a_reader(), secret, message) == DELIVERED
    return parsed(transport.mails[0].content)


def parsed(content: bytes) -> EmailMessage:
    mail = message_from_bytes(content, policy=policy.default)
    assert isinstance(mail, EmailMessage)
    return mail


def body(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body((kind,))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")
