"""ntfy: one message published to one topic as JSON (docs.ntfy.sh/publish), and a classified outcome back.

A request whose answer was lost ends as AMBIGUOUS and may be sent again: ntfy has no key to recognise a repetition by.
"""

from lago.channels.ntfy.answer import judge
from lago.channels.ntfy.publication import publication
from lago.channels.ntfy.target import read_secret
from lago.channels.pace import Pace
from lago.channels.post import post, secret_parts
from lago.channels.rendering import rendered
from lago.domain.ids import Clock, Milliseconds, Sleep
from lago.domain.notification import Destination, Message
from lago.domain.outcome import Outcome, OutcomeKind
from lago.errors import BadInputError
from lago.http import HttpClient

SPACING = Milliseconds(1_000)
"""ntfy.sh lets a visitor send 60 at once and then one every five seconds (docs.ntfy.sh/publish, limitations)."""
OVERALL_SPACING = Milliseconds(100)
LONGEST_REQUEST = Milliseconds(12_000)
"""As `http_backend.LONGEST_REQUEST`: with the limits that a guarded client has by default."""
_LONGEST_TURN = Milliseconds(1_000)


class NtfyChannel:
    """Publishes through `client`, which has to be a guarded one (`http_backend.guarded_client`). Thread-safe.

    `longest_request` is the longest that `client` lets one request take.
    """

    name = "ntfy"

    def __init__(
        self, client: HttpClient, *, clock: Clock, sleep: Sleep, longest_request: Milliseconds = LONGEST_REQUEST
    ) -> None:
        self._client, self._clock = client, clock
        self._pace = Pace(OVERALL_SPACING, clock=clock, sleep=sleep)
        self.timeout = Milliseconds(longest_request + _LONGEST_TURN)

    def spacing(self, address: str) -> Milliseconds:  # noqa: ARG002 (the same for every server)
        """One message a second to a topic."""
        return SPACING

    def send(self, destination: Destination, secret: str, message: Message) -> Outcome:
        """Publish `message` to the topic in `secret`. Never raises."""
        try:
            topic = read_secret(secret)
        except BadInputError:
            text = "the topic's URL is missing or cannot be read: add the destination again"
            return Outcome(kind=OutcomeKind.OUTAGE, reason=text)
        body = rendered(lambda: publication(message, topic.topic, destination.time_zone))
        if isinstance(body, Outcome):
            return body
        self._pace.wait()
        headers = {"content-type": "application/json"}
        if topic.token:
            headers["authorization"] = f"Bearer {topic.token}"
        secrets = (*secret_parts(topic.url), topic.token)
        ended = post(self._client, topic.server, service="ntfy", content=body, headers=headers, secrets=secrets)
        return ended if isinstance(ended, Outcome) else judge(ended, now=self._clock(), secrets=secrets)
