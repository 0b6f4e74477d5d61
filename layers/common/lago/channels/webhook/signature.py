"""Signatures by the Standard Webhooks convention (standard-webhooks.md, "Signature scheme" and "Webhook headers")."""

import hmac
from base64 import b64encode
from collections.abc import Sequence

from lago.channels.webhook.secret import key_bytes
from lago.domain.ids import EpochMs


def signed_headers(identity: str, body: bytes, keys: Sequence[str], now: EpochMs) -> dict[str, str]:
    """The headers that tell `body` from a forged, changed or replayed one. `identity` holds no full stop.

    `now` is the time of the attempt: a retry is signed anew, under the same `identity`.
    """
    seconds = str(now // 1000)
    signed = b".".join((identity.encode(), seconds.encode(), body))
    signatures = (hmac.digest(key_bytes(key), signed, "sha256") for key in keys)
    return {
        "webhook-id": identity,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{b64encode(signature).decode()}" for signature in signatures),
    }
