"""Where a URL that a person gives may lead: to the public internet, never inside (design, rule 10).

The rules alone, pure and light. They are asked twice: `check_url` when a destination is added, so that a person hears
of a mistake at once, and `http_backend` at each request, on the address that is really connected to, so that a name
which points elsewhere meanwhile gains nothing.
"""

import re
import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address
from urllib.parse import urlsplit

import idna
from msgspec import Struct

from lago.domain.redact import shown
from lago.errors import BadInputError, SettingError

URL_CHARACTERS = 2_048
HTTPS_PORT = 443
FIRST_FREE_PORT = 1_024
"""Below it are the ports of other services (RFC 6335, system ports). What is sent first is always a TLS greeting, so
that none of them could be made to do much; a web server of one's own is on 443 or up here."""

_PORTS = {"http": 80, "https": HTTPS_PORT}
_PUBLIC_HOST = "a host on the public internet"

_NAT64 = IPv6Network("64:ff9b::/96")
"""What a resolver makes of an IPv4 address in a network without IPv4 (RFC 6052): as good as that address."""
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NO_IPV4_HOSTS = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments; Oracle's cloud has metadata at 192.0.0.192
    IPv4Network("192.88.99.0/24"),  # 6to4 relays (RFC 7526)
    IPv4Network("168.63.129.16/32"),  # Azure's host, though the address looks public
)
_NO_IPV6_HOSTS = (
    IPv6Network("2001::/23"),  # protocol assignments: Teredo, ORCHID, benchmarks
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("2002::/16"),  # 6to4: an IPv4 address, perhaps a private one, in disguise
    IPv6Network("3fff::/20"),  # documentation (RFC 9637)
)
_INSIDE = ("localhost", "local", "internal", "lan", "home.arpa")
_NAME = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|\d+)\Z")
_AUTHORITY = re.compile(r"[^/?#]*@")


class Origin(Struct, frozen=True):
    """Scheme, host (lower case, ASCII, IPv6 without brackets) and port of a URL."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if _PORTS.get(self.scheme) == self.port else f":{self.port}"
        return f"{self.scheme}://{host}{port}"


Trusted = frozenset[Origin]
"""Exempt from every rule here: the owner's own servers, and those of a local trial."""
NONE_TRUSTED: Trusted = frozenset()


class WebAddress(Struct, frozen=True, kw_only=True):
    """A checked URL in its parts; `target` is path and query, `user` and `password` are as written."""

    origin: Origin
    target: str
    user: str = ""
    password: str = ""

    @property
    def url(self) -> str:
        """Without credentials and fragment."""
        return f"{self.origin}{self.target}"


def check_url(
    url: str, trusted: Trusted = NONE_TRUSTED, *, field: str = "url", credentials: bool = False
) -> WebAddress:
    """`url` when it may become a destination. No name is looked up: that is done, and checked, at each request.

    Raises BadInputError that names `field` and at most the host: the rest of such a URL is a secret. `credentials`
    says whether the URL may hold a user name or password.
    """
    address = _read(url.strip())
    if address is None:
        raise BadInputError(field, "(not shown: it may hold a secret)", "a URL such as https://example.org/hook")
    origin = address.origin
    if (address.user or address.password) and not credentials:
        raise BadInputError(field, _shown(origin), "a URL without a user name or password")
    if wrong := refusal(origin, trusted):
        raise BadInputError(field, _shown(origin), wrong)
    return address


def refusal(origin: Origin, trusted: Trusted = NONE_TRUSTED) -> str:
    """What would be right instead; "" for an origin that may be asked, as far as its name can tell."""
    if origin in trusted:
        return ""
    if any((other.host, other.port) == (origin.host, origin.port) for other in trusted):
        # Connections are told apart by host and port only: such a one must not pass as the trusted origin.
        return "the scheme that this host and port are trusted with"
    if origin.scheme != "https":
        return "a URL that begins with https://"
    if origin.port != HTTPS_PORT and not FIRST_FREE_PORT <= origin.port < 65_536:
        return f"port {HTTPS_PORT}, or {FIRST_FREE_PORT} and above"
    return "" if _may_be_public(origin.host) else _PUBLIC_HOST


def is_public(address: str) -> bool:
    """Whether an IP address, as a resolver gives it, is of a host on the public internet.

    Not so: private, loopback, link-local (with the metadata of clouds), shared (RFC 6598), multicast, reserved and
    documentation addresses, and IPv6 addresses that hold such an IPv4 one.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv4Address):
        return _is_public_ipv4(ip)
    if ip.scope_id is not None:
        return False
    if ip in _NAT64:
        return _is_public_ipv4(IPv4Address(ip.packed[-4:]))
    if ip.ipv4_mapped is not None:
        return _is_public_ipv4(ip.ipv4_mapped)
    return ip in _GLOBAL_UNICAST and ip.is_global and not any(ip in network for network in _NO_IPV6_HOSTS)


def read_origins(text: str, name: str) -> Trusted:
    """The trusted origins in a setting, separated by commas or spaces. Raises SettingError that says `name`.

    >>> [str(origin) for origin in read_origins("http://127.0.0.1:8099", "TRUSTED_ORIGINS")]
    ['http://127.0.0.1:8099']
    """
    return frozenset(_origin(item, name) for item in text.replace(",", " ").split())


def _origin(item: str, name: str) -> Origin:
    address = _read(item)
    if (
        address is None
        or address.origin.scheme not in _PORTS
        or address.target != "/"
        or address.user
        or address.password
    ):
        raise SettingError(
            f"{name}: got {shown(item, 200)}, expected origins such as http://127.0.0.1:8099, without a path"
        )
    return address.origin


def _is_public_ipv4(ip: IPv4Address) -> bool:
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _NO_IPV4_HOSTS)


def _may_be_public(host: str) -> bool:
    name = host.removesuffix(".")
    if ":" in name:
        return is_public(name)
    if _NUMBER.match(name.rpartition(".")[2]):
        # Decimal, octal, hexadecimal and short forms of IPv4 have no honest use: only the usual one is taken.
        return _is_dotted(name) and is_public(name)
    return _NAME.fullmatch(name) is not None and not any(
        name == suffix or name.endswith(f".{suffix}") for suffix in _INSIDE
    )


def _is_dotted(name: str) -> bool:
    try:
        return socket.inet_ntoa(socket.inet_aton(name)) == name
    except OSError:
        return False


def _read(url: str) -> WebAddress | None:
    """The parts of an absolute URL; None for what browsers, resolvers and this module might read differently."""
    if len(url) > URL_CHARACTERS or "\\" in url or not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        if not host.isascii():
            host = idna.encode(host).decode("ascii")
    except ValueError:  # of idna, too: IDNAError is one
        return None
    if not host or host.endswith(".") or port == 0:
        return None
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    origin = Origin(parts.scheme, host, port or _PORTS.get(parts.scheme, 0))
    return WebAddress(origin=origin, target=target, user=parts.username or "", password=parts.password or "")


def _shown(origin: Origin) -> str:
    known = _NAME.fullmatch(origin.host) or _is_dotted(origin.host)
    return origin.host if known else "(not shown: it may hold a secret)"
