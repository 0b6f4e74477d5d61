"""Scrape: reads the searches of one shard and commits what is new."""

import random
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from msgspec import to_builtins

from lago import http_shared
from lago.observability import Fetches, logger, observe, observed, publish
from lago.scrape import scrape_shard
from lago.store.searches import CycleStore, SearchStore, SourceStore
from lago.wiring.clock import now
from lago.wiring.scraping import Notify, ScrapeFunctionSettings, make_signs, make_sources

observe()
http_shared.close_on_shutdown()
settings = ScrapeFunctionSettings.read()
fetches = Fetches()
sources = make_sources(settings, fetches.add)
notify = Notify(settings.notify_function)
signs = make_signs(settings, notify)


@observed
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """`{"shard": n}` answers with the report of that shard's cycle; publishes what it found, be it nothing."""
    signs.begin()
    report = scrape_shard(
        int(event.get("shard", 0)),
        searches=SearchStore(),
        sources=sources,
        health=SourceStore(),
        cycles=CycleStore(),
        hand_over=notify.hand_over,
        settings=settings.scrape,
        clock=now,
        random=random.random,
    )
    publish(
        {
            "NewAds": report.new_ads,
            "FetchErrors": report.errors.get("source", 0) + report.errors.get("search", 0),
        }
    )
    publish(fetches.take())
    if not report.skipped:  # the one that runs knows
        publish({"SourcesBlocked": len(report.resting_because)})
    signs.look(report)
    answer: dict[str, Any] = to_builtins(report)
    eventful = report.notes or report.errors or report.skipped or report.committed
    say = logger.info if eventful else logger.debug
    say("scraped", extra={"report": answer})
    return answer
