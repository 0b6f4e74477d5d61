"""`lago destination`: where messages go."""

import typer

from lago_cli import options
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
    shown = table("id", "channel", "address", "time zone", "state")
    for each in destinations:
        state = f"disabled: {plain(each.disabled, 80)}" if each.disabled else "works"
        row(shown, each.id, each.channel, plain(each.address, 60), each.time_zone, state)
    console().print(shown)
