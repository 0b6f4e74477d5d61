"""Host names looked up within a time: the system's resolver takes no time-out.

A name server that does not answer would hold a thread, and with it a mailbox whose lease ends meanwhile.
"""

import socket
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host name. Raises OSError."""


def resolve(host: str, port: int) -> Sequence[str]:
    """As the system resolves names, each address once. Raises OSError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # a label that is too long for DNS
        raise OSError("not a host name") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def resolve_within(seconds: float, host: str, port: int, look_up: Resolve = resolve) -> Sequence[str]:
    """What `look_up` returns or raises (OSError); TimeoutError after so many seconds.

    In a thread of its own, a daemon, which is left behind when it hangs.
    """
    answers: SimpleQueue[Sequence[str] | OSError] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(look_up(host, port))
        except OSError as error:
            answers.put(error)

    threading.Thread(target=run, daemon=True, name="resolver").start()
    try:
        answer = answers.get(timeout=seconds)
    except Empty:
        raise TimeoutError("the resolver did not answer in time") from None
    if isinstance(answer, OSError):
        raise answer
    return answer
