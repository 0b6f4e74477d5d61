"""HTTP/1.1 with keep-alive around a World: market below /iad/, Telegram below /bot…/, /_hooks/, /_control/."""

import gzip
import itertools
import json
import re
import socket
import sys
import threading
import time
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, cast
from urllib.parse import parse_qsl, unquote

from simulator import control
from simulator.answering import JSON, Reply, hook_reply, market_reply, telegram_reply
from simulator.hooks import incoming
from simulator.stats import Asked
from simulator.world import StateFileError, World, query_of

BODY_LIMIT = 32 * 1024 * 1024
_BOT = re.compile(r"/bot([^/]*)/?([^/]*).*")


class Server(ThreadingHTTPServer):
    """One thread for each connection; they end with the process."""

    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], world: World) -> None:
        self.world = world
        self.handlers: set[Handler] = set()
        self.gate = threading.Lock()
        self.numbers = itertools.count(1)
        super().__init__(address, Handler)

    def server_bind(self) -> None:
        """Bind without http.server's reverse look-up of the host, which takes seconds where no name server answers."""
        TCPServer.server_bind(self)

    @property
    def url(self) -> str:
        """Where the simulator answers."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error of ours."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def close_idle(self, spare: "Handler") -> int:
        """Close every connection that waits for its next request, as a server or NAT does, and the others after it.

        Returns how many.
        """
        with self.gate:
            others = [handler for handler in self.handlers if handler is not spare]
            for handler in others:
                handler.leaving = True
                if not handler.busy:
                    handler.hang_up()
        return len(others)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server_version = "lago-simulator"
    sys_version = ""
    busy = False
    leaving = False
    """Close once the request at hand is answered."""

    def setup(self) -> None:
        """Count the connection in."""
        super().setup()
        self.owner = cast("Server", self.server)
        self.number = next(self.owner.numbers)
        with self.owner.gate:
            self.owner.handlers.add(self)

    def finish(self) -> None:
        """Count the connection out."""
        with self.owner.gate:
            self.owner.handlers.discard(self)
        super().finish()

    def hang_up(self) -> None:
        """Close the connection from whatever thread."""
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def do_GET(self) -> None:
        """Answer one request."""
        with self.owner.gate:
            self.busy = True
        try:
            self._answer()
        except StateFileError as error:
            self._send(Reply(status=500, content_type="text/plain", body=f"simulator: {error}".encode()))
        finally:
            with self.owner.gate:
                self.busy = False
                if self.leaving:
                    self.hang_up()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: /_control/stats has it all."""

    def _answer(self) -> None:
        body = self._read_body()
        if body is None:
            return
        path, query = query_of(self.path)
        if path.startswith("/_control/"):
            self._control(path, query, body)
            return
        bot = _BOT.fullmatch(unquote(path))
        headers = {name.lower(): value for name, value in self.headers.items()}
        hook = incoming(self.command, path, query, headers, body)
        target = hook.service if hook else "telegram" if bot else "market"
        shown = f"/_hooks/{hook.service}" if hook else f"/bot<token>/{bot[2]}" if bot else self.path
        asked = Asked(
            time=self.owner.world.clock(),
            target=target,
            verb=self.command,
            path=shown,
            host=self.headers.get("Host", ""),
            connection=self.number,
            reused=False,
        )
        with self.owner.world.stats.request(asked, headers):
            if bot:
                params = self._params(query, body)
                self._long_poll(bot[2], params)
                reply = telegram_reply(self.owner.world, bot[1], bot[2], params)
            elif hook:
                reply = hook_reply(self.owner.world, hook)
            else:
                reply = market_reply(self.owner.world, path, query)
            self._wait(reply)
            asked.status = None if reply.lost else reply.status
        # Counted to its end before the client can ask again, or one client in a row would look like two at a time.
        if reply.lost:
            self.hang_up()
        else:
            self._send(reply)

    def _wait(self, reply: Reply) -> None:
        """Take as long as the faults say, unless they are cleared or the simulator stops."""
        world, ends = self.owner.world, time.monotonic() + reply.delay
        while (left := ends - time.monotonic()) > 0 and not world.stopping.wait(min(left, 0.05)):
            with world.lock:
                if not world.faults.has(reply.held_by):
                    return

    def _control(self, path: str, query: str, body: bytes) -> None:
        if (self.command, path) == ("DELETE", "/_control/connections"):
            status, answer = 200, {"ok": True, "result": {"closed": self.owner.close_idle(self)}}
        else:
            status, answer = control.handle(self.owner.world, self.command, path, dict(parse_qsl(query)), body)
        self._send(Reply(status=status, content_type=JSON, body=json.dumps(answer).encode()))

    def _send(self, reply: Reply) -> None:
        body = reply.body
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        if "gzip" in self.headers.get("Accept-Encoding", "") and reply.content_type != JSON and len(body) > 500:
            body = gzip.compress(body, 5, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if reply.cut else body)
        self.wfile.flush()
        if reply.cut:
            self.hang_up()

    def _read_body(self) -> bytes | None:
        """The body, or None when it was refused."""
        length = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") or not length.isdigit():
            self.send_error(411)
            self.close_connection = True
            return None
        if int(length) > BODY_LIMIT:
            self.send_error(413)
            self.close_connection = True
            return None
        return self.rfile.read(int(length))

    def _params(self, query: str, body: bytes) -> dict[str, object] | None:
        """Bot API parameters from the query, a JSON body or a form; None where they cannot be read.

        A file that is uploaded becomes its size.
        """
        params: dict[str, object] = dict(parse_qsl(query, keep_blank_values=True))
        kind = self.headers.get_content_type()
        try:
            if kind == "application/json" and body:
                decoded = json.loads(body)
                if not isinstance(decoded, dict):
                    return None
                params |= decoded
            elif kind == "application/x-www-form-urlencoded":
                params |= dict(parse_qsl(body.decode(), keep_blank_values=True))
            elif kind == "multipart/form-data":
                params |= _multipart(self.headers["Content-Type"], body)
        except ValueError:
            return None
        return params

    def _long_poll(self, method: str, params: dict[str, object] | None) -> None:
        """Wait as getUpdates is told to, until there is something or the simulator stops."""
        params = params or {}
        waits = str(params.get("timeout", ""))
        if method.lower() != "getupdates" or not waits.isdigit():
            return
        world, ends = self.owner.world, time.monotonic() + min(int(waits), 50)
        offset = str(params.get("offset", "0"))
        least = int(offset) if offset.isdigit() else 0
        while time.monotonic() < ends and not world.stopping.wait(0.05):
            with world.lock:
                if any(int(str(update["update_id"])) >= least for update in world.telegram.updates):
                    return


def _multipart(content_type: str, body: bytes) -> dict[str, object]:
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + body)
    params: dict[str, object] = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        content = data if isinstance(data, bytes) else b""
        params[str(name)] = f"<upload of {len(content)} bytes>" if part.get_filename() else content.decode()
    return params


def live(world: World) -> None:
    """Let the market live until it stops; the pace may change meanwhile."""
    waited = 0.0
    while not world.stopping.wait(0.1):
        waited = waited + 0.1 if world.live_seconds else 0.0
        if world.live_seconds and waited >= world.live_seconds:
            waited = 0.0
            try:
                world.live_step()
            except StateFileError as error:
                print(f"simulator: {error}", file=sys.stderr, flush=True)


def serve(world: World, host: str = "127.0.0.1", port: int = 0) -> Server:
    """Bind and answer in threads of this process; the caller ends it with `stop`."""
    server = Server((host, port), world)
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True, name="simulator").start()
    threading.Thread(target=live, args=(world,), daemon=True, name="simulator-live").start()
    return server


def stop(server: Server) -> None:
    """Release what hangs, close the door, keep the state."""
    server.world.stopping.set()
    server.shutdown()
    server.server_close()
    server.world.save()
