"""Lets containers reach a server that listens on the loopback interface only."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_CHUNK = 65_536


@contextmanager
def forwarded(address: str, port: int, target: tuple[str, int]) -> Iterator[None]:
    """Pass connections to `address`:`port` on to `target` meanwhile. Raises OSError when the address is not ours."""

    class Passing(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(target) as far:
                back = threading.Thread(target=_copy, args=(far, self.request), daemon=True)
                back.start()
                _copy(self.request, far)
                back.join()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Server((address, port), Passing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):  # either side may hang up at any time
        while chunk := source.recv(_CHUNK):
            sink.sendall(chunk)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
