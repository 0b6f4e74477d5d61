"""smtplib, bounded: a server can stall no step and no conversation for longer than agreed, nor talk without end.

smtplib's own time-out starts anew with every byte that arrives and with every address of a host; it reads an answer of
any number of lines.
"""

import io
import smtplib
import socket
import time
from collections.abc import Callable
from typing import Any

from lago.host_names import resolve_within

STEP_SECONDS = 5.0
TOTAL_SECONDS = 19.0
ANSWERS_BYTES = 256 * 1024
CHUNK = 16 * 1024


class Deadline:
    """When all must be over. `clock` returns seconds and never goes back."""

    def __init__(self, *, step: float, total: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._step, self._clock = step, clock
        self._end = clock() + total

    def left(self) -> float:
        """Seconds that the next step may take. Raises TimeoutError when none are left."""
        left = self._end - self._clock()
        if left <= 0:
            raise TimeoutError("the conversation took too long")
        return min(left, self._step)


class _Answers(io.RawIOBase):
    """What a server says, as a file: each read within the deadline, all of it within `ANSWERS_BYTES`."""

    def __init__(self, sock: Any, deadline: Deadline) -> None:
        self._socket, self._deadline = sock, deadline
        self._bytes = 0

    def readable(self) -> bool:
        """As a file says it."""
        return True

    def readinto(self, buffer: Any) -> int:
        """One piece of an answer; 0 when the connection has ended."""
        self._socket.settimeout(self._deadline.left())
        count: int = self._socket.recv_into(buffer)
        self._bytes += count
        if self._bytes > ANSWERS_BYTES:
            raise ConnectionAbortedError("the server talks without end")
        return count


class Session(smtplib.SMTP):
    """One conversation. `connected` makes a TLS connection of a plain one, for a server that speaks TLS at once."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        name: str,
        deadline: Deadline,
        connected: Callable[[socket.socket], socket.socket] = lambda sock: sock,
    ) -> None:
        """Connect and read the greeting. `name` is said in EHLO; smtplib would look up this machine's own."""
        self._deadline, self._connected = deadline, connected
        super().__init__(host, port, local_hostname=name, timeout=deadline.left())

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # noqa: ARG002 (smtplib's hook)
        failed: OSError = ConnectionError("the host has no address")
        for address in resolve_within(self._deadline.left(), host, port):
            try:
                sock = socket.create_connection((address, port), self._deadline.left())
            except OSError as error:
                failed = error
                continue
            try:
                return self._connected(sock)
            except OSError as error:
                sock.close()
                failed = error
        raise failed

    def send(self, s: Any) -> None:
        """Send all of `s`, within the deadline."""
        data = s.encode("ascii") if isinstance(s, str) else bytes(s)
        if self.sock is None:
            raise smtplib.SMTPServerDisconnected("not connected")
        for start in range(0, len(data), CHUNK):
            self.sock.settimeout(self._deadline.left())
            self.sock.sendall(data[start : start + CHUNK])

    def getreply(self) -> tuple[int, bytes]:
        """The next answer, within the deadline."""
        if self.file is None:  # also after STARTTLS: what was said in clear and not read yet counts no more
            self.file = io.BufferedReader(_Answers(self.sock, self._deadline))
        return super().getreply()
