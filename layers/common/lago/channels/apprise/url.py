"""An Apprise URL, as far as it is looked at without the library: `schema://` and what only the service understands."""

import re
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from lago.http_guard import Trusted

URL_CHARACTERS = 2_048

ON_THIS_MACHINE = frozenset(
    {"blink1", "dbus", "glib", "gnome", "growl", "kde", "macosx", "notifyapp", "qt", "syslog", "windows"}
)
"""Shown, or lit, where the sender runs: nobody sees that in a data centre."""
ANY_HOST = frozenset({"form", "forms", "json", "jsons", "xml", "xmls"})
"""A bare request to any host: Lago's own webhook does that, signed and over https."""
_SECURE = frozenset({"forms", "jsons", "xmls"})

_URL = re.compile(r"([a-z][a-z0-9]{1,19})://[^\s,]\S*", re.ASCII | re.IGNORECASE)
_SEVERAL = re.compile(r",\s*[a-z][a-z0-9]{1,19}://", re.ASCII | re.IGNORECASE)
_TELLING = 4
"""A part of a URL with fewer characters is no secret worth the name, and stands in too many words."""


class AppriseUrl(Struct, frozen=True):
    """`text` is the whole URL, a secret."""

    schema: str
    text: str

    def is_trusted(self, trusted: Trusted) -> bool:
        """Whether it leads to the host and port of one of the origins."""
        parts = urlsplit(self.text)
        port = parts.port or (443 if self.schema in _SECURE else 80)
        return any((origin.host, origin.port) == (parts.hostname, port) for origin in trusted)

    @property
    def secrets(self) -> tuple[str, ...]:
        """All of it that no reason may repeat: each part may be a token, even what stands for the host."""
        rest = self.text.partition("://")[2]
        parts = re.split(r"[/?#&=@:,;+]", rest)
        return (self.text, *(form for part in parts if len(part) >= _TELLING for form in (part, unquote(part))))


def parse(given: str) -> AppriseUrl | str:
    """The URL, or what would be right instead. Never raises."""
    text = given.strip()
    found = _URL.fullmatch(text)
    if not found or not text.isprintable() or len(text) > URL_CHARACTERS or not _splits(text):
        return "one Apprise URL such as mailto://… or matrix://…, of up to 2,048 characters"
    if _SEVERAL.search(text):
        return "one Apprise URL; further ones are destinations of their own"
    schema = found[1].lower()
    if schema in ("http", "https", "file"):
        return "an Apprise URL such as mailto://…; for a web address of your own there is the channel webhook"
    if schema in ON_THIS_MACHINE:
        return f"a service that is reached over the network, which {schema} is not"
    return AppriseUrl(schema, text)


def _splits(text: str) -> bool:
    try:
        return urlsplit(text).port != 0
    except ValueError:
        # what stands for a port may be a token: that is the service's business
        return not text.lower().startswith(tuple(f"{schema}://" for schema in ANY_HOST))
