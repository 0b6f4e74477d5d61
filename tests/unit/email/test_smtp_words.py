"""What a mail server's setting and its answers mean."""

import pytest

from lago.channels.email.smtp_answer import QUOTA_GATE, RATE_GATE, Step, judge_reply
from lago.channels.email.smtp_url import SmtpServer, read_smtp_url
from lago.domain.outcome import OutcomeKind
from lago.errors import SettingError

OUTAGE, GATE, MESSAGE, DESTINATION = (
    OutcomeKind.OUTAGE,
    OutcomeKind.GATE,
    OutcomeKind.MESSAGE,
    OutcomeKind.DESTINATION,
)


class TestTheUrl:
    @pytest.mark.parametrize(
        ("url", "server"),
        [
            ("smtps://anna:pw@mail.example.org", ("mail.example.org", 465, "anna", "pw", "tls")),
            ("  smtps://anna:pw@mail.example.org:2465/\n", ("mail.example.org", 2465, "anna", "pw", "tls")),
            ("smtp://an%40na:p%3A%2F%23w@mail.example.org", ("mail.example.org", 587, "an@na", "p:/#w", "starttls")),
            ("smtp://mail.example.org:25", ("mail.example.org", 25, "", "", "starttls")),
            ("smtp+insecure://localhost:1025", ("localhost", 1025, "", "", "")),
            ("smtp+insecure://127.0.0.1", ("127.0.0.1", 25, "", "", "")),
            ("smtp+insecure://[::1]:1025", ("::1", 1025, "", "", "")),
        ],
    )
    def test_names_a_server(self, url: str, server: tuple[str, int, str, str, str]) -> None:
        host, port, user, password, encrypted = server

        assert read_smtp_url(url) == SmtpServer(host=host, port=port, user=user, password=password, encrypted=encrypted)

    @pytest.mark.parametrize(
        ("url", "problem"),
        [
            ("", "names no mail server"),
            ("mail.example.org", "names no mail server"),
            ("https://anna:hunter2@mail.example.org", "names no mail server"),
            ("smtp://anna:hunter2@", "names no mail server"),
            ("smtps://anna:hunter2@mail.example.org:0", "names no mail server"),
            ("smtps://anna:hunter2@mail.example.org:99999", "is no URL"),
            ("smtps://anna:hunter2@[mail", "is no URL"),
            ("smtps://anna:hunter2@mail..example", "is no URL"),
            (f"smtps://anna:hunter2@{'a' * 70}.example", "is no URL"),
            ("smtps://anna:hunter2/x@mail.example.org", "is no URL"),
            ("smtps://anna:hunter2@mail.example.org/x", "has something behind the host"),
            ("smtps://anna:hunter2@mail.example.org?tls=no", "has something behind the host"),
            ("smtps://anna@mail.example.org", "has a user without a password"),
            ("smtps://:hunter2@mail.example.org", "has a user without a password"),
            ("smtps://anna:hunter2%C3%A4@mail.example.org", "beyond ASCII"),
            ("smtps://anna:hunter2%0D%0AQUIT@mail.example.org", "beyond ASCII"),
            ("smtps://anna:hunter2%FF@mail.example.org", "is no URL"),
            ("smtp+insecure://anna:hunter2@mail.example.org", "is not encrypted"),
            ("smtp+insecure://10.0.0.1", "is not encrypted"),
            ("smtp+insecure://localhost.example.org", "is not encrypted"),
        ],
    )
    def test_that_is_wrong_says_why_and_repeats_nothing(self, url: str, problem: str) -> None:
        with pytest.raises(SettingError) as caught:
            read_smtp_url(url)

        assert problem in str(caught.value)
        assert "hunter2" not in str(caught.value)
        assert "smtps://USER:PASSWORD@HOST:465" in str(caught.value)


@pytest.mark.parametrize(
    ("step", "code", "said", "kind"),
    [
        ("greeting", 421, "4.3.2 Service not available", OUTAGE),
        ("greeting", 554, "5.7.1 No SMTP service here", OUTAGE),
        ("login", 535, "5.7.8 Authentication credentials invalid", OUTAGE),
        ("login", 454, "4.7.0 Temporary authentication failure, too many logins", OUTAGE),
        ("sender", 550, "5.7.1 Sender not allowed, user unknown", OUTAGE),
        ("sender", 530, "5.7.0 Authentication required", OUTAGE),
        ("sender", 452, "4.3.1 Insufficient system storage", OUTAGE),
        ("recipient", 450, "4.7.1 Greylisted, see http://postgrey.example/help", OUTAGE),
        ("recipient", 451, "4.7.1 Greylisting in action, too many requests", OUTAGE),
        ("recipient", 421, "4.7.0 Try again later, closing connection", OUTAGE),
        ("recipient", 452, "4.2.2 Mailbox full", OUTAGE),
        ("recipient", 452, "4.7.1 Rate limit of 10 messages a minute", GATE),
        ("recipient", 550, "5.1.1 The email account that you tried to reach does not exist", DESTINATION),
        ("recipient", 550, "5.1.10 RESOLVER.ADR.RecipientNotFound; not found", DESTINATION),
        ("recipient", 550, "No such user here", DESTINATION),
        ("recipient", 550, "Requested action not taken: mailbox unavailable", DESTINATION),
        ("recipient", 551, "User not local", DESTINATION),
        ("recipient", 553, "sorry, this recipient does not exist", DESTINATION),
        ("recipient", 550, "5.2.1 The mailbox is disabled", DESTINATION),
        ("recipient", 550, "5.7.1 Blocked by spamhaus: user unknown to us as a friend", MESSAGE),
        ("recipient", 552, "5.2.2 Over quota", MESSAGE),
        ("recipient", 550, "Rejected by policy", MESSAGE),
        ("recipient", 501, "no such thing as that syntax", MESSAGE),
        ("recipient", 554, "5.7.1 <anna@example.org>: Relay access denied", OUTAGE),
        ("recipient", 530, "Must issue a STARTTLS command first", OUTAGE),
        ("data", 451, "4.3.0 Try again", OUTAGE),
        ("data", 454, "Throttling failure: Maximum sending rate exceeded.", GATE),
        ("data", 454, "Throttling failure: Daily message quota exceeded.", GATE),
        ("data", 554, "Message rejected: Email address is not verified.", OUTAGE),
        ("data", 554, "5.7.1 Looks like spam", MESSAGE),
        ("data", 550, "5.1.1 user unknown", MESSAGE),
        ("data", 552, "5.3.4 Message too big", MESSAGE),
        ("sender", -1, "garbage", OUTAGE),
        ("data", 250, "2.0.0 in the wrong place", OUTAGE),
    ],
)
def test_each_answer_has_its_class(step: Step, code: int, said: str, kind: OutcomeKind) -> None:
    outcome = judge_reply(step, code, said)

    assert outcome.kind is kind
    assert outcome.reason.startswith(f"SMTP {code} to {step}")
    assert (outcome.retry_after is not None) == (kind is GATE)


def test_a_rate_passes_in_a_minute_a_quota_in_hours() -> None:
    assert judge_reply("data", 454, "Throttling failure: Maximum sending rate exceeded").retry_after == RATE_GATE
    assert judge_reply("data", 454, "Throttling failure: Daily message quota exceeded").retry_after == QUOTA_GATE


def test_an_answer_that_quotes_the_password_is_not_passed_on() -> None:
    outcome = judge_reply("login", 535, "hunter2 is wrong,\r\nand so is aHVudGVyMg==", "hunter2", "aHVudGVyMg==")

    assert "hunter2" not in outcome.reason
    assert "aHVudGVyMg" not in outcome.reason
    assert "wrong user or password in the secret SMTP URL" in outcome.reason


def test_a_long_answer_is_cut() -> None:
    assert len(judge_reply("recipient", 550, "5.7.1 " + "ß" * 9_000).reason.encode()) <= 500
