"""How a destination is told, as options that adding and changing it share."""

from typing import Annotated

import typer
from msgspec import UNSET

from lago.destination_options import Options, read_club, read_digest, read_quiet, read_time_zone

Name = Annotated[
    str,
    typer.Argument(metavar="ID", help="The destination, as `lago destination list` names it.", show_default=False),
]
Quiet = Annotated[
    str | None,
    typer.Option(
        "--quiet",
        metavar="FROM-UNTIL",
        help="Quiet hours in its time zone, such as 22:00-07:00, or none.",
        rich_help_panel="When it is told",
    ),
]
Club = Annotated[
    int | None,
    typer.Option(
        "--club",
        metavar="SECONDS",
        help="Tell what is found within 60 to 7200 seconds together; 0 at once.",
        rich_help_panel="When it is told",
    ),
]
Digest = Annotated[
    str | None,
    typer.Option(
        "--digest",
        metavar="TIME",
        help="Tell all that was found in a day together, at a time such as 18:00 in its time zone, or none.",
        rich_help_panel="When it is told",
    ),
]
TimeZone = Annotated[
    str | None,
    typer.Option(
        "--time-zone",
        metavar="NAME",
        help="Its time zone, such as Europe/Vienna.",
        rich_help_panel="When it is told",
    ),
]


def read(quiet: str | None, club: int | None, digest: str | None, time_zone: str | None) -> Options:
    """What was given, the rest unset. Raises BadInputError."""
    return Options(
        quiet=UNSET if quiet is None else read_quiet("--quiet", quiet),
        club_seconds=UNSET if club is None else read_club("--club", club),
        digest_at=UNSET if digest is None else read_digest("--digest", digest),
        time_zone=UNSET if time_zone is None else read_time_zone("--time-zone", time_zone),
    )


def when(quiet: str | None, club_seconds: int, digest: str | None, time_zone: str) -> str:
    """When a destination is told, in words."""
    at_night = f"quiet {quiet}" if quiet else "no quiet hours"
    clubbed = f"clubs of {club_seconds} s" if club_seconds else "told at once"
    daily = f"a digest at {digest}" if digest else clubbed
    return f"{at_night}, {daily}, {time_zone}"
