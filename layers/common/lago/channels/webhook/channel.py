"""Webhook: one message as one signed CloudEvent, posted to a URL that a person gave, and a classified outcome back.

The id in the event and in its header is a function of what is told, so that a receiver recognises what it was sent
twice: after an answer that was lost, Lago sends again.
"""

from lago.channels.pace import Pace
from lago.channels.post import post, secret_parts
from lago.channels.rendering import rendered
from lago.channels.webhook.answer import judge
from lago.channels.webhook.payload import CONTENT_TYPE, cloud_event, event_id
from lago.channels.webhook.secret import read_secret
from lago.channels.webhook.signature import signed_headers
from lago.domain.ids import Clock, Milliseconds, Sleep
from lago.domain.notification import Destination, Message
from lago.domain.outcome import Outcome, OutcomeKind
from lago.errors import BadInputError
from lago.http import HttpClient

SPACING = Milliseconds(200)
OVERALL_SPACING = Milliseconds(50)
LONGEST_REQUEST = Milliseconds(12_000)
"""As `http_backend.LONGEST_REQUEST`: with the limits that a guarded client has by default."""
_LONGEST_TURN = Milliseconds(1_000)
_USER_AGENT = "Lago-Webhook/1"


class WebhookChannel:
    """Sends through `client`, which has to be a guarded one (`http_backend.guarded_client`). Thread-safe.

    `longest_request` is the longest that `client` lets one request take.
    """

    name = "webhook"

    def __init__(
        self, client: HttpClient, *, clock: Clock, sleep: Sleep, longest_request: Milliseconds = LONGEST_REQUEST
    ) -> None:
        self._client, self._clock = client, clock
        self._pace = Pace(OVERALL_SPACING, clock=clock, sleep=sleep)
        self.timeout = Milliseconds(longest_request + _LONGEST_TURN)

    def spacing(self, address: str) -> Milliseconds:  # noqa: ARG002 (the same for every host)
        """Five messages a second to an endpoint."""
        return SPACING

    def send(self, destination: Destination, secret: str, message: Message) -> Outcome:  # noqa: ARG002 (the secret tells)
        """Post `message` to the URL in `secret`, signed with all of its keys. Never raises."""
        try:
            webhook = read_secret(secret)
        except BadInputError:
            text = "the webhook's URL and keys are missing or cannot be read: add the destination again"
            return Outcome(kind=OutcomeKind.OUTAGE, reason=text)
        event = rendered(lambda: (event_id(message), cloud_event(message)))
        if isinstance(event, Outcome):
            return event
        identity, body = event
        self._pace.wait()
        headers = {
            "content-type": CONTENT_TYPE,
            "user-agent": _USER_AGENT,
            **signed_headers(identity, body, webhook.keys, self._clock()),
        }
        secrets = (*secret_parts(webhook.url), *webhook.keys)
        ended = post(self._client, webhook.url, service="Webhook", content=body, headers=headers, secrets=secrets)
        return ended if isinstance(ended, Outcome) else judge(ended, now=self._clock(), secrets=secrets)
