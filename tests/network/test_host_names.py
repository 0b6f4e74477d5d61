"""A name server that does not answer holds up nobody for longer than connecting may take."""

import socket
import threading
from collections.abc import Iterator, Sequence

import httpcore
import pytest

from lago.channels.email.smtp import SmtpTransport
from lago.channels.email.transport import Mail
from lago.domain.outcome import OutcomeKind
from lago.host_names import resolve, resolve_within
from lago.http import HttpClient, HttpSettings, NotSentError
from lago.http_deadline import BoundedNetwork, Deadline
from tests.web_server import serving

NAME = "hangs.example.org"


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The system's resolver, which does not answer before the test is over."""
    over = threading.Event()

    def hangs(*_: object, **__: object) -> object:
        over.wait(20)
        raise socket.gaierror("Temporary failure in name resolution")

    with monkeypatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", hangs)
        yield
        over.set()


def test_the_system_resolves_loopback_and_names_that_are_none() -> None:
    assert "127.0.0.1" in resolve("localhost", 80)
    with pytest.raises(OSError):
        resolve("a" * 64 + ".org", 80)


@pytest.mark.usefixtures("silent")
def test_a_look_up_ends_when_its_time_is_over() -> None:
    with pytest.raises(TimeoutError):
        resolve_within(0.05, NAME, 80)


@pytest.mark.usefixtures("silent")
def test_a_request_whose_host_name_is_not_answered_was_not_sent() -> None:
    client = HttpClient(HttpSettings(connect_seconds=0.05))

    with pytest.raises(NotSentError, match="ConnectTimeout"):
        client.post(f"http://{NAME}/", label="test", content=b"{}")

    client.close()


@pytest.mark.usefixtures("silent")
def test_a_mail_whose_server_is_not_found_in_time_was_not_sent() -> None:
    transport = SmtpTransport(lambda: f"smtps://{NAME}", step=0.05, total=1)

    outcome = transport.send(Mail(sender="lago@example.org", recipient="anna@example.org", content=b"\r\n"))

    assert (outcome.kind, outcome.reason) == (OutcomeKind.OUTAGE, "SMTP: TimeoutError")


def test_a_name_that_does_not_exist_is_no_connection() -> None:
    def unknown(_host: str, _port: int) -> Sequence[str]:
        raise socket.gaierror("Name or service not known")

    network = BoundedNetwork(Deadline(1, lambda: 0).left, resolve=unknown)

    with pytest.raises(httpcore.ConnectError):
        network.connect_tcp(NAME, 80)


def test_the_next_address_is_tried_when_nobody_listens_at_the_first() -> None:
    with serving() as server:
        network = BoundedNetwork(Deadline(5, lambda: 0).left, resolve=lambda _host, _port: ["127.0.0.2", "127.0.0.1"])

        stream = network.connect_tcp(NAME, server.port, timeout=1)

        assert stream.get_extra_info("server_addr")[0] == "127.0.0.1"
        stream.close()
