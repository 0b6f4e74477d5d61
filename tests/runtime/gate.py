"""A TCP hop in front of a server: counts connections and lets them die as they do while a function is frozen."""

import socket
import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CHUNK = 65_536


class Gate:
    """Passes connections on to `target`. `opened` counts them."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.opened = 0
        self.url = ""
        self._target = target
        self._lock = threading.Lock()
        self._open: set[_Connection] = set()

    def close_idle(self) -> None:
        """The server hangs up on every open connection, as servers do after some idle seconds."""
        for connection in self._connections():
            connection.end()

    def forget(self) -> None:
        """The way is gone, but nobody says so: the next bytes on an open connection are answered with a reset."""
        for connection in self._connections():
            connection.forgotten = True

    def pass_on(self, near: socket.socket) -> None:
        """Serve one connection until either side ends it."""
        with socket.create_connection(self._target) as far:
            connection = _Connection(near, far)
            with self._lock:
                self.opened += 1
                self._open.add(connection)
            try:
                connection.run()
            finally:
                with self._lock:
                    self._open.discard(connection)

    def _connections(self) -> list["_Connection"]:
        with self._lock:
            return list(self._open)


class _Connection:
    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self.forgotten = False
        self._near, self._far = near, far

    def run(self) -> None:
        answers = threading.Thread(target=self._copy_answers, daemon=True)
        answers.start()
        with suppress(OSError):
            while chunk := self._near.recv(CHUNK):
                if self.forgotten:
                    # lingering for no time turns the close into a reset
                    self._near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self._near.close()
                    break
                self._far.sendall(chunk)
        with suppress(OSError):
            self._far.shutdown(socket.SHUT_RDWR)
        answers.join()

    def _copy_answers(self) -> None:
        with suppress(OSError):
            while chunk := self._far.recv(CHUNK):
                self._near.sendall(chunk)
        if not self.forgotten:
            self.end()

    def end(self) -> None:
        with suppress(OSError):
            self._near.shutdown(socket.SHUT_RDWR)


@contextmanager
def gate(url: str) -> Iterator[Gate]:
    """A gate in front of the server at `url`, which has host and port."""
    host, _, port = url.removeprefix("http://").partition(":")
    opened = Gate((host, int(port)))

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            opened.pass_on(self.request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        opened.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield opened
        finally:
            server.shutdown()
