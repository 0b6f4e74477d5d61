"""The setting that names a mail server: one URL, a secret as a whole."""

from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from lago.errors import SettingError

_PORTS = {"smtps": 465, "smtp": 587, "smtp+insecure": 25}
EXPECTED = "smtps://USER:PASSWORD@HOST:465 or smtp://USER:PASSWORD@HOST:587, with % escapes for special characters"


class SmtpServer(Struct, frozen=True, kw_only=True):
    """`encrypted`: "tls" from the first byte, "starttls" before anything is said, "" never (loopback only)."""

    host: str
    port: int
    user: str
    password: str
    encrypted: str


def read_smtp_url(url: str) -> SmtpServer:
    """The server that a URL names. Raises SettingError that says what is wrong and repeats nothing of it."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
        user, password = (unquote(part or "", errors="strict") for part in (parts.username, parts.password))
        host.encode("idna")  # as a lookup does, which would raise the same for what can be no host
    except ValueError:
        raise _wrong("is no URL") from None
    if parts.scheme not in _PORTS or not host or port == 0 or not host.isascii() or not host.isprintable():
        raise _wrong("names no mail server")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise _wrong("has something behind the host")
    if bool(user) != bool(password):
        raise _wrong("has a user without a password, or the other way round")
    if not (user + password).isascii() or not (user + password).isprintable():
        # smtplib speaks ASCII when it logs in
        raise _wrong("has a user or password with characters beyond ASCII")
    if parts.scheme == "smtp+insecure" and not _is_loopback(host):
        raise _wrong("is not encrypted, which is for a server on this machine alone")
    encrypted = {"smtps": "tls", "smtp": "starttls", "smtp+insecure": ""}[parts.scheme]
    return SmtpServer(host=host, port=port or _PORTS[parts.scheme], user=user, password=password, encrypted=encrypted)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _wrong(problem: str) -> SettingError:
    return SettingError(f"the secret SMTP URL {problem}: expected {EXPECTED}")
