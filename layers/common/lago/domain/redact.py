"""Text that may be stored, logged and shown: one line, short, without secrets.

Reasons are made of what other systems say (an error text, an answer's description), and those like to quote the
request: a Telegram URL holds the bot token, a Slack URL is a secret as a whole, a pasted search URL tells what a person
looks for. So of every URL only scheme and host stay.
"""

import re
import unicodedata
from collections.abc import Iterable
from hashlib import blake2b
from itertools import takewhile
from urllib.parse import quote

REASON_BYTES = 500
"""Upper bound of a reason in UTF-8 (the queue's rows are billed by size)."""

REMOVED = "[removed]"
"""Stands where a secret was."""

_URL = re.compile(r"(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,15}+://)([^\s\"'<>]*)", re.IGNORECASE)
_URL_AUTHORITY = re.compile(r"[^/?#\\]*")
_HOST = re.compile(r"(?:[^:@\[\]]*|\[[0-9a-f:.]*\])(?::\d{1,5})?", re.IGNORECASE)
_TELLING_SCHEMES = ("http://", "https://", "ws://", "wss://", "smtp://", "smtps://")
"""Whose host is a host: in Apprise's URLs a token or a topic may stand there."""
_MAIL = re.compile(r"[^\s\"'<>:,;=@]{1,100}@[^\s\"'<>:,;=@]{1,100}")
_QUERY_STRING = re.compile(r"\?[^\s?=]*+=\S*")
_NAMES = r"(?:token|secret|password|passwd|api[_-]?key|access[_-]?key|signature|credential)[\w-]{0,40}"
"""What names a secret, with what may follow: secretAccessKey, X-Amz-Signature."""
_SECRETS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bhttps?%3A(?:%2F|/){2}[^\s\"'<>]*",  # a URL within a URL
        r"%3F[^\s%]*%3D\S*",  # a query string within a URL
        r"(?<!\d)\d{5,}+(?::|%3A)[A-Za-z0-9_-]{20,}",  # Telegram bot token
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",  # AWS access key id
        r"\bxox[a-z]-[A-Za-z0-9-]{8,}",  # Slack token
        r"\bservices(?:/|%2F)[TE]\w{1,30}(?:/|%2F)\w{1,30}(?:/|%2F)\w+",  # the path of a Slack webhook
        r"\bwebhooks(?:/|%2F)\d{5,30}(?:/|%2F)[\w-]+",  # and of a Discord one
        r"\bwhsec_[A-Za-z0-9+/=_-]{8,}",  # a Standard Webhooks key
        r"\btk_[A-Za-z0-9]{8,}",  # ntfy access token
        r"\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){1,4}",  # JSON web token
        r"\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}",
        r"\b(?:authorization|x-api-key)[\"']?\s*[:=]\s*[\"']?\S+",
        _NAMES + r"[\"']?\s*=\s*[\"']?[^\s&\"']+",
        r"[\"']?" + _NAMES + r"\\?[\"']\s*:\s*\\?[\"'][^\"']*[\"']",
        r"(?<![^\s/\"'(<=,])[^\s/:@]{1,100}:[^\s/@]{1,100}@",  # user:password@ without a scheme
    )
)
_SLASH_IN_JSON = "\\/"
_PIECES = re.compile(r"[/:?&=@\s,;\"']+")
_PIECE = 16
"""Characters from which on a piece of a known secret is one by itself: the key behind a bot's number, a path's end."""
_BEGINNING = 8
"""Characters of a secret that may show: a far side cuts what it quotes, and half of a secret is still one."""


def reason(text: str, *secrets: str, limit: int = REASON_BYTES) -> str:
    """`text` on one line, without URLs' paths and queries, `secrets` and what looks like one; at most `limit` bytes.

    `secrets` are known ones, of any shape; empty ones are ignored. A cut text ends in "…".

    >>> reason("POST https://api.telegram.org/bot123456:AAEhBOweik6ad9rHZQ3lk0dF4tF5lZ0d2bW/sendMessage failed")
    'POST https://api.telegram.org/… failed'
    """
    line = _one_line(text).replace(_SLASH_IN_JSON, "/")
    known = sorted(_spellings(filter(None, map(_one_line, secrets))), key=len, reverse=True)
    for spelling in known:
        line = line.replace(spelling, REMOVED)
    line = _without_secrets(line)
    for spelling in known:
        line = _without_beginning(line, spelling)
    return _cut(line, limit)


def masked(text: str) -> str:
    """`text` for the log: without URLs' paths and queries, what looks like a secret, and mail addresses; lines stay.

    >>> masked("550 <maria@example.org> unknown")
    '550 <[removed]> unknown'
    """
    shown = "".join(c for c in text if c in "\n\t" or unicodedata.category(c)[0] != "C")
    return _MAIL.sub(REMOVED, _without_secrets(shown))


def shown(value: str, most: int = 24) -> str:
    """A setting's value for the error that refuses it: redacted, and beyond `most` characters only its length.

    What is longer than it should be may be a secret that was put into the wrong place.

    >>> shown("often"), shown("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    ("'often'", '40 characters')
    """
    return repr(reason(value)) if len(value) <= most else f"{len(value)} characters"


def hashed(destination: str) -> str:
    """A short digest that stands for a destination in the log: the same for the same one, and telling nothing.

    >>> hashed("me")
    '9ab21c6d'
    """
    return blake2b(destination.encode(errors="replace"), digest_size=4).hexdigest()


def _spellings(secrets: Iterable[str]) -> set[str]:
    """How a far side may write the secrets and their pieces: as they are, in a URL, in JSON."""
    known = set(secrets)
    known |= {piece for each in known for piece in _PIECES.split(each) if len(piece) >= _PIECE and "." not in piece}
    quoted = {quote(each, safe=safe) for each in known for safe in ("", "/")}
    return known | quoted | {re.sub("%..", _lower, each) for each in quoted} | {_in_json(each) for each in known}


def _lower(match: re.Match[str]) -> str:
    return match[0].lower()


def _in_json(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _without_beginning(line: str, secret: str) -> str:
    """The line without the secret, where only its beginning was quoted."""
    least = min(len(secret), max(_BEGINNING, len(secret) // 2))
    first, *others = line.split(secret[:least])
    left = [first]
    for rest in others:
        more = sum(1 for _ in takewhile(_same, zip(rest, secret[least:], strict=False)))
        left.append(rest[more:])
    return REMOVED.join(left)


def _same(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _without_secrets(text: str) -> str:
    text = text.replace(_SLASH_IN_JSON, "/")
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
    host = host.rpartition("@")[2]
    # a password with a slash in it ends neither with the host nor before it
    if scheme.lower() not in _TELLING_SCHEMES or not _HOST.fullmatch(host) or "@" in left_out:
        return f"{scheme}…"
    return f"{scheme}{host}" + ("/…" if left_out else "")


def _cut(text: str, limit: int) -> str:
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    ellipsis = "…"
    room = max(limit - len(ellipsis.encode()), 0)
    return encoded[:room].decode(errors="ignore").rstrip() + ellipsis
