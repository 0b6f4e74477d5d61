"""Api: what an owner asks over HTTP, behind an API key."""

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.utilities.typing import LambdaContext
from msgspec import json

from lago.errors import StoreUnavailableError
from lago.observability import logger, observe
from lago.settings import queue_shards, search_shards
from lago.stats import read_stats
from lago.store.mailboxes import MailboxStore
from lago.store.searches import CycleStore, SearchStore, SourceStore
from lago.wiring.clock import now

observe()
mailboxes = MailboxStore(queue_shards())
searches, sources, cycles = SearchStore(), SourceStore(), CycleStore()
shards = search_shards()
app = APIGatewayRestResolver()


@app.get("/stats")
def stats() -> Response[str]:
    """All figures at this moment."""
    figures = read_stats(
        mailboxes=mailboxes, searches=searches, sources=sources, cycles=cycles, search_shards=shards, clock=now
    )
    return _json(200, figures)


@app.exception_handler(StoreUnavailableError)  # type: ignore[untyped-decorator]
def unavailable(error: StoreUnavailableError) -> Response[str]:
    """The database does not answer now."""
    logger.warning("store unavailable", extra={"reason": str(error)})
    return _json(503, {"error": "the database does not answer now, try again in a minute"})


def _json(status: int, body: object) -> Response[str]:
    return Response(status_code=status, content_type="application/json", body=json.encode(body).decode())


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Routes the request."""
    return app.resolve(event, context)
