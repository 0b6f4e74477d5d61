"""The Apprise library (github.com/caronc/apprise), loaded when it is first used: it takes most of a second.

The one place that imports it. What it logs goes nowhere but into the reason of the send that it belongs to: its lines
may quote a request.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apprise import AppriseAsset, NotifyBase

_said: ContextVar[list[str] | None] = ContextVar("said", default=None)
_lock = threading.Lock()


class Service:
    """One service, as a URL describes it."""

    def __init__(self, plugin: "NotifyBase") -> None:
        self._plugin = plugin

    @property
    def longest(self) -> int:
        """How many characters a body may have."""
        return int(self._plugin.body_maxlen)

    @property
    def titled(self) -> bool:
        """Whether it shows a title apart from the body."""
        return int(self._plugin.title_maxlen) > 0

    @property
    def takes_html(self) -> bool:
        """Whether a body in HTML is sent as such."""
        from apprise import NotifyFormat  # noqa: PLC0415 (see the module's docstring)

        return self._plugin.resolve_format(NotifyFormat.HTML) is NotifyFormat.HTML

    def notify(self, title: str, body: str, *, html: bool) -> bool:
        """Send in this thread; whether the service has taken it."""
        from apprise import Apprise, NotifyFormat  # noqa: PLC0415

        sender = Apprise(asset=self._plugin.asset)
        sender.add(self._plugin)
        form = NotifyFormat.HTML if html else NotifyFormat.TEXT
        return bool(sender.notify(title=title, body=body, body_format=form))


def load() -> "Callable[[str], Service | None]":
    """Load the library and all of its services, the first time. Raises ImportError where it is not installed.

    Returns what makes the service of an Apprise URL; None where the library cannot make one of it.
    """
    with _lock:
        from apprise import AppriseAsset, PersistentStoreMode  # noqa: PLC0415
        from apprise.manager_plugins import NotificationManager  # noqa: PLC0415

        _keep_quiet()
        NotificationManager().schemas()  # type: ignore[no-untyped-call] # which loads them
        asset = AppriseAsset(
            app_id="Lago",
            app_desc="Lago",
            app_url="",
            async_mode=False,  # in our thread, which is watched
            http_redirects=False,
            service_timeout=0,  # the channel has one
            storage_mode=PersistentStoreMode.MEMORY,
        )
    return partial(_service, asset)


def _service(asset: "AppriseAsset", url: str) -> Service | None:
    from apprise import Apprise  # noqa: PLC0415

    plugin = Apprise.instantiate(url, asset=asset)
    return None if plugin is None else Service(plugin)


@contextmanager
def listening() -> Iterator[list[str]]:
    """What the library says in this thread, as it comes: full of secrets, perhaps."""
    said: list[str] = []
    token = _said.set(said)
    try:
        yield said
    finally:
        _said.reset(token)


class _Listener(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        said = _said.get()
        if said is not None:
            said.append(record.getMessage())


def _keep_quiet() -> None:
    log = logging.getLogger("apprise")
    if not any(isinstance(handler, _Listener) for handler in log.handlers):
        log.addHandler(_Listener(logging.WARNING))
    log.propagate = False
    log.setLevel(logging.WARNING)
    # These log paths of URLs, where tokens are, below an error; as httpx does (`lago.http`).
    for name in ("urllib3", "requests", "requests_oauthlib", "oauthlib"):
        logging.getLogger(name).setLevel(logging.ERROR)
