"""An incoming webhook as Slack shows it: the whole URL is the secret."""

import re

from lago.channels.target import RandomBytes, Target, TargetSpec
from lago.errors import BadInputError

_WEBHOOK = re.compile(
    r"https://(?P<host>hooks\.slack(?:-gov)?\.com)/services/(?P<team>[TE][A-Z0-9]{2,20})/B[A-Z0-9]{2,20}/[A-Za-z0-9]{8,64}/?",
    re.ASCII,
)
_EXPECTED = "an incoming webhook's URL, https://hooks.slack.com/services/T…/B…/…"


def make(given: str, _random: RandomBytes) -> Target:
    """The target of a pasted URL. Raises BadInputError, which repeats nothing of it."""
    url = given.strip().strip("<>")
    found = _WEBHOOK.fullmatch(url)
    if not found:
        kind = "a workflow's URL" if "/triggers/" in url or "/workflows/" in url else "something else"
        raise BadInputError("slack", kind if url else "nothing", _EXPECTED)
    # The team's id is no key to anything, and tells two webhooks apart.
    return Target(address=f"{found['host']}/services/{found['team']}", secret=url.rstrip("/"))


TARGET = TargetSpec(
    channel="slack",
    asks="the URL of an incoming webhook (api.slack.com/apps → Incoming Webhooks → Add New Webhook)",
    private=True,
    make=make,
)
