"""Scrape: reads the searches of one shard and commits what is new."""

import random
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from msgspec import to_builtins

from lago import http
from lago.observability import logger, metrics, observe, publish
from lago.scrape import scrape_shard
from lago.store.searches import CycleStore, SearchStore, SourceStore
from lago.wiring.clock import now
from lago.wiring.scraping import HandOver, ScrapeFunctionSettings, make_sources

observe()
http.close_on_shutdown()
settings = ScrapeFunctionSettings.read()
sources = make_sources(settings)
hand_over = HandOver(settings.notify_function)


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """`{"shard": n}` answers with the report of that shard's cycle."""
    report = scrape_shard(
        int(event.get("shard", 0)),
        searches=SearchStore(),
        sources=sources,
        health=SourceStore(),
        cycles=CycleStore(),
        hand_over=hand_over,
        settings=settings.scrape,
        clock=now,
        random=random.random,
    )
    publish(
        {
            "NewAds": report.new_ads,
            "FetchErrors": report.errors.get("source", 0) + report.errors.get("search", 0),
            "SourcesBlocked": len(report.resting_sources),
        }
    )
    answer: dict[str, Any] = to_builtins(report)
    if report.notes or report.errors or report.skipped or report.committed:
        logger.info("scraped", extra={"report": answer})
    return answer
