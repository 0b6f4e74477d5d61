"""Which dead letters a command is about: typed ids, filters, or all."""

import re
from typing import Annotated

import typer

from lago.dead_letter_requests import read_choice
from lago.dead_letters import DeadLetters, Selection
from lago.domain.dead_letter import EVERY, KINDS, REASONS, Wanted
from lago.domain.ids import DestinationId, EpochMs
from lago.domain.since import read_since
from lago.errors import BadInputError

_PREFIX = re.compile("[0-9a-f]{4,24}")
_SHOWN = 10
"""Ids named when what was typed could be any of them."""

Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID…", help="Ids of dead letters, or their beginnings.", show_default=False),
]
OneId = Annotated[str, typer.Argument(metavar="ID", help="The dead letter's id, or its beginning.", show_default=False)]
ForDestination = Annotated[
    str | None, typer.Option("--destination", metavar="NAME", help="Only those for it.", rich_help_panel="Which")
]
Kind = Annotated[
    str | None, typer.Option("--kind", metavar="KIND", help=f"Only {', '.join(KINDS)}.", rich_help_panel="Which")
]
Reason = Annotated[
    str | None,
    typer.Option(
        "--reason", metavar="REASON", help=f"Only what died of {', '.join(REASONS)}.", rich_help_panel="Which"
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since", metavar="TIME", help="Only what died since: 90min, 6h, 3d or 2026-11-29.", rich_help_panel="Which"
    ),
]
Every = Annotated[bool, typer.Option("--all", help="All dead letters.", rich_help_panel="Which")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def wanted(destination: str | None, kind: str | None, reason: str | None, since: str | None, now: EpochMs) -> Wanted:
    """What the filters ask for. Raises BadInputError."""
    return Wanted(
        destination=None if destination is None else DestinationId(destination),
        kind=read_choice(kind, "--kind", KINDS),
        reason=read_choice(reason, "--reason", REASONS),
        since=None if since is None else read_since(since, now, "--since"),
    )


def selection(letters: DeadLetters, typed: list[str] | None, filters: Wanted, *, every: bool) -> Selection:
    """The letters of a command that changes them. Raises BadInputError unless it was said in one way which."""
    ways = [bool(typed), filters != EVERY, every]
    if ways.count(True) != 1:
        given = " and ".join(name for name, used in zip(("ids", "filters", "--all"), ways, strict=True) if used)
        raise BadInputError("ID…", given or "nothing", "ids of dead letters, filters, or --all")
    return Selection(ids=tuple(find(letters, each) for each in typed or ()), wanted=filters)


def find(letters: DeadLetters, typed: str) -> str:
    """The id of the letter that is meant. Raises BadInputError when none or several are."""
    word = typed.strip()
    if not _PREFIX.fullmatch(word.lower()):
        if len(word) < 4:
            raise BadInputError("ID", typed, "four characters or more of a dead letter's id")
        return word
    found = letters.ids_beginning(word.lower())
    if not found:
        raise BadInputError("ID", typed, "the id of a dead letter, or its beginning (`lago dead list` shows them)")
    if len(found) > 1:
        ids = ", ".join(letters.show(each).notification for each in found[:_SHOWN])
        raise BadInputError("ID", typed, f"more of an id, since it could be any of {ids}")
    return found[0]
