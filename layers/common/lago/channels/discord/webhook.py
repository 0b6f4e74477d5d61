"""What is in a Discord webhook's URL (docs.discord.com/developers/resources/webhook)."""

import re

from msgspec import Struct

_WEBHOOK = re.compile(
    r"https://(?:(?:canary|ptb)\.)?discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/(\d{15,22})/([A-Za-z0-9_-]{20,150})/?"
    r"(?:\?(?P<query>[a-z0-9_=&]*))?",
    re.ASCII,
)
_THREAD = re.compile(r"(?:^|&)thread_id=(\d{15,22})(?:&|$)", re.ASCII)


class Webhook(Struct, frozen=True, kw_only=True):
    """`token` is the secret part; `thread` is empty for the channel itself."""

    id: str
    token: str
    thread: str = ""

    def url(self, api_url: str) -> str:
        """Where to post, at version 10 of the API; `wait`, so that the answer tells what became of the message."""
        thread = f"&thread_id={self.thread}" if self.thread else ""
        return f"{api_url}/api/v10/webhooks/{self.id}/{self.token}?wait=true{thread}"


def parse(url: str) -> Webhook | None:
    """The webhook of a URL on one of Discord's hosts; None for anything else."""
    found = _WEBHOOK.fullmatch(url)
    if not found:
        return None
    query = found["query"] or ""
    thread = _THREAD.search(query)
    if "thread_id" in query and not thread:
        return None
    return Webhook(id=found[1], token=found[2], thread=thread[1] if thread else "")
