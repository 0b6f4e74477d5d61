"""How the Api function answers: what was asked for as JSON, and each kind of error with its status and its reason."""

from collections.abc import Iterable, Mapping

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayRouter
from msgspec import json

from lago.errors import BadInputError, NotFoundError, StoreError
from lago.observability import logger


def as_json(status: int, body: object) -> Response[str]:
    """Anything that msgspec can encode."""
    return Response(status_code=status, content_type="application/json", body=json.encode(body).decode())


def as_lines(bodies: Iterable[object], headers: Mapping[str, str]) -> Response[str]:
    """JSON lines: one object a line, each line ended."""
    lines = b"".join(json.encode(body) + b"\n" for body in bodies)
    return Response(status_code=200, content_type="application/x-ndjson", body=lines.decode(), headers=dict(headers))


def new_router() -> APIGatewayRouter:
    """An empty one; Powertools has no types for it."""
    return APIGatewayRouter()  # type: ignore[no-untyped-call]


def errors() -> APIGatewayRouter:
    """What every route answers to an error; a router, so that it is included as the routes are."""
    router = new_router()

    @router.exception_handler(BadInputError)  # type: ignore[untyped-decorator]
    def refused(error: BadInputError) -> Response[str]:
        """Something in the request is wrong."""
        return as_json(400, {"error": str(error), "field": error.field})

    @router.exception_handler(NotFoundError)  # type: ignore[untyped-decorator]
    def missing(error: NotFoundError) -> Response[str]:
        """What was asked for is not there."""
        return as_json(404, {"error": str(error)})

    @router.exception_handler(StoreError)  # type: ignore[untyped-decorator]
    def unavailable(error: StoreError) -> Response[str]:
        """The database does not answer now."""
        logger.warning("store unavailable", extra={"reason": str(error)})
        return as_json(503, {"error": "the database does not answer now, try again in a minute"})

    return router
