"""Text that may be stored, logged and shown: one line, short, without secrets.

Reasons are made of what other systems say (an error text, an answer's description), and those like to quote the
request: a Telegram URL holds the bot token, a Slack URL is a secret as a whole, a pasted search URL tells what a person
looks for. So of every URL only scheme and host stay.
"""

import re
import unicodedata
from hashlib import blake2b
from urllib.parse import quote

REASON_BYTES = 500
"""Upper bound of a reason in UTF-8 (the queue's rows are billed by size)."""

REMOVED = "[removed]"
"""Stands where a secret was."""

_URL = re.compile(r"(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,15}+://)([^\s\"'<>]*)", re.IGNORECASE)
_URL_AUTHORITY = re.compile(r"[^/?#\\]*")
_MAIL = re.compile(r"[^\s\"'<>:,;=@]{1,100}@[^\s\"'<>:,;=@]{1,100}")
_QUERY_STRING = re.compile(r"\?[^\s?=]*+=\S*")
_SECRETS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<!\d)\d{5,}+(?::|%3A)[A-Za-z0-9_-]{20,}",  # Telegram bot token
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",  # AWS access key id
        r"\bxox[a-z]-[A-Za-z0-9-]{8,}",  # Slack token
        r"\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}",
        r"\b(?:authorization|x-api-key)[\"']?\s*[:=]\s*[\"']?\S+",
        r"(?:token|secret|password|passwd|api_?key|access_?key|signature)[\"']?=[\"']?[^\s&\"']+",
        r"[\"'](?:token|secret|password|passwd|api_?key|access_?key|signature)[\"']\s*:\s*[\"'][^\"']*[\"']",
        r"(?<![^\s/])[^\s/:@]{1,100}:[^\s/@]{1,100}@",  # user:password@ without a scheme
    )
)


def reason(text: str, *secrets: str, limit: int = REASON_BYTES) -> str:
    """`text` on one line, without URLs' paths and queries, `secrets` and what looks like one; at most `limit` bytes.

    `secrets` are known ones, of any shape; empty ones are ignored. A cut text ends in "…".

    >>> reason("POST https://api.telegram.org/bot123456:AAEhBOweik6ad9rHZQ3lk0dF4tF5lZ0d2bW/sendMessage failed")
    'POST https://api.telegram.org/… failed'
    """
    line = _one_line(text)
    for secret in sorted(filter(None, map(_one_line, secrets)), key=len, reverse=True):
        line = line.replace(secret, REMOVED).replace(quote(secret, safe=""), REMOVED)
    return _cut(_without_secrets(line), limit)


def masked(text: str) -> str:
    """`text` for the log: without URLs' paths and queries, what looks like a secret, and mail addresses; lines stay.

    >>> masked("550 <maria@example.org> unknown")
    '550 <[removed]> unknown'
    """
    return _MAIL.sub(REMOVED, _without_secrets(text))


def hashed(destination: str) -> str:
    """A short digest that stands for a destination in the log: the same for the same one, and telling nothing.

    >>> hashed("me")
    '9ab21c6d'
    """
    return blake2b(destination.encode(errors="replace"), digest_size=4).hexdigest()


def _without_secrets(text: str) -> str:
    text = _URL.sub(_origin, text)
    text = _QUERY_STRING.sub("", text)
    for pattern in _SECRETS:
        text = pattern.sub(REMOVED, text)
    return text


def _one_line(text: str) -> str:
    """Without control, invisible and unpaired characters: a secret must not hide behind one, nor a line be forged."""
    kept = (c for c in text if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join("".join(kept).split())


def _origin(url: re.Match[str]) -> str:
    """Scheme and host of a URL, with an ellipsis for what was left out. Never raises, unlike a URL parser."""
    scheme, rest = url.groups()
    authority = _URL_AUTHORITY.match(rest)
    host = authority[0] if authority else ""
    left_out = rest[len(host) :].strip("/")
    return f"{scheme}{host.rpartition('@')[2]}" + ("/…" if left_out else "")


def _cut(text: str, limit: int) -> str:
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    ellipsis = "…"
    room = max(limit - len(ellipsis.encode()), 0)
    return encoded[:room].decode(errors="ignore").rstrip() + ellipsis
