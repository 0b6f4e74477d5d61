"""Discord: one message to one channel or thread through its webhook, and a classified outcome back."""

from functools import partial

from lago.channels.discord import embeds
from lago.channels.discord.answer import judge
from lago.channels.discord.webhook import parse
from lago.channels.posting import LONGEST_REQUEST, Posting
from lago.domain.ids import Clock, Milliseconds
from lago.domain.notification import Destination, Message
from lago.domain.outcome import Outcome, OutcomeKind
from lago.http import HttpClient

SPACING = Milliseconds(2_000)
"""Webhooks may post 5 times in 2 s each, and 30 times a minute into one channel: the second is the stricter."""
API_URL = "https://discord.com"

_HEADERS = {
    "content-type": "application/json",
    # without an agent of this form Discord's edge may answer 403 (docs.discord.com/developers/reference#user-agent)
    "user-agent": "DiscordBot (lago, 1)",
}


class DiscordChannel:
    """Sends through `client`. Thread-safe.

    Of a secret only the webhook's id, token and thread are used: what is posted to is `api_url` alone.
    """

    name = "discord"

    def __init__(
        self,
        client: HttpClient,
        *,
        clock: Clock,
        api_url: str = API_URL,
        longest_request: Milliseconds = LONGEST_REQUEST,
    ) -> None:
        self._clock = clock
        self._api_url = api_url.rstrip("/")
        self._posting = Posting(client, service="Discord", clock=clock, longest_request=longest_request)
        self.timeout = self._posting.timeout

    def spacing(self, address: str) -> Milliseconds:  # noqa: ARG002 (the same for every webhook)
        """30 messages a minute."""
        return SPACING

    def send(self, destination: Destination, secret: str, message: Message) -> Outcome:
        """Post `message` to the webhook whose URL is `secret`. Never raises."""
        webhook = parse(secret.strip())
        if webhook is None:
            problem = "is not the URL of a Discord webhook" if secret.strip() else "is missing"
            text = f"the destination's secret {problem}: add the destination anew"
            return Outcome(kind=OutcomeKind.DESTINATION, reason=text)
        secrets = (secret.strip(), webhook.token)
        return self._posting.send(
            webhook.url(self._api_url),
            partial(embeds.forms, message, destination.time_zone),
            headers=_HEADERS,
            judge=lambda reply: judge(reply, now=self._clock(), secrets=secrets),
            secrets=secrets,
        )
