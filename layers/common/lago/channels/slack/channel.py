"""Slack: one message to one channel through its incoming webhook, and a classified outcome back."""

import re
from functools import partial

from lago.channels.posting import LONGEST_REQUEST, Posting
from lago.channels.slack import blocks
from lago.channels.slack.answer import judge
from lago.domain.ids import Clock, Milliseconds
from lago.domain.notification import Destination, Message
from lago.domain.outcome import Outcome, OutcomeKind
from lago.http import HttpClient

SPACING = Milliseconds(1_000)
"""One message a second and webhook (docs.slack.dev/apis/web-api/rate-limits)."""
API_URL = "https://hooks.slack.com"

_PATH = re.compile(r"/services/\w{2,30}/\w{2,30}/\w{1,100}", re.ASCII)
_HEADERS = {"content-type": "application/json; charset=utf-8"}


class SlackChannel:
    """Sends through `client`. Thread-safe.

    Only Slack's own hosts are posted to, whatever a secret says. An `api_url` of another origin stands in for them.
    """

    name = "slack"

    def __init__(
        self,
        client: HttpClient,
        *,
        clock: Clock,
        api_url: str = API_URL,
        longest_request: Milliseconds = LONGEST_REQUEST,
    ) -> None:
        self._clock = clock
        stand_in = api_url.rstrip("/")
        own = (API_URL, "https://hooks.slack-gov.com")
        self._origins = {origin: origin if stand_in == API_URL else stand_in for origin in own} | {stand_in: stand_in}
        self._posting = Posting(client, service="Slack", clock=clock, longest_request=longest_request)
        self.timeout = self._posting.timeout

    def spacing(self, address: str) -> Milliseconds:  # noqa: ARG002 (the same for every webhook)
        """1 message a second."""
        return SPACING

    def send(self, destination: Destination, secret: str, message: Message) -> Outcome:
        """Post `message` to the webhook whose URL is `secret`. Never raises."""
        url = self._url(secret.strip())
        if not url:
            problem = "is not the URL of a Slack webhook" if secret.strip() else "is missing"
            text = f"the destination's secret {problem}: add the destination anew"
            return Outcome(kind=OutcomeKind.DESTINATION, reason=text)
        secrets = (secret.strip(), url, url.rpartition("/")[2])
        return self._posting.send(
            url,
            partial(blocks.forms, message, destination.time_zone),
            headers=_HEADERS,
            judge=lambda reply: judge(reply, now=self._clock(), secrets=secrets),
            secrets=secrets,
        )

    def _url(self, given: str) -> str:
        """Where to post; "" for what is no webhook of Slack's."""
        origin, found, path = given.rstrip("/").partition("/services/")
        if origin not in self._origins or not _PATH.fullmatch(found + path):
            return ""
        return f"{self._origins[origin]}{found}{path}"
