"""How a mail leaves the house: SES, or a mail server."""

from typing import Protocol

from msgspec import Struct

from lago.domain.ids import Milliseconds
from lago.domain.outcome import Outcome


class Mail(Struct, frozen=True, kw_only=True):
    """A finished mail: two plain addresses for the envelope, and the bytes, lines ending in CRLF."""

    sender: str
    recipient: str
    content: bytes


class Transport(Protocol):
    """Hands over one mail and says what became of it. Never raises."""

    timeout: Milliseconds
    """The longest that one `send` can take."""

    def send(self, mail: Mail) -> Outcome:
        """DELIVERED says that the far side took the mail over: whether it bounces later, `feedback` tells."""
        ...
