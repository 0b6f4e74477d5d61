"""`lago destination`: where messages go."""

from typing import Annotated

import msgspec
import typer

from lago.domain.ids import DestinationId
from lago.domain.notification import Destination
from lago.errors import BadInputError
from lago_cli import checks, options
from lago_cli.output import console, print_json, row, say, table
from lago_cli.ports import World
from lago_cli.text import plain

app = typer.Typer(help="Where messages go.", no_args_is_help=True, rich_markup_mode="markdown")


@app.callback()
def start() -> None:
    """Where messages go."""


@app.command("list")
def list_destinations(
    ctx: typer.Context, stack_name: options.StackName = options.DEFAULT_STACK, as_json: options.AsJson = False
) -> None:
    """List the stack's destinations and how they are.

    **Example:** `lago destination list`
    """
    world: World = ctx.obj
    destinations = sorted(world.open_stack(stack_name).destinations.all(), key=lambda each: each.id)
    if as_json:
        print_json(destinations)
        return
    if not destinations:
        say("No destinations yet: run `lago setup`.")
        return
    shown = table("id", "channel", "address", "time zone", "quiet", "club", "state")
    for each in destinations:
        state = f"disabled: {plain(each.disabled, 80)}" if each.disabled else "works"
        club = f"{each.club_seconds} s" if each.club_seconds else ""
        row(shown, each.id, each.channel, plain(each.address, 60), each.time_zone, _hours(each), club, state)
    console().print(shown)


@app.command("set")
def set_destination(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="ID", help="The destination, as `lago destination list` names it.")],
    quiet: Annotated[
        str | None,
        typer.Option(
            "--quiet", metavar="FROM-UNTIL", help="Quiet hours in its time zone, such as 22:00-07:00, or none."
        ),
    ] = None,
    club: Annotated[
        int | None,
        typer.Option(
            "--club", metavar="SECONDS", help="Tell what is found within 60 to 7200 seconds together; 0 at once."
        ),
    ] = None,
    time_zone: Annotated[
        str | None, typer.Option("--time-zone", metavar="NAME", help="Its time zone, such as Europe/Vienna.")
    ] = None,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Change when a destination is told. What waits already keeps its time.

    **Example:** `lago destination set me --quiet 22:00-07:00 --club 600`
    """
    hours = None if quiet is None else checks.quiet_hours("--quiet", quiet)
    interval = None if club is None else checks.club_seconds("--club", club)
    zone = checks.time_zone(time_zone)
    world: World = ctx.obj
    destinations = world.open_stack(stack_name).destinations
    known = destinations.get(DestinationId(name))
    if known is None:
        raise BadInputError("ID", name, "a destination of this stack (`lago destination list` shows them)")
    changed = msgspec.structs.replace(
        known,
        quiet=known.quiet if quiet is None else hours,
        club_seconds=known.club_seconds if interval is None else interval,
        time_zone=zone or known.time_zone,
    )
    destinations.put(changed)
    if as_json:
        print_json(changed)
        return
    at_night = f"quiet {_hours(changed)}" if changed.quiet else "no quiet hours"
    clubbed = f"clubs of {changed.club_seconds} s" if changed.club_seconds else "told at once"
    say(f"“{changed.id}”: {at_night}, {clubbed}, {changed.time_zone}.")


def _hours(destination: Destination) -> str:
    if destination.quiet is None:
        return ""
    start, end = destination.quiet
    return f"{start // 60:02}:{start % 60:02}-{end // 60:02}:{end % 60:02}"
