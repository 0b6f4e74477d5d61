"""`/unsubscribe`: the page behind the link in a mail. No API key: whoever has the link may use it."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from lago.api.answers import new_router
from lago.unsubscribe import HEADERS, Page, Unsubscribe


def unsubscribe(readers: Unsubscribe) -> APIGatewayRouter:
    """The routes, from what ends a subscription."""
    router = new_router()

    @router.get("/unsubscribe")
    def ask() -> Response[str]:
        """A page with a button; changes nothing, because mail scanners open every link."""
        return _html(readers.confirm(*_asked()))

    @router.post("/unsubscribe")
    def apply() -> Response[str]:
        """The button, or the mail program's own (RFC 8058)."""
        return _html(readers.apply(*_asked()))

    def _asked() -> tuple[str | None, str | None]:
        query = router.current_event.query_string_parameters or {}
        return query.get("d"), query.get("t")

    return router


def _html(page: Page) -> Response[str]:
    return Response(
        status_code=page.status, content_type=HEADERS["content-type"], body=page.html, headers=dict(HEADERS)
    )
