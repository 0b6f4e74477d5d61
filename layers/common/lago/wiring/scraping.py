"""Scrape: what reads the marketplaces."""

import json
import os
import random
from typing import Any

import botocore.session
from botocore.config import Config
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from lago import http_shared
from lago.domain.backoff import SOURCE
from lago.domain.ids import DestinationId, Milliseconds, SearchId, SourceName
from lago.host_gate import HostGate
from lago.http import HttpSettings, Observer
from lago.operator_signs import Report, ScrapeSigns
from lago.scrape import ScrapeSettings
from lago.settings import Environment, http_settings, milliseconds, text, whole
from lago.sources.base import Source
from lago.sources.willhaben import Willhaben, WillhabenSettings
from lago.wiring.clock import now, pause

LEASE = Milliseconds(58_000)
"""Longer than the function's time-out (55 s), shorter than the schedule's interval: one that died blocks no other."""


class ScrapeFunctionSettings(Struct, frozen=True, kw_only=True):
    """The scrape function. `spacing` is the least time between two requests to a host, in ms."""

    scrape: ScrapeSettings
    willhaben: WillhabenSettings
    http: HttpSettings
    spacing: Milliseconds
    notify_function: str
    operator: DestinationId = DestinationId("")
    """Who is told that a source can't be read, or a search has a gap."""

    @classmethod
    def read(cls, environment: Environment = os.environ) -> "ScrapeFunctionSettings":
        """From the environment. Raises SettingError."""
        pages = whole(environment, "SCRAPE_MAX_PAGES", 2, low=1, high=10)
        rows = whole(environment, "SCRAPE_ROWS", 30, low=1, high=200)
        return cls(
            scrape=ScrapeSettings(
                max_pages=pages,
                hard_pages=max(pages, whole(environment, "SCRAPE_HARD_PAGES", 10, low=1, high=20)),
                full_every=Milliseconds(60_000 * whole(environment, "SCRAPE_FULL_MINUTES", 15, low=1, high=1440)),
                window=max(100, 2 * pages * rows),
                threads=whole(environment, "SCRAPE_THREADS", 2, low=1, high=2),
                budget=milliseconds(environment, "SCRAPE_SECONDS", 45, low=1, high=50),
                lease=LEASE,
                backoff=replace(SOURCE, base=milliseconds(environment, "SOURCE_BACKOFF_SECONDS", 60, low=1, high=3600)),
            ),
            willhaben=WillhabenSettings(
                base_url=text(environment, "WILLHABEN_BASE_URL", "https://www.willhaben.at"),
                rows=rows,
                contact=text(environment, "CONTACT", ""),
            ),
            http=http_settings(environment),
            spacing=Milliseconds(whole(environment, "REQUEST_SPACING_MS", 250, low=0, high=60_000)),
            notify_function=text(environment, "NOTIFY_FUNCTION"),
            operator=DestinationId(text(environment, "OPERATOR_DESTINATION", "")),
        )


def make_sources(settings: ScrapeFunctionSettings, observer: Observer) -> dict[SourceName, Source]:
    """Every marketplace that this version knows, on the process's one HTTP client, which `observer` listens to."""
    gate = HostGate(settings.spacing, clock=now, sleep=pause, random=random.random)
    willhaben = Willhaben(settings.willhaben, http=http_shared.client(settings.http, observer), gate=gate, clock=now)
    return {willhaben.name: willhaben}


class Notify:
    """The function that sends, as this one reaches it: by what it does not wait for."""

    def __init__(self, function: str) -> None:
        """`function` is Notify's name or ARN; its client is made when it is first needed, which is rarely."""
        self._function = function
        self._lambda: Any = None

    def hand_over(self, search: SearchId) -> None:
        """Wake it for a search whose outbox the stream has left behind. Raises botocore's errors."""
        self._invoke({"search": search})

    def tell(self, report: Report) -> None:
        """Let it tell the operator. Raises botocore's errors."""
        self._invoke({"operator": to_builtins(report)})

    def _invoke(self, event: dict[str, Any]) -> None:
        if self._lambda is None:
            retries = {"total_max_attempts": 2, "mode": "standard"}
            config = Config(connect_timeout=2, read_timeout=5, retries=retries)
            self._lambda = botocore.session.get_session().create_client("lambda", config=config)
        payload = json.dumps(event).encode()
        self._lambda.invoke(FunctionName=self._function, InvocationType="Event", Payload=payload)


def make_signs(settings: ScrapeFunctionSettings, notify: Notify) -> ScrapeSigns:
    """What looks at a scrape's report for whoever runs Lago."""
    return ScrapeSigns(notify.tell, operator=settings.operator, clock=now)
