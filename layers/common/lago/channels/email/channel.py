"""Mail as a channel: writes the mail, hands it to a transport, passes on what became of it."""

import logging
from collections.abc import Callable

from lago.channels.email.letter import write_letter
from lago.channels.email.mail import Sender, mail_id, sender_of, write_mail
from lago.channels.email.target import mail_address
from lago.channels.email.transport import Mail, Transport
from lago.channels.email.unsubscribe import key_of, link
from lago.channels.rendering import rendered
from lago.domain.ids import Clock, Milliseconds
from lago.domain.notification import Destination, Message
from lago.domain.outcome import Outcome, OutcomeKind
from lago.errors import BadInputError, LagoError

_log = logging.getLogger("lago.email")

SPACING = Milliseconds(1_000)
"""SES lets a new account send one mail a second."""
PREPARING = Milliseconds(2_000)
"""What writing a mail may take; asking for the API's address is part of it, every few minutes."""
RETURNED = Milliseconds(1_000)
"""How soon a mail comes again for which that took longer: the address is known then."""


class EmailChannel:
    """Sends through `transport`. Thread-safe when that is.

    `mail_from` is the sender, as `lago@example.org` or `Lago <lago@example.org>`; without one, mails wait. `api_url`
    gives the REST API's public address, under which readers unsubscribe, or "": then mails have no link for it. Raises
    SettingError for a `mail_from` that is no address.
    """

    name = "email"

    def __init__(self, transport: Transport, *, mail_from: str, api_url: Callable[[], str], clock: Clock) -> None:
        self._transport, self._api_url, self._clock = transport, api_url, clock
        self._sender: Sender | None = sender_of(mail_from) if mail_from.strip() else None
        self.timeout = Milliseconds(PREPARING + transport.timeout)

    def spacing(self, address: str) -> Milliseconds:  # noqa: ARG002 (as every channel has it)
        """The same for every address."""
        return SPACING

    def send(self, destination: Destination, secret: str, message: Message) -> Outcome:
        """Send `message` to the address of `destination`; `secret` holds its key to unsubscribe. Never raises.

        A key or an address that can't be read costs the link, not the mail.
        """
        if self._sender is None:
            text = "no sender is set: deploy with the parameter MailFrom"
            return Outcome(kind=OutcomeKind.OUTAGE, reason=text)
        try:
            to = mail_address(destination.address)
        except BadInputError:
            return Outcome(kind=OutcomeKind.DESTINATION, reason="not a mail address")
        sender, began = self._sender, self._clock()
        content = rendered(lambda: self._write(sender, to, destination, secret, message))
        if isinstance(content, Outcome):
            return content
        if self._clock() - began > PREPARING:
            text = "no time left to send it: Parameter Store was slow"
            return Outcome(kind=OutcomeKind.GATE, reason=text, retry_after=RETURNED)
        return self._transport.send(Mail(sender=self._sender.address, recipient=to, content=content))

    def _write(self, sender: Sender, to: str, destination: Destination, secret: str, message: Message) -> bytes:
        unsubscribe = link(self._public_address(), destination.id, key_of(secret))
        letter = write_letter(message, destination.time_zone, unsubscribe)
        id_ = mail_id(notification.id for notification in message.notifications)
        return write_mail(letter, sender, to, id_=id_, now=self._clock(), unsubscribe=unsubscribe)

    def _public_address(self) -> str:
        try:
            return self._api_url().strip()
        except LagoError as error:
            _log.warning("mails have no link to unsubscribe", extra={"reason": str(error)})
            return ""
