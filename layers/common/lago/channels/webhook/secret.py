"""What is kept of a webhook in the secret store: its URL, and the keys that sign what is sent there.

The form of keys is that of Standard Webhooks (standard-webhooks.md, "Signature scheme"): `whsec_` and 24 to 64 random
bytes in base64. Every key signs, so that a new one can be told to the far side before the old one is forgotten.
"""

import binascii
from base64 import b64decode, b64encode

import msgspec
from msgspec import Struct

from lago.channels.target import RandomBytes
from lago.errors import BadInputError

PREFIX = "whsec_"
KEPT_KEYS = 2
_NEW_BYTES = 32
_FEWEST_BYTES, _MOST_BYTES = 24, 64


class WebhookSecret(Struct, frozen=True, kw_only=True):
    """`keys` has the newest first and at least one."""

    url: str
    keys: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raises ValueError, without the keys, for keys that could not sign."""
        if not self.url or not self.keys or not all(map(_is_key, self.keys)):
            raise ValueError("a URL and keys are needed")


def new_key(random_bytes: RandomBytes) -> str:
    """A key as it is told to the person."""
    return PREFIX + b64encode(random_bytes(_NEW_BYTES)).decode()


def key_bytes(key: str) -> bytes:
    """What signs. Raises ValueError for what is no key."""
    if not key.startswith(PREFIX):
        raise ValueError("no key")
    try:
        decoded = b64decode(key.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise ValueError("no key") from None
    if not _FEWEST_BYTES <= len(decoded) <= _MOST_BYTES:
        raise ValueError("no key")
    return decoded


def read_secret(secret: str) -> WebhookSecret:
    """Raises BadInputError, without the secret, for what `write_secret` cannot have written."""
    try:
        return msgspec.json.decode(secret.strip(), type=WebhookSecret)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        problem = "cannot be read" if secret.strip() else "is empty"
        raise BadInputError(
            "secret", f"one that {problem}", "a webhook's URL and keys: add the webhook again"
        ) from None


def write_secret(secret: WebhookSecret) -> str:
    """As JSON, for the secret store."""
    return msgspec.json.encode(secret).decode()


def rotated(secret: str, random_bytes: RandomBytes) -> str:
    """`secret` with a new key before the newest, which signs on until the next rotation; older ones are forgotten.

    `newest_key` is what to tell the person. Raises BadInputError for a secret that cannot be read.
    """
    old = read_secret(secret)
    keys = (new_key(random_bytes), *old.keys[: KEPT_KEYS - 1])
    return write_secret(WebhookSecret(url=old.url, keys=keys))


def newest_key(secret: str) -> str:
    """The key to check signatures with from now on. Raises BadInputError for a secret that cannot be read."""
    return read_secret(secret).keys[0]


def _is_key(key: str) -> bool:
    try:
        key_bytes(key)
    except ValueError:
        return False
    return True
