"""A service that Apprise reaches: the whole URL is the secret, its schema is shown."""

from lago.channels.apprise.url import AppriseUrl, parse
from lago.channels.target import RandomBytes, Target, TargetSpec
from lago.errors import BadInputError


def make(given: str, _random: RandomBytes) -> Target:
    """The target of a URL; whether its service likes it, the first message tells. Raises BadInputError."""
    url = parse(given)
    if not isinstance(url, AppriseUrl):
        raise BadInputError("apprise", "something else" if given.strip() else "nothing", url)
    return Target(address=url.schema, secret=url.text)


TARGET = TargetSpec(
    channel="apprise",
    asks="an Apprise URL (appriseit.com/services lists how each service's looks)",
    private=True,
    make=make,
)
