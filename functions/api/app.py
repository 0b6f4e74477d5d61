"""Api: what an owner asks over HTTP, behind an API key."""

import random
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.utilities.typing import LambdaContext
from msgspec import json

from lago.dead_letter_requests import read_discard, read_listing, read_redrive
from lago.dead_letters import DeadLetters
from lago.errors import BadInputError, NotFoundError, StoreError
from lago.observability import logger, observe
from lago.settings import queue_shards, search_shards
from lago.stats import read_stats
from lago.store.dead_letters import DeadLetterStore
from lago.store.mailboxes import MailboxStore
from lago.store.searches import CycleStore, SearchStore, SourceStore
from lago.wiring.clock import now

observe()
mailboxes = MailboxStore(queue_shards())
searches, sources, cycles = SearchStore(), SourceStore(), CycleStore()
shards = search_shards()
letters = DeadLetters(DeadLetterStore(mailboxes), clock=now, random=random.random)
app = APIGatewayRestResolver()


@app.get("/stats")
def stats() -> Response[str]:
    """All figures at this moment."""
    figures = read_stats(
        mailboxes=mailboxes, searches=searches, sources=sources, cycles=cycles, search_shards=shards, clock=now
    )
    return _json(200, figures)


@app.get("/dead-letters")
def list_dead_letters() -> Response[str]:
    """A part of the list, newest first."""
    asked = read_listing(app.current_event.query_string_parameters)
    return _json(200, letters.part(asked.wanted, limit=asked.limit, after=asked.cursor))


@app.get("/dead-letters/<letter>")
def show_dead_letter(letter: str) -> Response[str]:
    """One letter with its history."""
    return _json(200, letters.show(letter))


@app.post("/dead-letters/redrive")
def redrive_dead_letters() -> Response[str]:
    """Bring letters back."""
    selection, per_minute = read_redrive(app.current_event.body)
    return _json(200, letters.redrive(selection, per_minute=per_minute))


@app.post("/dead-letters/discard")
def discard_dead_letters() -> Response[str]:
    """Remove letters for good."""
    return _json(200, letters.discard(*read_discard(app.current_event.body)))


@app.exception_handler(BadInputError)  # type: ignore[untyped-decorator]
def refused(error: BadInputError) -> Response[str]:
    """Something in the request is wrong."""
    return _json(400, {"error": str(error), "field": error.field})


@app.exception_handler(NotFoundError)  # type: ignore[untyped-decorator]
def missing(error: NotFoundError) -> Response[str]:
    """What was asked for is not there."""
    return _json(404, {"error": str(error)})


@app.exception_handler(StoreError)  # type: ignore[untyped-decorator]
def unavailable(error: StoreError) -> Response[str]:
    """The database does not answer now."""
    logger.warning("store unavailable", extra={"reason": str(error)})
    return _json(503, {"error": "the database does not answer now, try again in a minute"})


def _json(status: int, body: object) -> Response[str]:
    return Response(status_code=status, content_type="application/json", body=json.encode(body).decode())


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Routes the request."""
    return app.resolve(event, context)
