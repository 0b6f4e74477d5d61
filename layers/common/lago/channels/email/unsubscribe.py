"""The link under every mail that ends it. Pure.

A link names its destination and proves with a keyed hash that Lago wrote it: nobody can unsubscribe somebody else. The
key is the destination's own and part of its secret, so a link stays good for as long as the destination exists.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from lago.domain.ids import DestinationId

KEY_BYTES = 32


class MailSecret(Struct, frozen=True, kw_only=True):
    """What the secret store holds of a mail destination, as JSON."""

    unsubscribe_key: str


def new_secret(random_bytes: bytes) -> str:
    """The secret of a new destination."""
    return msgspec.json.encode(MailSecret(unsubscribe_key=_text(random_bytes))).decode()


def key_of(secret: str) -> str:
    """The key in a destination's secret; "" when the secret is none of ours. Never raises."""
    try:
        return msgspec.json.decode(secret.strip(), type=MailSecret).unsubscribe_key
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ""


def token(key: str, destination: DestinationId) -> str:
    """What proves that a link to unsubscribe `destination` is ours: 43 characters."""
    return _text(hmac.digest(key.encode(), f"unsubscribe\n{destination}".encode(), hashlib.sha256))


def is_token(given: str, key: str, destination: DestinationId) -> bool:
    """Whether `given` is the token, compared in constant time. An empty key has no token."""
    expected = token(key, destination)
    return bool(key) and hmac.compare_digest(given.encode(errors="replace"), expected.encode())


def link(api_url: str, destination: DestinationId, key: str) -> str:
    """Where a reader unsubscribes; "" when the API's public address or the key is not known."""
    if not api_url or not key:
        return ""
    query = urlencode({"d": destination, "t": token(key, destination)}, quote_via=quote, safe="")
    return f"{api_url.rstrip('/')}/unsubscribe?{query}"


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
