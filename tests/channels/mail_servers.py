"""Mail servers on this machine: one that behaves (aiosmtpd), and one that says what a test has written down."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

USER, PASSWORD = "anna", "hunter2-s3cret"


class Inbox:
    """aiosmtpd's handler: keeps what it is given; answers to RCPT and DATA can be set."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.rcpt = "250 OK"
        self.data = "250 OK"

    async def handle_RCPT(  # noqa: N802 (aiosmtpd's hook)
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if self.rcpt.startswith("2"):
            envelope.rcpt_tos.append(address)
        return self.rcpt

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 (aiosmtpd's hook)
        self.mails.append(envelope)
        if self.data == "drop":
            server.transport.abort()
        return self.data


class _OnAnyPort(Controller):
    """A controller that listens on a port that is free."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def serving(inbox: Inbox, **options: Any) -> Iterator[int]:
    """A mail server in a thread; gives its port."""
    controller = _OnAnyPort(inbox, hostname="localhost", port=0, **options)
    controller.start()
    try:
        yield int(controller.port)
    finally:
        controller.stop()


def only_anna(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    """aiosmtpd's authenticator."""
    right = isinstance(data, LoginPassword) and (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=right, handled=right)


def server_context(authority: trustme.CA, name: str = "localhost") -> ssl.SSLContext:
    """With a certificate of `authority` for `name`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def client_context(authority: trustme.CA) -> ssl.SSLContext:
    """That trusts `authority` and nobody else."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(context)
    return context


Script = Callable[[socket.socket], None]


@contextmanager
def scripted(script: Script) -> Iterator[int]:
    """Runs `script` on each connection until the test is over; gives the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    connections: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connections.append(connection)
            try:
                script(connection)
            except OSError:  # the client has gone
                continue

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in connections:
            connection.close()
        thread.join(5)


def says(*answers: str, then: Script = lambda connection: connection.close()) -> Script:
    """A greeting and one answer for each line that comes; `then` what is to happen instead of more answers.

    After an answer that begins with 354 the next one comes when the mail has ended.
    """

    def script(connection: socket.socket) -> None:
        lines = connection.makefile("rb")
        connection.sendall(f"{answers[0]}\r\n".encode())
        before = ""
        for answer in answers[1:]:
            line = lines.readline()
            while before.startswith("354") and line not in (b".\r\n", b""):
                line = lines.readline()
            connection.sendall(f"{answer}\r\n".encode())
            before = answer
        if before.startswith("354"):
            while lines.readline() not in (b".\r\n", b""):
                pass
        lines.close()
        then(connection)

    return script


def hangs(connection: socket.socket) -> None:
    """Say nothing more and listen until the other side goes."""
    while connection.recv(65_536):
        pass


def drips(connection: socket.socket) -> None:
    """A byte now and then, and never a whole line."""
    pause = threading.Event()
    while not pause.wait(0.05):
        connection.sendall(b"2")


def talks(connection: socket.socket) -> None:
    """One answer of lines without end."""
    while True:
        connection.sendall(b"250-more\r\n" * 1_000)
