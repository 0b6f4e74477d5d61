"""Mail over SMTP, against servers that behave and servers that do not."""

import re
import socket
import ssl
import time
from collections.abc import Iterator
from queue import SimpleQueue

import pytest
import trustme

from lago.channels.email.channel import EmailChannel
from lago.channels.email.smtp import SmtpTransport
from lago.channels.email.transport import Mail
from lago.domain.ids import EpochMs
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.errors import SettingError
from tests.channels.mail_servers import (
    PASSWORD,
    USER,
    Inbox,
    Script,
    client_context,
    drips,
    hangs,
    only_anna,
    says,
    scripted,
    server_context,
    serving,
    talks,
)
from tests.unit.email.builders import ANNA, API, SECRET, a_reader, parsed
from tests.unit.telegram.builders import NOON, message

HELLO = ("220 ready", "250 mail.example.org")
ACCEPTED = (*HELLO, "250 sender ok", "250 recipient ok", "354 go on")
MAIL = Mail(
    sender="lago@example.org", recipient=ANNA, content=b"Subject: Hi\r\n\r\nHello\r\n.\r\n..two\r\n.x\r\n\r\nend\r\n"
)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def plain(inbox: Inbox) -> Iterator[str]:
    with serving(inbox) as port:
        yield f"smtp+insecure://localhost:{port}"


def transport(url: str, context: ssl.SSLContext | None = None, step: float = 5, total: float = 10) -> SmtpTransport:
    return SmtpTransport(
        lambda: url, step=step, total=total, make_context=lambda: context or ssl.create_default_context()
    )


def outcome_of(script: Script, step: float = 5, total: float = 10) -> Outcome:
    with scripted(script) as port:
        return transport(f"smtp+insecure://127.0.0.1:{port}", step=step, total=total).send(MAIL)


class TestAServerThatBehaves:
    def test_gets_the_mail_as_it_is(self, inbox: Inbox, plain: str) -> None:
        assert transport(plain).send(MAIL) == DELIVERED

        (envelope,) = inbox.mails
        assert (envelope.mail_from, envelope.rcpt_tos) == ("lago@example.org", [ANNA])
        assert envelope.content == MAIL.content

    def test_gets_a_mail_that_a_mail_program_can_read(self, inbox: Inbox, plain: str) -> None:
        channel = EmailChannel(
            transport(plain), mail_from="Lago <lago@example.org>", api_url=lambda: API, clock=lambda: EpochMs(NOON)
        )

        assert channel.send(a_reader(), SECRET, message()) == DELIVERED

        mail = parsed(inbox.mails[0].content)
        assert mail["Subject"] == "🆕 KTM Strada 1000 · € 283 · 1070 Wien, Neubau"
        assert mail["List-Unsubscribe"].startswith(f"<{API}/unsubscribe?d=anna&t=")

    def test_gets_a_large_mail_whole(self, inbox: Inbox, plain: str) -> None:
        large = Mail(sender=MAIL.sender, recipient=ANNA, content=b"Subject: x\r\n\r\n" + b".line\r\n" * 40_000)

        assert transport(plain).send(large) == DELIVERED
        assert inbox.mails[0].content == large.content

    def test_is_greeted_with_the_senders_domain_not_this_machines_name(self) -> None:
        heard: list[bytes] = []

        def listen(connection: socket.socket) -> None:
            connection.sendall(b"220 ready\r\n")
            heard.append(connection.recv(1_000))
            connection.close()

        outcome_of(listen)

        assert heard == [b"ehlo example.org\r\n"]


def test_what_reading_the_url_takes_is_part_of_the_time_for_all(inbox: Inbox, plain: str) -> None:
    def slow() -> str:
        time.sleep(0.06)
        return plain

    outcome = SmtpTransport(slow, total=0.05).send(MAIL)

    assert outcome == Outcome(kind=OutcomeKind.OUTAGE, reason="SMTP: TimeoutError")
    assert inbox.mails == []


class TestEncryption:
    def test_from_the_first_byte(self, authority: trustme.CA, inbox: Inbox) -> None:
        with serving_tls(authority, inbox) as port:
            url = f"smtps://{USER}:{PASSWORD}@localhost:{port}"

            assert transport(url, client_context(authority)).send(MAIL) == DELIVERED

        assert inbox.mails[0].content == MAIL.content

    def test_by_starttls_before_the_login(self, authority: trustme.CA, inbox: Inbox) -> None:
        with serving_starttls(authority, inbox) as port:
            url = f"smtp://{USER}:{PASSWORD}@localhost:{port}"

            assert transport(url, client_context(authority)).send(MAIL) == DELIVERED

        assert inbox.mails[0].content == MAIL.content

    def test_is_required(self, inbox: Inbox, plain: str) -> None:
        outcome = transport(plain.replace("smtp+insecure", "smtp")).send(MAIL)

        assert outcome.kind is OutcomeKind.OUTAGE
        assert "offers no encryption" in outcome.reason
        assert inbox.mails == []

    def test_that_is_refused_sends_nothing_in_clear(self) -> None:
        heard: SimpleQueue[str] = SimpleQueue()
        refusing = says(
            "220 ready", "250-mail\r\n250 STARTTLS", "454 TLS not available", then=lambda c: heard.put(rest(c))
        )
        with scripted(refusing) as port:
            outcome = transport(f"smtp://{USER}:{PASSWORD}@localhost:{port}").send(MAIL)
            left = heard.get(timeout=5)

        assert outcome.kind is OutcomeKind.OUTAGE
        assert left in ("QUIT\r\n", "")

    @pytest.mark.parametrize("scheme", ["smtps", "smtp"])
    def test_with_a_stranger_is_refused(self, authority: trustme.CA, inbox: Inbox, scheme: str) -> None:
        serve = serving_tls if scheme == "smtps" else serving_starttls
        with serve(authority, inbox) as port:
            # the system's authorities do not know this one
            outcome = transport(f"{scheme}://{USER}:{PASSWORD}@localhost:{port}").send(MAIL)

        assert outcome.kind is OutcomeKind.OUTAGE
        assert "certificate" in outcome.reason.lower()
        assert inbox.mails == []

    def test_with_another_hosts_certificate_is_refused(self, authority: trustme.CA, inbox: Inbox) -> None:
        with serving_tls(authority, inbox, name="mail.example.org") as port:
            url = f"smtps://{USER}:{PASSWORD}@localhost:{port}"
            outcome = transport(url, client_context(authority)).send(MAIL)

        assert outcome.kind is OutcomeKind.OUTAGE
        assert inbox.mails == []

    def test_with_a_server_that_speaks_no_tls_is_an_outage(self, plain: str, authority: trustme.CA) -> None:
        outcome = transport(plain.replace("smtp+insecure", "smtps"), client_context(authority), step=1).send(MAIL)

        assert outcome.kind is OutcomeKind.OUTAGE


def serving_tls(authority: trustme.CA, inbox: Inbox, name: str = "localhost"):
    context = server_context(authority, name)
    return serving(inbox, ssl_context=context, authenticator=only_anna, auth_require_tls=False)


def serving_starttls(authority: trustme.CA, inbox: Inbox):
    return serving(
        inbox,
        tls_context=server_context(authority),
        require_starttls=True,
        authenticator=only_anna,
        auth_required=True,
    )


def rest(connection: socket.socket) -> str:
    with connection.makefile("rb") as lines:
        return lines.read().decode()


class TestTheLogin:
    def test_that_is_wrong_is_the_owners_to_mend(self, authority: trustme.CA, inbox: Inbox) -> None:
        with serving_starttls(authority, inbox) as port:
            outcome = transport(f"smtp://{USER}:wr0ng-secret@localhost:{port}", client_context(authority)).send(MAIL)

        assert outcome.kind is OutcomeKind.OUTAGE
        assert "wrong user or password in the secret SMTP URL" in outcome.reason
        assert "wr0ng" not in outcome.reason
        assert inbox.mails == []

    def test_that_the_server_does_not_offer_is_told(self, inbox: Inbox, plain: str) -> None:
        outcome = transport(plain.replace("://", f"://{USER}:{PASSWORD}@")).send(MAIL)

        assert outcome.kind is OutcomeKind.OUTAGE
        assert "leave user and password out" in outcome.reason

    @pytest.mark.parametrize(
        "answers",
        [
            ("535 bad: AGFubmEAaHVudGVyMi1zM2NyZXQ= hunter2-s3cret",),
            ("334 no base64 at all!", "535 no"),
            ("334 %%%", "500 no"),
            ("454 4.7.0 later",),
            ("garbage", "garbage"),
        ],
    )
    @pytest.mark.parametrize("mechanism", ["PLAIN", "LOGIN", "CRAM-MD5", "PLAIN LOGIN", "GSSAPI"])
    def test_that_goes_wrong_in_whatever_way_keeps_the_password(self, mechanism: str, answers: tuple[str, ...]) -> None:
        server = says("220 ready", f"250-mail\r\n250 AUTH {mechanism}", *answers)
        with scripted(server) as port:
            outcome = transport(f"smtp+insecure://{USER}:{PASSWORD}@127.0.0.1:{port}").send(MAIL)

        assert outcome.kind is OutcomeKind.OUTAGE
        assert PASSWORD not in outcome.reason
        assert "AGFubmEA" not in outcome.reason

    def test_secret_that_cannot_be_read_is_an_outage(self) -> None:
        def fail() -> str:
            raise SettingError("the secret /lago/smtp cannot be read")

        outcome = SmtpTransport(fail).send(MAIL)

        assert outcome == Outcome(kind=OutcomeKind.OUTAGE, reason="the secret /lago/smtp cannot be read")

    def test_url_that_is_wrong_is_an_outage_that_shows_nothing_of_it(self) -> None:
        outcome = transport(f"smtp://{USER}:{PASSWORD}@mail.example.org/path").send(MAIL)

        assert outcome.kind is OutcomeKind.OUTAGE
        assert "has something behind the host" in outcome.reason
        assert PASSWORD not in outcome.reason


class TestARefusal:
    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            ("550 5.1.1 user unknown", OutcomeKind.DESTINATION),
            ("550 5.7.1 blocked by policy", OutcomeKind.MESSAGE),
            ("554 5.7.1 relay access denied", OutcomeKind.OUTAGE),
            ("450 4.2.0 greylisted, come back in five minutes", OutcomeKind.OUTAGE),
            ("452 4.7.1 rate limit", OutcomeKind.GATE),
        ],
    )
    def test_of_the_reader(self, inbox: Inbox, plain: str, answer: str, kind: OutcomeKind) -> None:
        inbox.rcpt = answer

        outcome = transport(plain).send(MAIL)

        assert outcome.kind is kind
        assert answer[:3] in outcome.reason
        assert inbox.mails == []

    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            ("554 5.7.1 spam", OutcomeKind.MESSAGE),
            ("451 4.3.0 try again", OutcomeKind.OUTAGE),
            ("554 Message rejected: Email address is not verified.", OutcomeKind.OUTAGE),
        ],
    )
    def test_of_the_mail(self, inbox: Inbox, plain: str, answer: str, kind: OutcomeKind) -> None:
        inbox.data = answer

        assert transport(plain).send(MAIL).kind is kind

    @pytest.mark.parametrize(
        "answers",
        [
            ("554 go away",),
            ("421 too busy",),
            ("garbage",),
            ("\x00\xff\x1b[31m",),
            (" ",),
            ("220 ready", "502 no such command"),
            (*HELLO, "550 5.1.1 user unknown"),
            (*ACCEPTED[:-1], "451 not now"),
            (*ACCEPTED[:-1], "250 not what was asked"),
        ],
    )
    def test_before_the_mail_blames_neither_mail_nor_reader(self, answers: tuple[str, ...]) -> None:
        outcome = outcome_of(says(*answers))

        assert outcome.kind is OutcomeKind.OUTAGE
        assert not re.search(r"[\x00-\x1f]", outcome.reason)


class TestALostConnection:
    @pytest.mark.parametrize("answers", [ACCEPTED[:n] for n in range(1, 5)])
    def test_before_the_mail_is_an_outage(self, answers: tuple[str, ...]) -> None:
        assert outcome_of(says(*answers)).kind is OutcomeKind.OUTAGE

    def test_after_the_mail_is_ambiguous(self) -> None:
        assert outcome_of(says(*ACCEPTED)).kind is OutcomeKind.AMBIGUOUS

    def test_by_a_server_that_took_the_mail_is_ambiguous(self, inbox: Inbox, plain: str) -> None:
        inbox.data = "drop"

        assert transport(plain).send(MAIL).kind is OutcomeKind.AMBIGUOUS
        assert len(inbox.mails) == 1

    def test_after_it_was_taken_costs_nothing(self) -> None:
        assert outcome_of(says(*ACCEPTED, "250 taken")) == DELIVERED

    @pytest.mark.parametrize("answer", ["garbage", "200 fine", "354 more"])
    def test_an_answer_that_is_none_to_the_mail_is_ambiguous(self, answer: str) -> None:
        assert outcome_of(says(*ACCEPTED, answer)).kind is OutcomeKind.AMBIGUOUS

    def test_nobody_listening_is_an_outage(self) -> None:
        assert transport("smtp+insecure://127.0.0.1:9").send(MAIL).kind is OutcomeKind.OUTAGE

    def test_a_host_that_is_not_found_is_an_outage(self) -> None:
        assert transport(f"smtps://a:{PASSWORD}@no-such-host.invalid").send(MAIL).kind is OutcomeKind.OUTAGE


class TestAServerThatStalls:
    """Bounds are far above what is measured: nothing here depends on how fast this machine is."""

    @pytest.mark.parametrize("answers", [ACCEPTED[:n] for n in range(1, 5)])
    def test_before_the_mail_is_an_outage(self, answers: tuple[str, ...]) -> None:
        assert outcome_of(says(*answers, then=hangs), step=0.3).kind is OutcomeKind.OUTAGE

    def test_after_the_mail_is_ambiguous(self) -> None:
        assert outcome_of(says(*ACCEPTED, then=hangs), step=0.3).kind is OutcomeKind.AMBIGUOUS

    def test_over_its_goodbye_has_taken_the_mail_all_the_same(self) -> None:
        assert outcome_of(says(*ACCEPTED, "250 taken", then=hangs), step=0.3) == DELIVERED

    @pytest.mark.parametrize("script", [hangs, drips])
    def test_instead_of_a_greeting_is_an_outage(self, script: Script) -> None:
        outcome = outcome_of(script, step=0.4, total=1)

        assert outcome.kind is OutcomeKind.OUTAGE

    def test_byte_by_byte_is_given_up_in_the_end(self) -> None:
        started = time.monotonic()

        outcome = outcome_of(says(*HELLO, then=drips), step=0.5, total=1)

        assert outcome.kind is OutcomeKind.OUTAGE
        assert time.monotonic() - started < 30

    def test_in_the_middle_of_tls_is_an_outage(self) -> None:
        with scripted(hangs) as port:
            outcome = transport(f"smtps://{USER}:{PASSWORD}@127.0.0.1:{port}", step=0.3).send(MAIL)

        assert outcome.kind is OutcomeKind.OUTAGE

    def test_by_talking_without_end_is_cut_off(self) -> None:
        assert outcome_of(says(*HELLO, then=talks)).kind is OutcomeKind.OUTAGE


def test_no_send_takes_longer_than_the_channel_says() -> None:
    assert SmtpTransport(lambda: "").timeout == 24_000
