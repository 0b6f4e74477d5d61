"""`/stats`: the figures of everything."""

from collections.abc import Callable

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from lago.api.answers import as_json, new_router
from lago.stats import Stats


def stats(figures: Callable[[], Stats]) -> APIGatewayRouter:
    """The route, from what reads the figures."""
    router = new_router()

    @router.get("/stats")
    def show_stats() -> Response[str]:
        """All figures at this moment."""
        return as_json(200, figures())

    return router
