"""How a message travels through Apprise, and how each failure ends."""

import logging
import threading
from pathlib import Path

import pytest

from lago.channels.apprise import library
from lago.channels.apprise.channel import Load
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.http_guard import read_origins
from tests.unit.apprise.builders import URL, a_service, channel, loading
from tests.unit.slack.builders import place
from tests.unit.telegram.builders import message

TRUSTED = read_origins("http://127.0.0.1:8099", "TRUSTED_ORIGINS")


def send(load: Load, secret: str = URL) -> Outcome:
    return channel(load).send(place("apprise"), secret, message())


def says(*lines: str) -> bool:
    for line in lines:
        logging.getLogger("apprise").warning(line)
    return False


@pytest.fixture
def quiet_library() -> None:
    library.load()


def test_a_message_is_given_to_the_service_as_it_likes_it() -> None:
    plain, html = a_service(), a_service(html=True)

    assert send(loading(plain)) == send(loading(html)) == DELIVERED

    ((title, body, as_html),) = plain.sent
    assert title == "🆕 New ad · Rennrad Wien · KTM Strada 1000 · € 283"
    assert (body.splitlines()[1], as_html) == ("€ 283", False)
    assert html.sent[0][2] is True


def test_a_service_that_says_no_is_an_outage() -> None:
    outcome = send(loading(a_service(lambda: False)))

    assert outcome == Outcome(kind=OutcomeKind.OUTAGE, reason="Apprise mailto: it failed, and did not say why")


@pytest.mark.usefixtures("quiet_library")
def test_what_the_library_says_is_the_reason_without_its_secrets(caplog: pytest.LogCaptureFixture) -> None:
    outcome = send(loading(a_service(lambda: says("A Connection error", "login of anna with passw0rd failed", URL))))

    assert outcome.kind is OutcomeKind.OUTAGE
    assert outcome.reason.startswith("Apprise mailto: A Connection error · login of [removed] with [removed] failed")
    assert "passw0rd" not in outcome.reason
    # pytest listens to the library's logger itself: what we would log is what goes beyond it
    assert not logging.getLogger("apprise").propagate
    assert "passw0rd" not in "".join(record.getMessage() for record in caplog.records if record.name != "apprise")


@pytest.mark.usefixtures("quiet_library")
def test_what_it_says_of_one_message_is_not_told_of_another() -> None:
    first = send(loading(a_service(lambda: says("first"))))
    second = send(loading(a_service(lambda: says("second"))))

    assert (first.reason, second.reason) == ("Apprise mailto: first", "Apprise mailto: second")


def test_a_plugin_that_breaks_is_an_outage(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> bool:
        raise KeyError(URL)

    outcome = send(loading(a_service(broken)))

    assert outcome.kind is OutcomeKind.OUTAGE
    assert outcome.reason.startswith("Apprise mailto: KeyError")
    assert "passw0rd" not in outcome.reason + caplog.text


def test_a_url_that_the_library_cannot_use_disables_the_destination() -> None:
    outcome = send(loading(None))

    assert outcome.kind is OutcomeKind.DESTINATION


def test_without_the_library_the_message_waits_for_it() -> None:
    def missing() -> None:
        raise ModuleNotFoundError("No module named 'apprise'")

    outcome = send(missing)  # type: ignore[arg-type]

    assert outcome.kind is OutcomeKind.OUTAGE
    assert "parameter UseApprise" in outcome.reason


def test_what_we_cannot_render_is_our_own_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("seller text")

    monkeypatch.setattr("lago.channels.apprise.letter.write", broken)

    assert send(loading(a_service())) == Outcome(kind=OutcomeKind.RENDER, reason="ZeroDivisionError")


class TestTime:
    def test_a_send_that_hangs_may_have_been_delivered(self) -> None:
        release = threading.Event()

        outcome = channel(loading(a_service(lambda: release.wait(10))), timeout=50).send(place(), URL, message())
        release.set()

        assert outcome == Outcome(kind=OutcomeKind.AMBIGUOUS, reason="Apprise: no end within 0.05 s")

    def test_a_library_that_loads_too_slowly_sends_nothing_afterwards(self) -> None:
        release, loaded, service = threading.Event(), threading.Event(), a_service()

        def slow() -> object:
            release.wait(10)
            loaded.set()
            return loading(service)()

        outcome = channel(slow, timeout=50).send(place(), URL, message())  # type: ignore[arg-type]
        release.set()
        loaded.wait(10)
        for thread in threading.enumerate():
            if thread.name == "apprise":
                thread.join(10)

        assert outcome == Outcome(kind=OutcomeKind.OUTAGE, reason="Apprise: not ready to send within 0.05 s")
        assert service.sent == []


class TestHosts:
    @pytest.mark.parametrize("schema", ["json", "jsons", "xml", "xmls", "form", "forms", "JSON"])
    def test_a_schema_that_takes_any_host_is_for_trusted_origins(self, schema: str) -> None:
        service = a_service()

        outcome = send(loading(service), f"{schema}://93.184.215.14/hook")

        assert outcome.kind is OutcomeKind.DESTINATION
        assert "use the channel webhook" in outcome.reason
        assert service.sent == []

    @pytest.mark.parametrize(("port", "kind"), [(8099, OutcomeKind.DELIVERED), (8098, OutcomeKind.DESTINATION)])
    def test_an_origin_is_trusted_at_its_port(self, port: int, kind: OutcomeKind) -> None:
        trusting = channel(loading(a_service()), trusted=TRUSTED)

        assert trusting.send(place(), f"json://user:pw@127.0.0.1:{port}/x", message()).kind is kind

    def test_a_service_that_reaches_inside_is_a_lost_destination(self) -> None:
        outcome = send(loading(a_service(lambda: bool(Path("/proc/self/environ").read_text()))))

        assert outcome == Outcome(
            kind=OutcomeKind.DESTINATION, reason="Apprise mailto: not allowed to read a file of this machine"
        )

    def test_a_message_that_was_taken_all_the_same_is_delivered(self) -> None:
        def curious() -> bool:
            try:
                Path("/proc/self/environ").read_text()
            except OSError:
                return True
            return False

        assert send(loading(a_service(curious))) == DELIVERED


@pytest.mark.parametrize("secret", ["", "no url", "https://example.org/passw0rd", f"{URL}, {URL}"])
def test_a_secret_that_is_no_apprise_url_disables_the_destination(secret: str) -> None:
    service = a_service()

    outcome = send(loading(service), secret)

    assert outcome.kind is OutcomeKind.DESTINATION
    assert "passw0rd" not in outcome.reason
    assert service.sent == []


def test_spacing_and_time_out_are_modest() -> None:
    quick = channel(loading(a_service()), timeout=20_000)

    assert (quick.spacing("mailto"), quick.timeout) == (1_000, 20_000)
