"""What a library may do while it is watched: the interpreter tells of it before it happens."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path

import pytest

from lago.channels.apprise.guard import ForbiddenError, watched

NOWHERE = frozenset[tuple[str, int]]()


def told(event: str, *arguments: object) -> Callable[[], None]:
    """What the interpreter says before it does something: nothing is done here, whatever comes of it."""
    return lambda: sys.audit(event, *arguments)


def connecting(*address: object) -> Callable[[], None]:
    return told("socket.connect", None, address)


def refused(act: Callable[[], object], trusted: frozenset[tuple[str, int]] = NOWHERE) -> str:
    with watched(trusted) as watch:
        try:
            act()
        except ForbiddenError:
            assert watch.refused
        else:
            assert watch.refused == ""
    return watch.refused


@pytest.mark.parametrize(
    "address",
    [
        ("127.0.0.1", 80),
        ("169.254.169.254", 80),
        ("10.0.0.1", 443),
        ("192.168.1.1", 443),
        ("100.64.0.1", 443),
        ("0.0.0.0", 80),
        ("224.0.0.1", 80),
        ("::1", 80, 0, 0),
        ("::ffff:127.0.0.1", 80, 0, 0),
        ("64:ff9b::a00:1", 80, 0, 0),
        ("fe80::1%eth0", 80, 0, 2),
        ("fd00::1", 80, 0, 0),
        ("localhost", 80),
    ],
)
def test_nothing_inside_is_connected_to(address: tuple[object, ...]) -> None:
    assert refused(connecting(*address)) == "to connect to a host inside"


@pytest.mark.parametrize("address", [("93.184.215.14", 443), ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", 443, 0, 0)])
def test_the_public_internet_is(address: tuple[object, ...]) -> None:
    assert refused(connecting(*address)) == ""


def test_a_trusted_place_is_at_its_own_port_only() -> None:
    trusted = frozenset({("127.0.0.1", 8099)})

    assert refused(connecting("127.0.0.1", 8099), trusted) == ""
    assert refused(connecting("127.0.0.1", 8098), trusted)


@pytest.mark.parametrize("event", ["socket.sendto", "socket.sendmsg"])
def test_datagrams_are_watched_too(event: str) -> None:
    assert refused(told(event, None, ("127.0.0.1", 514)))


def test_what_is_sent_on_a_connection_was_looked_at_when_it_was_made() -> None:
    assert refused(told("socket.sendmsg", None, None)) == ""


@pytest.mark.parametrize("address", ["/var/run/docker.sock", b"\0abstract"])
def test_sockets_of_this_machine_are_closed(address: object) -> None:
    assert refused(told("socket.connect", None, address)) == "to connect to a socket that is no address on the internet"


@pytest.mark.parametrize(
    "path", ["/proc/self/environ", "/etc/passwd", "/etc/ssl/../passwd", "~/.aws/credentials", "secret.txt"]
)
def test_no_file_of_this_machine_is_read(path: str) -> None:
    assert refused(lambda: Path(path).read_bytes()) == "to read a file of this machine"


def test_a_link_leads_no_further_than_what_it_leads_to(tmp_path: Path) -> None:
    link = tmp_path / "innocent"
    link.symlink_to("/proc/self/environ")

    assert refused(link.read_bytes) == "to read a file of this machine"


def test_libraries_are_read() -> None:
    assert refused(lambda: Path(os.__file__).read_bytes()) == ""
    assert refused(lambda: Path(pytest.__file__).read_bytes()) == ""


def test_no_file_is_written_not_even_among_the_libraries(tmp_path: Path) -> None:
    assert refused(lambda: (tmp_path / "x").write_text("x")) == "to write a file"
    assert refused(told("open", os.__file__, "w", os.O_WRONLY)) == "to write a file"


def test_no_program_is_started() -> None:
    assert refused(lambda: subprocess.run(["true"], check=True)) == "to start a program"
    assert refused(told("os.system", b"true")) == "to start a program"


def test_the_first_refusal_is_the_one_that_is_told() -> None:
    with watched(NOWHERE) as watch:
        for act in (connecting("127.0.0.1", 80), told("os.system", b"true")):
            with pytest.raises(ForbiddenError):
                act()

    assert watch.refused == "to connect to a host inside"


def test_afterwards_and_beside_it_everything_is_as_before() -> None:
    free = threading.Thread(target=connecting("127.0.0.1", 80))

    with watched(NOWHERE) as watch:
        free.start()
        free.join()
    connecting("127.0.0.1", 80)()

    assert watch.refused == ""


def test_what_is_started_with_the_context_is_watched() -> None:
    with watched(NOWHERE) as watch:
        inside = threading.Thread(target=copy_context().run, args=(_ignoring(connecting("127.0.0.1", 80)),))
        inside.start()
        inside.join()

    assert watch.refused == "to connect to a host inside"


def _ignoring(act: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        with pytest.raises(ForbiddenError):
            act()

    return run


def test_two_watches_have_each_their_own_places() -> None:
    with watched(frozenset({("127.0.0.1", 1)})) as outer:
        with watched(frozenset({("127.0.0.1", 2)})) as inner:
            connecting("127.0.0.1", 2)()
        connecting("127.0.0.1", 1)()

    assert outer.refused == inner.refused == ""
