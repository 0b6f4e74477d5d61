"""The real Apprise library against a server on this machine: what it delivers, and where it may not go."""

import socket
import threading
from collections.abc import Iterator

import pytest

from lago.channels.apprise.channel import AppriseChannel
from lago.domain.ids import Milliseconds
from lago.domain.outcome import DELIVERED, OutcomeKind
from lago.http_guard import NONE_TRUSTED, read_origins
from simulator.client import Simulator
from simulator.process import Process, start
from tests.unit.slack.builders import place
from tests.unit.telegram.builders import a_drop, an_ad, message, news


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    with start(ads=1, max_seconds=120) as running:
        yield running


@pytest.fixture
def far_side(process: Process) -> Simulator:
    process.client.reset()
    return process.client


@pytest.fixture
def trusting(process: Process) -> AppriseChannel:
    return AppriseChannel(trusted=read_origins(process.url, "TRUSTED_ORIGINS"))


def url(far_side: Simulator, schema: str = "json", path: str = "_hooks/webhook/lago") -> str:
    return f"{schema}://{far_side.base.removeprefix('http://')}/{path}"


def test_a_message_arrives(trusting: AppriseChannel, far_side: Simulator) -> None:
    assert trusting.send(place("apprise"), url(far_side), message()) == DELIVERED

    (post,) = far_side.posts("webhook")
    assert post.json["title"] == "🆕 New ad · Rennrad Wien · KTM Strada 1000 · € 283"
    assert an_ad().url in post.json["message"]


def test_a_club_arrives_once(trusting: AppriseChannel, far_side: Simulator) -> None:
    club = message(*[news(), news(a_drop())] * 25, more=4)

    assert trusting.send(place("apprise"), url(far_side), club) == DELIVERED

    (post,) = far_side.posts("webhook")
    assert post.json["title"].startswith("🔔 54 in all: 25 new ads, 25 price drops, 4 more")
    assert "… and 29 more" in post.json["message"]


@pytest.mark.parametrize("status", [404, 429, 500])
def test_a_refusal_is_an_outage_with_what_apprise_says(
    trusting: AppriseChannel, far_side: Simulator, status: int
) -> None:
    far_side.fault("status", "webhook", status=status)

    outcome = trusting.send(place("apprise"), url(far_side), message())

    assert outcome.kind is OutcomeKind.OUTAGE
    assert outcome.reason.startswith("Apprise json: ")
    assert str(status) in outcome.reason


@pytest.mark.parametrize("fault", ["drop", "drop_after"])
def test_a_lost_answer_is_an_outage_since_apprise_tells_no_more(
    trusting: AppriseChannel, far_side: Simulator, fault: str
) -> None:
    far_side.fault(fault, "webhook")

    assert trusting.send(place("apprise"), url(far_side), message()).kind is OutcomeKind.OUTAGE


def test_a_far_side_that_hangs_is_not_waited_for(far_side: Simulator, process: Process) -> None:
    far_side.fault("hang", "webhook", seconds=30)
    channel = AppriseChannel(trusted=read_origins(process.url, "TRUSTED_ORIGINS"), timeout=Milliseconds(3_000))
    channel.send(place("apprise"), url(far_side, path="elsewhere"), message())  # the library is loaded by now

    outcome = channel.send(place("apprise"), f"{url(far_side)}?rto=20", message())
    far_side.clear_faults()

    assert outcome.kind is OutcomeKind.AMBIGUOUS


@pytest.mark.parametrize(
    "given",
    [
        "gotify://127.0.0.1:{port}/abcdefghijklmn",
        "gotify://localhost:{port}/abcdefghijklmn",
        "gotify://2130706433:{port}/abcdefghijklmn",
        "ntfy://127.0.0.1:{port}/topic",
        "matrix://user:passw0rd@127.0.0.1:{port}/#room",
        "mailto://anna:passw0rd@127.0.0.1:{port}?from=a@example.org&to=b@example.com",
        "mailto://anna:passw0rd@example.org?smtp=127.0.0.1&port={port}&to=b@example.com",
        "apprise://127.0.0.1:{port}/abcdefgh",
    ],
)
def test_no_service_reaches_inside(far_side: Simulator, given: str) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    accepted = threading.Event()

    def accept() -> None:
        try:
            listener.accept()
        except OSError:
            return
        accepted.set()

    threading.Thread(target=accept, daemon=True).start()
    secret = given.format(port=listener.getsockname()[1])

    outcome = AppriseChannel(trusted=NONE_TRUSTED).send(place("apprise"), secret, message())
    arrived = accepted.wait(0.1)
    listener.close()

    assert outcome.kind is OutcomeKind.DESTINATION
    assert outcome.reason.endswith("not allowed to connect to a host inside")
    assert "passw0rd" not in outcome.reason
    assert not arrived


@pytest.mark.parametrize(
    "given",
    [
        "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js?template=/proc/self/environ",
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/?template=/etc/passwd",
    ],
)
def test_no_service_tells_what_is_in_a_file(given: str) -> None:
    outcome = AppriseChannel().send(place("apprise"), given, message())

    assert outcome.kind is OutcomeKind.DESTINATION
    assert outcome.reason.endswith("not allowed to read a file of this machine")


def test_a_redirect_leads_nowhere_inside(trusting: AppriseChannel, far_side: Simulator) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(5)
    target = f"http://127.0.0.1:{far_side.base.rpartition(':')[2]}/_hooks/webhook/inside"

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(f"HTTP/1.1 307 x\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode())

    threading.Thread(target=answer, daemon=True).start()
    port = listener.getsockname()[1]
    channel = AppriseChannel(trusted=read_origins(f"http://127.0.0.1:{port}", "TRUSTED_ORIGINS"))

    outcome = channel.send(place("apprise"), f"json://127.0.0.1:{port}/x?redirect=yes", message())
    listener.close()

    assert outcome.kind is OutcomeKind.DESTINATION
    assert far_side.posts() == []


@pytest.mark.parametrize(
    "given", ["nosuchservice://passw0rd", "discord://passw0rd", "mqtt://example.org/topic", "tgram://passw0rd"]
)
def test_what_the_library_cannot_use_disables_the_destination_and_is_not_repeated(given: str) -> None:
    outcome = AppriseChannel().send(place("apprise"), given, message())

    assert outcome.kind is OutcomeKind.DESTINATION
    assert "passw0rd" not in outcome.reason
