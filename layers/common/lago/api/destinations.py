"""`/destinations`: listed, shown, added, changed, removed, tried. What is secret goes in and never comes back."""

from collections.abc import Callable

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from lago.api.answers import as_json, new_router
from lago.destination_options import AS_THEY_ARE, read_id
from lago.destination_requests import ADDITION, CHANGE, read_addition, read_change
from lago.destinations import Directory
from lago.domain.ids import Clock, DestinationId, EpochMs, Milliseconds
from lago.errors import BadInputError
from lago.request_body import read_object, require_known

REMOVAL = Milliseconds(8_000)
"""How long one request goes on removing; what is left then is another request's."""


def destinations(directory: Directory, try_one: Callable[[DestinationId], object], clock: Clock) -> APIGatewayRouter:
    """The routes. `try_one` sends a test message and returns what came of it."""
    router = new_router()

    @router.get("/destinations")
    def list_destinations() -> Response[str]:
        """All of them."""
        return as_json(200, {"destinations": directory.list()})

    @router.post("/destinations")
    def add_destination() -> Response[str]:
        """A new one, or another target for one that is known."""
        return as_json(201, directory.add(read_addition(read_object(router.current_event.body, ADDITION))))

    @router.get("/destinations/<name>")
    def show_destination(name: str) -> Response[str]:
        """One of them."""
        return as_json(200, directory.show(read_id("id", name)))

    @router.patch("/destinations/<name>")
    def change_destination(name: str) -> Response[str]:
        """Its options, and whether it is enabled; the options first, so that what waits is sent by the new ones."""
        asked, id_ = read_change(read_object(router.current_event.body, CHANGE)), read_id("id", name)
        changed = directory.show(id_) if asked.options == AS_THEY_ARE else directory.change(id_, asked.options)
        if asked.disable is not None:
            changed = directory.disable(id_, asked.disable)
        if asked.enable:
            return as_json(200, directory.enable(id_))
        return as_json(200, {"destination": changed, "resumed": []})

    @router.delete("/destinations/<name>")
    def remove_destination(name: str) -> Response[str]:
        """All that is known of it; 202 when more is left than one request removes: ask again then."""
        query = router.current_event.query_string_parameters or {}
        require_known(query, ("force",), "query")
        force = query.get("force", "false")
        if force not in {"true", "false"}:
            raise BadInputError("force", force, "true or false")
        deadline = EpochMs(clock() + REMOVAL)
        removed = directory.remove(read_id("id", name), force=force == "true", deadline=deadline)
        return as_json(200 if removed.done else 202, removed)

    @router.post("/destinations/<name>/test")
    def try_destination(name: str) -> Response[str]:
        """A test message."""
        id_ = read_id("id", name)
        directory.show(id_)
        return as_json(200, try_one(id_))

    return router
