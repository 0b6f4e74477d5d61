"""A mail server of the owner's own, by SMTP over TLS. Import it only where it is used: smtplib costs 25 ms."""

import base64
import re
import smtplib
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from lago.channels.email.smtp_answer import Step, judge_reply
from lago.channels.email.smtp_session import STEP_SECONDS, TOTAL_SECONDS, Deadline, Session
from lago.channels.email.smtp_url import SmtpServer, read_smtp_url
from lago.channels.email.transport import Mail
from lago.domain.ids import Milliseconds
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.domain.redact import reason
from lago.errors import LagoError

_LEADING_DOT = re.compile(rb"^\.", re.MULTILINE)


class _RefusedError(Exception):
    """The server said no."""

    def __init__(self, step: Step, code: int, said: bytes | str) -> None:
        self.step, self.code = step, code
        self.said = said.decode(errors="replace") if isinstance(said, bytes) else said
        super().__init__(step)


class _UnfitError(Exception):
    """The server lacks what has to be there; the text says what."""


class SmtpTransport:
    """Sends through the server that the URL of `read_url` names, one connection for each mail. Thread-safe.

    `read_url` reads the secret and may raise LagoError. No conversation takes longer than `total` seconds, none of its
    steps longer than `step`. Certificates are checked against `ssl_context`, by default the system's.
    """

    def __init__(
        self,
        read_url: Callable[[], str],
        *,
        step: float = STEP_SECONDS,
        total: float = TOTAL_SECONDS,
        make_context: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    ) -> None:
        self._read_url, self._step, self._total, self._make_context = read_url, step, total, make_context
        self.timeout = Milliseconds(int(1000 * (total + step)))

    def send(self, mail: Mail) -> Outcome:
        """Hand over one mail. Never raises for what the server or the network does."""
        deadline = Deadline(step=self._step, total=self._total)  # reading the URL may ask Parameter Store
        try:
            server = read_smtp_url(self._read_url())
        except LagoError as error:
            return Outcome(kind=OutcomeKind.OUTAGE, reason=reason(str(error)))
        return _Delivery(server, mail, deadline, self._make_context).outcome()


_OUR_WORDS = (_UnfitError, smtplib.SMTPServerDisconnected, ssl.SSLError, socket.gaierror)
"""Errors whose texts say something, and nothing that the server made up."""


class _Delivery:
    """One mail on its way. `_handed_over` is set once the mail's last byte has left: from then on it may arrive."""

    def __init__(
        self, server: SmtpServer, mail: Mail, deadline: Deadline, make_context: Callable[[], ssl.SSLContext]
    ) -> None:
        self._server, self._mail, self._deadline, self._make_context = server, mail, deadline, make_context
        self._handed_over = False

    def outcome(self) -> Outcome:
        try:
            self._converse()
        except _RefusedError as error:
            return judge_reply(error.step, error.code, error.said, *self._secrets())
        except (_UnfitError, smtplib.SMTPException, OSError) as error:
            # OSError: connections that end, time-outs, names that are not found, certificates that do not fit
            said = str(error) if isinstance(error, _OUR_WORDS) else ""
            text = reason(f"SMTP: {type(error).__name__.removeprefix('_')} {said}".rstrip(), *self._secrets())
            return Outcome(kind=OutcomeKind.AMBIGUOUS if self._handed_over else OutcomeKind.OUTAGE, reason=text)
        return DELIVERED

    def _converse(self) -> None:
        session = self._connect()
        try:
            self._prepare(session)
            self._deliver(session)
        finally:
            # its answer is not waited for: the mail is delivered, or is not
            with suppress(smtplib.SMTPException, OSError):
                session.putcmd("QUIT")
            session.close()

    def _connect(self) -> Session:
        server = self._server
        context = self._make_context() if server.encrypted == "tls" else None
        try:
            return Session(
                server.host,
                server.port,
                name=self._mail.sender.rpartition("@")[2],
                deadline=self._deadline,
                connected=lambda sock: context.wrap_socket(sock, server_hostname=server.host) if context else sock,
            )
        except smtplib.SMTPConnectError as error:
            raise _RefusedError("greeting", error.smtp_code, error.smtp_error) from error

    def _prepare(self, session: Session) -> None:
        """Greet, encrypt, log in."""
        self._greet(session)
        if self._server.encrypted == "starttls":
            if not session.has_extn("starttls"):
                raise _UnfitError("the server offers no encryption (STARTTLS), and nothing is sent without")
            try:
                session.starttls(context=self._make_context())
            except smtplib.SMTPResponseException as error:
                raise _RefusedError("greeting", error.smtp_code, error.smtp_error) from error
            self._greet(session)
        if self._server.user:
            try:
                session.login(self._server.user, self._server.password)
            except smtplib.SMTPResponseException as error:
                raise _RefusedError("login", error.smtp_code, error.smtp_error) from error
            except smtplib.SMTPNotSupportedError as error:
                raise _UnfitError("the server offers no login: leave user and password out of the URL?") from error
            except ValueError as error:  # a challenge that is no base64
                raise _UnfitError("the server's way to log in is not understood") from error

    @staticmethod
    def _greet(session: Session) -> None:
        code, said = session.ehlo()
        if code != 250:
            raise _RefusedError("greeting", code, said)

    def _deliver(self, session: Session) -> None:
        _expect(250, "sender", session.mail(self._mail.sender))
        code, said = session.rcpt(self._mail.recipient)
        if code not in (250, 251):
            raise _RefusedError("recipient", code, said)
        _expect(354, "data", session.docmd("DATA"))
        session.send(_LEADING_DOT.sub(b"..", self._mail.content).removesuffix(b"\r\n") + b"\r\n.\r\n")
        self._handed_over = True
        code, said = session.getreply()
        if not (code == 250 or 400 <= code < 600):
            raise smtplib.SMTPServerDisconnected("an answer that is none")
        _expect(250, "data", (code, said))

    def _secrets(self) -> tuple[str, ...]:
        """The password, also as AUTH sends it."""
        user, password = self._server.user, self._server.password
        sent = (base64.b64encode(text.encode()).decode() for text in (f"\0{user}\0{password}", password))
        return (password, *sent) if password else ()


def _expect(wanted: int, step: Step, answer: tuple[int, bytes]) -> None:
    code, said = answer
    if code != wanted:
        raise _RefusedError(step, code, said)
