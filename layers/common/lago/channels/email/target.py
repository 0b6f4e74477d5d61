"""A mail address, as a person gives it, made into what is stored of it."""

import re

from lago.channels.email.unsubscribe import KEY_BYTES, new_secret
from lago.channels.target import RandomBytes, Target, TargetSpec
from lago.errors import BadInputError

ADDRESS_CHARACTERS = 254
"""RFC 5321 allows a path of 256, angle brackets included (erratum 1690 of RFC 3696)."""
LOCAL_CHARACTERS = 64

_LOCAL = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*", re.IGNORECASE | re.ASCII)
"""RFC 5322's dot-atom. Quoted local parts are legal, and refused by half the mail servers."""
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"({_LABEL}\.)+(?=[a-z0-9-]*[a-z]){_LABEL}", re.IGNORECASE | re.ASCII)
_EXPECTED = "one mail address, such as anna@example.org"


def mail_address(given: str, field: str = "address") -> str:
    """`given` as one plain ASCII address, its domain in lower case and in punycode. Raises BadInputError.

    >>> mail_address(" Anna@Bücher.Example ")
    'Anna@xn--bcher-kva.example'
    """
    address = given.strip()
    local, at, domain = address.rpartition("@")
    if not at or not _LOCAL.fullmatch(local) or len(local) > LOCAL_CHARACTERS:
        raise BadInputError(field, given, _EXPECTED)
    domain = _ascii(domain.lower())
    if not _DOMAIN.fullmatch(domain):
        raise BadInputError(field, given, _EXPECTED)
    if len(local) + 1 + len(domain) > ADDRESS_CHARACTERS:
        raise BadInputError(field, given, f"a mail address of at most {ADDRESS_CHARACTERS} characters")
    return f"{local}@{domain}"


def _ascii(domain: str) -> str:
    """Punycode; "" for what is no domain."""
    if domain.isascii() or len(domain) > ADDRESS_CHARACTERS:
        return domain
    import idna  # noqa: PLC0415 (its tables cost 15 ms, and few domains need them)

    try:
        return idna.encode(domain, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        return ""


def _make(given: str, random_bytes: RandomBytes) -> Target:
    return Target(address=mail_address(given), secret=new_secret(random_bytes(KEY_BYTES)))


TARGET = TargetSpec(channel="email", asks="a mail address", private=False, make=_make)
