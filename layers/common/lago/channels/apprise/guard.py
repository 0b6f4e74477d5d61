"""What a foreign library may do while it sends for us: reach public addresses, and read libraries.

Apprise opens its own connections, to hosts that a person named, in ways that differ from service to service. Instead of
following each, this listens to the interpreter's audit events (PEP 578), which are raised on every connection and with
the very address: a name that leads inside, a redirect there, or a name that resolves anew ("DNS rebinding") all end
here. Files are listened to as well, since some services take one as a template (`?template=/proc/self/environ`).

Not covered: a library's own threads and sockets of native code. Apprise as it is in our layer uses neither.
"""

import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import lago
from lago.http_guard import is_public

Places = frozenset[tuple[str, int]]
"""Addresses and ports."""

_CONNECTIONS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_PROCESSES = frozenset({"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"})
_FILES = frozenset({"open"})
_LIBRARIES = (*sysconfig.get_paths().values(), sys.base_prefix, Path(lago.__file__).parents[1])
_READABLE = (
    *{os.path.realpath(str(path)) + os.sep for path in _LIBRARIES},
    "/var/runtime/",  # Lambda's own libraries
    "/etc/ssl/",
    "/etc/pki/",
    "/usr/lib/ssl/",
    "/usr/share/ca-certificates/",
    "/usr/share/zoneinfo/",
    "/etc/hosts",
    "/etc/localtime",
    "/etc/mime.types",
    os.devnull,
)
"""Python's libraries and ours (in Lambda: all layers), certificates, names and time zones."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class ForbiddenError(PermissionError):
    """The library was about to do what it may not, which the text says; it takes it for a failed connection."""


class Watch:
    """What one send is allowed; `refused` is the first thing that was not, "" for none."""

    def __init__(self, trusted: Places) -> None:
        self._trusted = trusted
        self.refused = ""

    def check(self, event: str, arguments: tuple[object, ...]) -> None:
        """Raise ForbiddenError for what may not be."""
        if event in _CONNECTIONS:
            wrong = self._wrong_address(arguments[1])
        elif event in _FILES:
            wrong = _wrong_file(arguments)
        else:
            wrong = "to start a program"
        if wrong:
            self.refused = self.refused or wrong
            raise ForbiddenError(wrong)

    def _wrong_address(self, address: object) -> str:
        match address:
            case None:  # of a socket that is connected, and was looked at then
                return ""
            case (str(host), int(port), *_):
                return "" if (host, port) in self._trusted or is_public(host) else "to connect to a host inside"
            case _:
                return "to connect to a socket that is no address on the internet"


def _wrong_file(arguments: tuple[object, ...]) -> str:
    path, _mode, flags = arguments
    if isinstance(path, int):
        return ""
    real = os.path.realpath(os.fsdecode(path) if isinstance(path, (str, bytes)) else str(path))
    if isinstance(flags, int) and flags & _WRITING and real != os.devnull:
        return "to write a file"
    return "" if real.startswith(_READABLE) else "to read a file of this machine"


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_lock = threading.Lock()
_listening = False


@contextmanager
def watched(trusted: Places) -> Iterator[Watch]:
    """Watch what this thread does and starts with its context; `trusted` places are allowed although inside."""
    _listen()
    watch = Watch(trusted)
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)


def _listen() -> None:
    """From the first send on: a hook stays for as long as the process lives."""
    global _listening  # noqa: PLW0603 (one per process is the point)
    with _lock:
        if not _listening:
            sys.addaudithook(_hear)
            _listening = True


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event in _CONNECTIONS or event in _FILES or event in _PROCESSES:
        watch = _watch.get()
        if watch is not None:
            watch.check(event, arguments)
