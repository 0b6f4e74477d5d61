"""`/dead-letters`: listed, shown whole, exported, brought back, discarded."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from lago.api.answers import as_json, as_lines, new_router
from lago.dead_letter_requests import read_discard, read_listing, read_redrive
from lago.dead_letters import DeadLetters
from lago.domain.ids import Clock

NEXT_CURSOR = "x-next-cursor"
"""The header of an export that goes on: its lines have no room for a cursor."""


def dead_letters(letters: DeadLetters, clock: Clock) -> APIGatewayRouter:
    """The routes, from what does it all. A path without a variable goes before one with it, whatever the order here."""
    router = new_router()

    @router.get("/dead-letters")
    def list_dead_letters() -> Response[str]:
        """A part of the list, newest first."""
        asked = read_listing(router.current_event.query_string_parameters, clock())
        return as_json(200, letters.part(asked.wanted, limit=asked.limit, after=asked.cursor))

    @router.get("/dead-letters/export")
    def export_dead_letters() -> Response[str]:
        """A part of the list, whole, one JSON object a line."""
        asked = read_listing(router.current_event.query_string_parameters, clock())
        part = letters.export_part(asked.wanted, limit=asked.limit, after=asked.cursor)
        return as_lines(part.letters, {} if part.cursor is None else {NEXT_CURSOR: part.cursor})

    @router.get("/dead-letters/<letter>")
    def show_dead_letter(letter: str) -> Response[str]:
        """One letter with its history."""
        return as_json(200, letters.show(letter))

    @router.post("/dead-letters/redrive")
    def redrive_dead_letters() -> Response[str]:
        """Bring letters back."""
        selection, per_minute = read_redrive(router.current_event.body, clock())
        return as_json(200, letters.redrive(selection, per_minute=per_minute))

    @router.post("/dead-letters/discard")
    def discard_dead_letters() -> Response[str]:
        """Remove letters for good."""
        return as_json(200, letters.discard(*read_discard(router.current_event.body)))

    return router
