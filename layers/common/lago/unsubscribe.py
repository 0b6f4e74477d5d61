"""A reader unsubscribes: the page behind the link in a mail, and what its button does.

Opening the link changes nothing, because mail scanners open every link. The button, and a mail program's own button
(RFC 8058), send a POST: that disables the destination. Whoever makes up a link learns nothing: a destination that does
not exist and a token that is wrong are answered alike.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

from msgspec.structs import replace

from lago.channels.email.unsubscribe import is_token, key_of
from lago.courier import Secrets
from lago.destination_answers import REMOVING
from lago.domain.ids import DestinationId
from lago.domain.notification import Destination
from lago.errors import LagoError
from lago.ports import Mailboxes

log = logging.getLogger(__name__)

CHANNEL = "email"
DISABLED = "unsubscribed by its reader"
TOKEN_CHARACTERS = 43
ID_CHARACTERS = 200

HEADERS: Mapping[str, str] = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex",
}
"""What goes with a page: its address is a secret, it holds nothing of others, and no search engine lists it."""


class Page(NamedTuple):
    """An HTTP status and a whole HTML page."""

    status: int
    html: str


class Unsubscribe:
    """`secrets` has the key that a destination's links are made with."""

    def __init__(self, mailboxes: Mailboxes, secrets: Secrets) -> None:
        self._mailboxes, self._secrets = mailboxes, secrets

    def confirm(self, destination: str | None, token: str | None) -> Page:
        """For GET: a page with a button. Reads nothing and changes nothing; whether the link is good, POST tells."""
        if not _well_formed(destination, token):
            return _INVALID
        # without an action the form goes to the page's own address, destination and token in it
        look = "font:inherit;padding:.5rem 1.5rem"
        button = f'<form method="post"><button type="submit" style="{look}">Unsubscribe</button></form>'
        return _page(HTTPStatus.OK, "Unsubscribe?", "Lago will send no more mail to this address.", button)

    def apply(self, destination: str | None, token: str | None) -> Page:
        """For POST: disable the destination. Twice is once."""
        if destination is None or token is None or not _well_formed(destination, token):
            return _INVALID
        try:
            done = self._disable(DestinationId(destination), token)
        except LagoError as error:
            log.warning("could not unsubscribe", extra={"destination": destination, "reason": str(error)})
            return _page(HTTPStatus.SERVICE_UNAVAILABLE, "Not yet", "That did not work. Please try again in a minute.")
        if not done:
            return _INVALID
        return _page(HTTPStatus.OK, "Unsubscribed", "Lago sends no more mail to this address.")

    def _disable(self, id_: DestinationId, token: str) -> bool:
        head = self._mailboxes.head(id_)
        if head is None or head.destination.channel != CHANNEL:
            return False
        if not is_token(token, key_of(self._secrets.get(head.destination.credentials)), id_):
            return False
        if head.destination.disabled not in (DISABLED, REMOVING):
            self._mailboxes.change_destination(id_, _unsubscribed)
            log.warning("destination disabled", extra={"destination": id_, "reason": DISABLED})
        return True


def _unsubscribed(destination: Destination) -> Destination:
    return destination if destination.disabled == REMOVING else replace(destination, disabled=DISABLED)


def _well_formed(destination: str | None, token: str | None) -> bool:
    """Whether it is worth a look into the database."""
    return (
        0 < len(destination or "") <= ID_CHARACTERS
        and (destination or "").isprintable()
        and len(token or "") == TOKEN_CHARACTERS
    )


def _page(status: HTTPStatus, title: str, said: str, form: str = "") -> Page:
    style = "margin:15vh auto;max-width:28rem;padding:0 1rem;font:1.1rem/1.5 system-ui,sans-serif;text-align:center"
    html = (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title></head>\n'
        f'<body style="{style}"><h1>{title}</h1><p>{said}</p>{form}</body>\n</html>\n'
    )
    return Page(status.value, html)


_INVALID = _page(HTTPStatus.NOT_FOUND, "No such link", "This link to unsubscribe is not valid, or not any more.")
