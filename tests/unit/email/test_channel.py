"""The mail itself: its headers and parts, and what the channel makes of what it is given."""

import re

import pytest

from lago.channels.email import unsubscribe
from lago.channels.email.channel import PREPARING, EmailChannel
from lago.domain.ids import DestinationId, NotificationId
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.errors import SettingError
from tests.unit.email.builders import ANNA, API, SECRET, FakeTransport, a_channel, a_reader, body, parsed, sent
from tests.unit.telegram.builders import FakeTime, an_ad, message, news

LINK = unsubscribe.link(API, DestinationId("anna"), unsubscribe.key_of(SECRET))


def raw(**ad: object) -> bytes:
    transport = FakeTransport()
    a_channel(transport).send(a_reader(), SECRET, message(news(an_ad(**ad))))
    return transport.mails[0].content


def test_a_mail_says_who_it_is_from_to_and_when() -> None:
    mail = sent(message())

    assert mail["From"] == "Lago <lago@example.org>"
    assert mail["To"] == ANNA
    assert mail["Date"] == "Sat, 29 Nov 2025 10:30:00 +0000"
    assert mail["Subject"] == "🆕 KTM Strada 1000 · € 283 · 1070 Wien, Neubau"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Precedence"] is None


def test_a_mail_has_text_first_and_html_second() -> None:
    mail = sent(message())

    assert mail.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]
    assert body(mail, "plain").startswith("🆕 New ad · Rennrad Wien\n")
    assert "<b>€ 283</b>" in body(mail, "html")


def test_the_envelope_has_plain_addresses() -> None:
    transport = FakeTransport()

    a_channel(transport, mail_from="Räder <lago@Example.ORG>").send(a_reader(" Anna@Bücher.example"), SECRET, message())

    (mail,) = transport.mails
    assert (mail.sender, mail.recipient) == ("lago@example.org", "Anna@xn--bcher-kva.example")
    assert parsed(mail.content)["From"] == "Räder <lago@example.org>"


def test_the_same_notifications_have_the_same_message_id() -> None:
    one, other = news(id=NotificationId("n1")), news(id=NotificationId("n2"))

    first, again, club = sent(message(one)), sent(message(one)), sent(message(one, other))

    assert first["Message-ID"] == again["Message-ID"]
    assert first["X-Lago-Message"] == again["X-Lago-Message"]
    assert first["Message-ID"] != club["Message-ID"]
    assert re.fullmatch(r"<[0-9a-f]{32}@example\.org>", first["Message-ID"])


def test_a_mail_program_finds_the_way_to_unsubscribe() -> None:
    mail = sent(message())

    assert mail["List-Unsubscribe"] == f"<{LINK}>"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_the_way_to_unsubscribe_stands_in_one_piece_on_one_line() -> None:
    # Python would make an encoded word of it, which mail programs do not read
    assert f"\r\nList-Unsubscribe: <{LINK}>\r\n".encode() in raw()


def test_one_click_needs_https() -> None:
    mail = sent(message(), api_url="http://127.0.0.1:4566/local")

    assert mail["List-Unsubscribe"].startswith("<http://127.0.0.1:4566/local/unsubscribe?d=anna&t=")
    assert mail["List-Unsubscribe-Post"] is None


@pytest.mark.parametrize(
    ("secret", "api_url"), [(SECRET, ""), ("", API), ("123:token", API), ("{}", API), ("[" * 9_999, API)]
)
def test_without_key_or_address_the_mail_goes_out_without_a_link(secret: str, api_url: str) -> None:
    mail = sent(message(), secret=secret, api_url=api_url)

    assert mail["List-Unsubscribe"] is None
    assert mail["List-Unsubscribe-Post"] is None
    assert "nsubscribe" not in body(mail, "plain")


def test_an_api_address_that_cannot_be_read_costs_the_link_alone() -> None:
    def fail() -> str:
        raise SettingError("the parameter cannot be read")

    transport = FakeTransport()
    channel = EmailChannel(transport, mail_from="lago@example.org", api_url=fail, clock=FakeTime().clock)

    assert channel.send(a_reader(), SECRET, message()) == DELIVERED
    assert parsed(transport.mails[0].content)["List-Unsubscribe"] is None


@pytest.mark.parametrize("line_end", ["\r\n", "\n", "\r", "\u2028", "\x0b", "\x85", "\x00"])
def test_no_title_makes_a_header(line_end: str) -> None:
    hostile = f"Rad{line_end}Bcc: bert@example.org{line_end}{line_end}<script>"
    usual = sent(message()).keys()

    content = raw(title=hostile, place=hostile, seller_name=hostile)

    assert parsed(content).keys() == usual
    assert parsed(content)["Subject"].startswith("🆕 Rad")
    head = content.partition(b"\r\n\r\n")[0]
    assert not re.search(rb"^Bcc", head, re.MULTILINE)


def test_a_subject_keeps_its_spaces_and_begins_on_its_own_line() -> None:
    title = "\U000d0428\U00061ccd ü· \U000d70833] 🚲 ä\xb3; ö"

    content = raw(title=title)

    assert parsed(content)["Subject"].startswith(f"🆕 {title} · € 283")
    assert b"\r\nSubject: =?utf-8?" in b"\r\n" + content


@pytest.mark.parametrize("word", ["=?utf-8?q?=0D=0ABcc:_x@y.z?=", "=?utf-8?b?4oCuZXZpbA==?="])
def test_no_title_is_read_as_an_encoded_word(word: str) -> None:
    mail = sent(message(news(an_ad(title=f"Rad {word} neu"))))

    assert mail["Subject"].startswith("🆕 Rad \uff1d?utf-8?")
    assert not {"\r", "\n", "\u202e"} & set(mail["Subject"])


def test_a_mail_is_ascii_in_short_lines_that_end_as_mail_does() -> None:
    content = raw(title="Ä🚲" * 2_000, details=("ß" * 999,) * 6)

    assert content.isascii()
    assert b"\n" not in content.replace(b"\r\n", b"")
    assert max(map(len, content.split(b"\r\n"))) <= 998


def test_the_largest_mail_is_small() -> None:
    big = an_ad(
        title='"&<' * 3_000,
        place="ß" * 900,
        seller_name="🚲" * 900,
        details=("ü" * 900,) * 9,
        url="https://willhaben.at/?" + "&" * 2_000,
        image="https://willhaben.at/?" + "&" * 2_000,
    )
    transport = FakeTransport()

    a_channel(transport).send(a_reader(), SECRET, message(*[news(big, label="L" * 999)] * 50, more=99_999))

    assert len(transport.mails[0].content) < 300_000


def test_an_address_that_is_none_is_a_lost_destination() -> None:
    transport = FakeTransport()

    outcome = a_channel(transport).send(a_reader("anna@example.org\r\nBcc: x@y.at"), SECRET, message())

    assert outcome == Outcome(kind=OutcomeKind.DESTINATION, reason="not a mail address")
    assert transport.mails == []


def test_without_a_sender_mails_wait() -> None:
    outcome = a_channel(FakeTransport(), mail_from=" ").send(a_reader(), SECRET, message())

    assert outcome.kind is OutcomeKind.OUTAGE
    assert "MailFrom" in outcome.reason


@pytest.mark.parametrize("mail_from", ["Lago", "lago@localhost", "a@b.at, c@d.at", "x <a@b.at>\r\nBcc: c@d.at"])
def test_a_sender_that_is_no_address_stops_at_the_start(mail_from: str) -> None:
    with pytest.raises(SettingError, match=r"^MAIL_FROM: got .*, expected a mail address"):
        a_channel(FakeTransport(), mail_from=mail_from)


def test_what_cannot_be_written_costs_this_message_alone() -> None:
    broken = message(news(an_ad(title=None)))

    outcome = a_channel(FakeTransport()).send(a_reader(), SECRET, broken)

    assert outcome == Outcome(kind=OutcomeKind.RENDER, reason="TypeError")


def test_the_transport_says_what_became_of_it() -> None:
    refused = Outcome(kind=OutcomeKind.OUTAGE, reason="away")

    assert a_channel(FakeTransport(refused)).send(a_reader(), SECRET, message()) == refused
    assert a_channel(FakeTransport()).send(a_reader(), SECRET, message()) == DELIVERED


def test_pace_and_time_out() -> None:
    channel = EmailChannel(FakeTransport(), mail_from="", api_url=lambda: "", clock=FakeTime().clock)

    assert channel.name == "email"
    assert channel.spacing(ANNA) == 1_000
    assert channel.timeout == PREPARING + FakeTransport.timeout


def test_a_key_is_in_no_part_of_a_mail() -> None:
    key = unsubscribe.key_of(SECRET)

    assert key.encode() not in raw()


@pytest.mark.parametrize(("ms", "mails"), [(PREPARING, 1), (PREPARING + 1, 0)])
def test_a_mail_for_which_a_slow_look_up_left_no_time_comes_again_soon(ms: int, mails: int) -> None:
    transport, time = FakeTransport(), FakeTime()

    def slow() -> str:
        time.pass_by(ms)
        return API

    channel = EmailChannel(transport, mail_from="lago@example.org", api_url=slow, clock=time.clock)

    outcome = channel.send(a_reader(), SECRET, message())

    assert len(transport.mails) == mails
    assert outcome.kind is (OutcomeKind.DELIVERED if mails else OutcomeKind.GATE)
