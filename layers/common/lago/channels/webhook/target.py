"""A webhook as a person gives it: its URL. The key that it is signed with is made here and told once."""

from functools import partial

from lago.channels.target import RandomBytes, Target, TargetSpec
from lago.channels.webhook.secret import WebhookSecret, new_key, write_secret
from lago.http_guard import NONE_TRUSTED, Trusted, check_url


def make_target(given: str, random_bytes: RandomBytes, *, trusted: Trusted = NONE_TRUSTED) -> Target:
    """Raises BadInputError for a URL that must not be asked; it says at most the host."""
    address = check_url(given, trusted)
    key = new_key(random_bytes)
    return Target(
        address=address.origin.host,
        secret=write_secret(WebhookSecret(url=address.url, keys=(key,))),
        show=f"What Lago sends there is signed with this key, which is not shown again: {key}",
    )


def target_spec(trusted: Trusted) -> TargetSpec:
    """With the owner's own servers exempt from the rules for URLs."""
    return TargetSpec(
        channel="webhook",
        asks="the URL that messages are posted to (https://…)",
        private=True,
        make=partial(make_target, trusted=trusted),
    )


TARGET = target_spec(NONE_TRUSTED)
