"""The process's one `HttpClient`, kept over warm invocations, and how it ends."""

import atexit
import signal
import threading
from types import FrameType

from lago.http import HttpClient, HttpSettings, Observer

_CLOSE_SECONDS = 0.5

_lock = threading.Lock()
_shared: HttpClient | None = None


def client(settings: HttpSettings, observer: Observer = lambda _: None) -> HttpClient:
    """The process's client, made at the first call and after a close; later arguments change nothing."""
    global _shared  # noqa: PLW0603 (one per process is the point)
    with _lock:
        if _shared is None or _shared.closed:
            _shared = HttpClient(settings, observer=observer)
        return _shared


def close() -> None:
    """Close the process's client, if there is one."""
    global _shared
    open_client, _shared = _shared, None
    if open_client is not None:
        open_client.close()


def close_on_shutdown() -> None:
    """Close the client when the process ends: at exit, and at SIGTERM, after which the previous handler runs.

    Lambda sends SIGTERM to a runtime only when an extension is registered (Lambda's "Extensions API", shutdown phase);
    without one the sandbox just ends. Call it from the main thread at import; elsewhere only the exit hook is set.
    """
    atexit.register(close)
    if threading.current_thread() is not threading.main_thread():
        return
    previous = signal.getsignal(signal.SIGTERM)

    def handle(number: int, frame: FrameType | None) -> None:
        # In a thread, with a bound: the signal may have come while this thread held the pool's lock.
        closing = threading.Thread(target=close, daemon=True)
        closing.start()
        closing.join(_CLOSE_SECONDS)
        if callable(previous):
            previous(number, frame)
        elif previous is not signal.SIG_IGN:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.raise_signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, handle)
