"""A channel's webhook as Discord shows it: the whole URL is the secret."""

from lago.channels.discord.webhook import parse
from lago.channels.target import RandomBytes, Target, TargetSpec
from lago.errors import BadInputError

_EXPECTED = "a webhook's URL, https://discord.com/api/webhooks/…/…"


def make(given: str, _random: RandomBytes) -> Target:
    """The target of a pasted URL. Raises BadInputError, which repeats nothing of it."""
    url = given.strip().strip("<>")
    webhook = parse(url)
    if webhook is None:
        raise BadInputError("discord", "something else" if url else "nothing", _EXPECTED)
    # The id is no key without the token, and tells two webhooks apart.
    thread = f" (thread {webhook.thread})" if webhook.thread else ""
    return Target(address=f"discord.com/api/webhooks/{webhook.id}{thread}", secret=url)


TARGET = TargetSpec(
    channel="discord",
    asks="the URL of a channel's webhook (channel settings → Integrations → Webhooks → Copy Webhook URL)",
    private=True,
    make=make,
)
