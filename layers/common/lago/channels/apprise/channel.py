"""Apprise: one message to whatever one Apprise URL names, and a classified outcome back.

The library says that a send failed, not why: nearly every failure counts as an outage. It has no time-out that holds
for all of its services either, so it sends in a thread of its own that is not waited for longer than `timeout`.
"""

import logging
import socket
import threading
from collections.abc import Callable, Iterable
from contextvars import copy_context

from lago.channels.apprise import letter, library
from lago.channels.apprise.guard import ForbiddenError, Places, watched
from lago.channels.apprise.url import ANY_HOST, AppriseUrl, parse
from lago.channels.rendering import rendered
from lago.domain.ids import Milliseconds
from lago.domain.notification import Destination, Message
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.domain.redact import reason
from lago.http_guard import NONE_TRUSTED, Trusted

_log = logging.getLogger("lago.apprise")

SPACING = Milliseconds(1_000)
TIMEOUT = Milliseconds(20_000)
_LINES = 3
"""Of the library's own words: the last ones say it best."""
_NOT_INSTALLED = "Apprise is not installed: deploy the stack with the parameter UseApprise set to true"

Resolve = Callable[[str, int], Iterable[str]]
"""The addresses of a host name. Raises OSError."""
Load = Callable[[], Callable[[str], library.Service | None]]


class AppriseChannel:
    """Thread-safe. `trusted` origins may be reached although they are inside, and by the schemas that take any host.

    `load` stands in for the library in tests, `resolve` for the look-up of trusted hosts' addresses.
    """

    name = "apprise"

    def __init__(
        self,
        *,
        trusted: Trusted = NONE_TRUSTED,
        timeout: Milliseconds = TIMEOUT,
        load: Load = library.load,
        resolve: Resolve | None = None,
    ) -> None:
        self._trusted, self._load, self._resolve = trusted, load, resolve or _resolve
        self.timeout = timeout

    def spacing(self, address: str) -> Milliseconds:  # noqa: ARG002 (nobody knows the limits of 130 services)
        """1 message a second."""
        return SPACING

    def send(self, destination: Destination, secret: str, message: Message) -> Outcome:
        """Send `message` to the service that the Apprise URL in `secret` names. Never raises."""
        url = parse(secret)
        if not isinstance(url, AppriseUrl):
            text = f"the destination's secret: expected {url}; add the destination anew"
            return Outcome(kind=OutcomeKind.DESTINATION, reason=text)
        if url.schema in ANY_HOST and not url.is_trusted(self._trusted):
            text = f"{url.schema}:// reaches trusted origins only (TrustedOrigins): use the channel webhook instead"
            return Outcome(kind=OutcomeKind.DESTINATION, reason=text)
        sending = _Sending(url, destination.time_zone, message, self._trusted, self._load, self._resolve)
        return sending.wait(self.timeout)


class _Sending:
    """One send in a thread of its own. A daemon, so that one that hangs keeps no process alive."""

    def __init__(
        self, url: AppriseUrl, time_zone: str, message: Message, trusted: Trusted, load: Load, resolve: Resolve
    ) -> None:
        self._url, self._time_zone, self._message = url, time_zone, message
        self._trusted, self._load, self._resolve = trusted, load, resolve
        self._gate = threading.Lock()
        self._left = self._given_up = False
        self._outcome: Outcome | None = None

    def wait(self, timeout: Milliseconds) -> Outcome:
        """How it ended; not known where it was not over in time and had begun to send."""
        # Its own context: what the watch and the listener set must not be seen by the threads of other sends.
        thread = threading.Thread(target=copy_context().run, args=(self._run,), daemon=True, name="apprise")
        thread.start()
        thread.join(timeout / 1000)
        with self._gate:
            if self._outcome is not None:
                return self._outcome
            self._given_up = True
            if self._left:
                text = f"Apprise: no end within {timeout / 1000:g} s"
                return Outcome(kind=OutcomeKind.AMBIGUOUS, reason=text)
        return Outcome(kind=OutcomeKind.OUTAGE, reason=f"Apprise: not ready to send within {timeout / 1000:g} s")

    def _run(self) -> None:
        try:
            outcome = self._send()
        except ForbiddenError as error:
            text = f"Apprise {self._url.schema}: not allowed {error}"
            outcome = Outcome(kind=OutcomeKind.DESTINATION, reason=text)
        except ImportError:
            outcome = Outcome(kind=OutcomeKind.OUTAGE, reason=_NOT_INSTALLED)
        except Exception as error:  # noqa: BLE001 (the outermost of a thread: a service's plugin may raise anything)
            _log.warning("a service of Apprise's broke: %s", type(error).__name__)
            text = reason(f"Apprise {self._url.schema}: {type(error).__name__}: {error}", *self._url.secrets)
            outcome = Outcome(kind=OutcomeKind.OUTAGE, reason=text)
        with self._gate:
            self._outcome = outcome

    def _send(self) -> Outcome:
        """Load, render, notify; what is the library's own is watched, and nothing else: a traceback reads our files."""
        with library.listening() as said:
            service_of = self._load()
            places = self._places()
            with watched(places):
                service = service_of(self._url.text)
            if service is None:
                return self._failed(OutcomeKind.DESTINATION, said or ["not a URL that Apprise understands"])
            html = service.takes_html
            written = rendered(
                lambda: letter.write(
                    self._message, self._time_zone, units=service.longest, html=html, titled=service.titled
                )
            )
            if isinstance(written, Outcome):
                return written
            with self._gate:
                if self._given_up:
                    return Outcome(kind=OutcomeKind.OUTAGE, reason="Apprise: too late")
                self._left = True
            with watched(places) as watch:
                taken = service.notify(written.title, written.body, html=html)
            if not taken and watch.refused:
                raise ForbiddenError(watch.refused)
            return DELIVERED if taken else self._failed(OutcomeKind.OUTAGE, said or ["it failed, and did not say why"])

    def _places(self) -> Places:
        """Where the trusted origins are now."""
        places: set[tuple[str, int]] = set()
        for origin in self._trusted:
            try:
                places |= {(address, origin.port) for address in self._resolve(origin.host, origin.port)}
            except OSError:
                continue
        return frozenset(places)

    def _failed(self, kind: OutcomeKind, said: list[str]) -> Outcome:
        text = f"Apprise {self._url.schema}: {' · '.join(said[-_LINES:])}"
        return Outcome(kind=kind, reason=reason(text, *self._url.secrets))


def _resolve(host: str, port: int) -> Iterable[str]:
    return {str(address[0]) for *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
