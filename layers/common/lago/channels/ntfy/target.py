"""An ntfy topic as a person gives it: its URL, with an access token where the topic is protected.

Who knows a topic's name may read it (docs.ntfy.sh/publish: "the topic is essentially a password"), so the whole URL is
kept as a secret, and only the server's name is shown.
"""

import re
from functools import partial

import msgspec
from msgspec import Struct

from lago.channels.target import RandomBytes, Target, TargetSpec
from lago.errors import BadInputError
from lago.http_guard import NONE_TRUSTED, Trusted, check_url

_NAME = "[-_A-Za-z0-9]{1,64}"
"""How topics are named (ntfy's server/server.go, topicRegex); they are right under the server's root."""
_PATH = re.compile(f"/({_NAME})/?")
_URL = re.compile(f"https?://[^/@]+/{_NAME}")
_TOKEN = re.compile(r"tk_[A-Za-z0-9]{8,64}", re.ASCII)


class NtfyTopic(Struct, frozen=True, kw_only=True):
    """What is kept in the secret store: the topic's URL without credentials, and an access token or ""."""

    url: str
    token: str = ""

    def __post_init__(self) -> None:
        """Raises ValueError, without them, for a URL or a token that are none."""
        if not _URL.fullmatch(self.url) or (self.token and not _TOKEN.fullmatch(self.token)):
            raise ValueError("a topic's URL is needed")

    @property
    def server(self) -> str:
        """The root, where JSON is published."""
        return self.url.rpartition("/")[0] + "/"

    @property
    def topic(self) -> str:
        """The topic's name."""
        return self.url.rpartition("/")[2]


def read_secret(secret: str) -> NtfyTopic:
    """Raises BadInputError, without the secret, for what `make_target` cannot have written."""
    try:
        return msgspec.json.decode(secret.strip(), type=NtfyTopic)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        problem = "cannot be read" if secret.strip() else "is empty"
        raise BadInputError("secret", f"one that {problem}", "an ntfy topic's URL: add the topic again") from None


def make_target(given: str, _random_bytes: RandomBytes, *, trusted: Trusted = NONE_TRUSTED) -> Target:
    """Raises BadInputError for what is no topic or must not be asked; it says at most the host."""
    address = check_url(given, trusted, credentials=True)
    host = address.origin.host
    topic = _PATH.fullmatch(address.target)
    if topic is None:
        raise BadInputError("url", host, "a topic's URL such as https://ntfy.sh/my-topic")
    # The token may stand in either place of https://user:password@host; a name and a password are not taken.
    token = address.password or address.user
    if (address.user and address.password) or (token and not _TOKEN.fullmatch(token)):
        raise BadInputError("url", host, "an access token such as https://:tk_…@host/topic, or none")
    kept = NtfyTopic(url=f"{address.origin}/{topic[1]}", token=token)
    return Target(address=host, secret=msgspec.json.encode(kept).decode())


def target_spec(trusted: Trusted) -> TargetSpec:
    """With the owner's own servers exempt from the rules for URLs."""
    return TargetSpec(
        channel="ntfy",
        asks="the topic's URL (https://ntfy.sh/my-topic, or https://:tk_…@host/topic with an access token)",
        private=True,
        make=partial(make_target, trusted=trusted),
    )


TARGET = target_spec(NONE_TRUSTED)
