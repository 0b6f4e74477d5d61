"""What every channel offers."""

from typing import Protocol

from lago.domain.ids import Milliseconds
from lago.domain.notification import Destination, Message
from lago.domain.outcome import Outcome


class Channel(Protocol):
    """Sends one message and says how it ended. Never raises for what the far side or the network does."""

    name: str
    timeout: Milliseconds
    """The longest that one `send` can take, fallbacks included: a lease must outlast it."""

    def spacing(self, address: str) -> Milliseconds:
        """The least time between two sends to this address."""
        ...

    def send(self, destination: Destination, secret: str, message: Message) -> Outcome:
        """`secret` is the credential itself (a bot token): it appears in no log, error or outcome."""
        ...
