"""Options that several of the commands for watches share."""

from typing import Annotated

import typer

from lago.domain.ids import DestinationId
from lago_cli.ports import Stack
from lago_cli.standing import ME, require_destination

Watch = Annotated[
    str,
    typer.Argument(metavar="WATCH", help="The watch's id or its beginning, or the watch's name.", show_default=False),
]


To = Annotated[
    list[str] | None,
    typer.Option(
        "--to",
        metavar="DESTINATION",
        help=f"Where messages go (`lago destination list`), “{ME}” unless told otherwise. Repeat for several.",
        show_default=False,
    ),
]


def destinations(stack: Stack, names: list[str]) -> tuple[DestinationId, ...]:
    """Each once, and each there. Raises BadInputError."""
    for name in names:
        require_destination(stack, name)
    return tuple(DestinationId(name) for name in dict.fromkeys(names))
