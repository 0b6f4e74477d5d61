"""A letter as a mail: headers and parts by RFC 5322, 2045 and 8058. Pure."""

from collections.abc import Iterable
from datetime import UTC, datetime
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime, parseaddr
from hashlib import blake2b

from msgspec import Struct

from lago.channels.clean import one_line
from lago.channels.email.letter import Letter
from lago.channels.email.target import mail_address
from lago.domain.ids import EpochMs, NotificationId
from lago.domain.redact import shown
from lago.errors import BadInputError, SettingError

_UNFOLDED = frozenset({"list-unsubscribe", "message-id", "to"})
"""Headers of one word. Python's folding would write one that is longer than a line as an encoded word
(=?utf-8?q?…?=), and no mail program finds a link in that (python/cpython issue 74717)."""


_ENCODED_WORD = ("=?", "\uff1d?")
"""Python reads what looks like an encoded word (RFC 2047) in a header that is set: a title could bring line ends and
characters that hide or reorder past `one_line` that way. A look-alike begins none."""


_SUBJECT_LINE = 78 - len("Subject: ")
"""What RFC 5322 (2.1.1) wants a line to hold."""


class _Policy(EmailPolicy):
    """As email.policy.SMTP, which refuses line ends in headers, too."""

    def fold_binary(self, name: str, value: str) -> bytes:
        """The header as it is sent."""
        if name.lower() in _UNFOLDED:
            return f"{name}: {value}\r\n".encode("ascii")
        if name.lower() == "subject":
            return f"{name}: {_encoded(value)}\r\n".encode("ascii")
        return super().fold_binary(name, value)


def _encoded(subject: str) -> str:
    """As it is, where that fits on its line; else as encoded words of whole characters, the spaces inside them.

    Python's policies lose spaces between such words, and may leave the header's first line empty.
    """
    if subject.isascii() and len(subject) <= _SUBJECT_LINE:
        return subject
    return Header(subject, "utf-8", header_name="Subject").encode(linesep="\r\n")


_POLICY = _Policy(linesep="\r\n")


class Sender(Struct, frozen=True, kw_only=True):
    """Who mails come from: a name to show and a plain address."""

    name: str
    address: str


def sender_of(mail_from: str) -> Sender:
    """From `lago@example.org` or `Name <lago@example.org>`. Raises SettingError that says what is wrong."""
    name, address = parseaddr(mail_from.strip())
    try:
        return Sender(name=one_line(name, 60) or "Lago", address=mail_address(address, "MAIL_FROM"))
    except BadInputError:
        expected = "a mail address, or a name and an address: Lago <lago@example.org>"
        raise SettingError(f"MAIL_FROM: got {shown(mail_from, 120)}, expected {expected}") from None


def mail_id(ids: Iterable[NotificationId]) -> str:
    """The same notifications make the same id: whoever gets a mail twice can tell."""
    return blake2b("\n".join(ids).encode(), digest_size=16).hexdigest()


def write_mail(letter: Letter, sender: Sender, to: str, *, id_: str, now: EpochMs, unsubscribe: str) -> bytes:
    """The whole mail, lines ending in CRLF, in ASCII. `to` is a checked address, `unsubscribe` a link or "".

    SES replaces Message-ID and Date by its own; X-Lago-Message stays.
    """
    mail = EmailMessage(policy=_POLICY)
    mail["Subject"] = letter.subject.replace(*_ENCODED_WORD)
    mail["From"] = Address(sender.name, addr_spec=sender.address)
    mail["To"] = to
    mail["Date"] = format_datetime(datetime.fromtimestamp(now / 1000, UTC))
    mail["Message-ID"] = f"<{id_}@{sender.address.rpartition('@')[2]}>"
    mail["X-Lago-Message"] = id_
    mail["Auto-Submitted"] = "auto-generated"
    if unsubscribe:
        mail["List-Unsubscribe"] = f"<{unsubscribe}>"
    if unsubscribe.startswith("https://"):
        mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    mail.set_content(letter.text, cte="quoted-printable")
    mail.add_alternative(letter.html, subtype="html", cte="quoted-printable")
    # named after what it separates, so that it can't be part of it
    mail.set_boundary(blake2b((letter.text + letter.html).encode(), digest_size=16).hexdigest())
    return mail.as_bytes()
