"""`lago destination`: where messages go."""

from typing import Annotated

import typer

from lago.destination_answers import DestinationAnswer
from lago.destination_options import read_id, read_reason
from lago_cli import (
    destination_add,
    destination_options,
    destination_remove,
    destination_rotate,
    destination_trial,
    options,
)
from lago_cli.destination_options import when
from lago_cli.output import print_json, remark, row, say, show_table, table
from lago_cli.ports import World
from lago_cli.text import plain

app = typer.Typer(
    help="Where messages go: add, test, list, set, rotate, enable, disable, remove.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.command("add")(destination_add.add)
app.command("test")(destination_trial.try_destination)
app.command("rotate")(destination_rotate.rotate)


@app.command("list")
def list_destinations(
    ctx: typer.Context, stack_name: options.StackName = options.DEFAULT_STACK, as_json: options.AsJson = False
) -> None:
    """List the stack's destinations and how they are.

    **Example:** `lago destination list`
    """
    world: World = ctx.obj
    destinations = world.open_stack(stack_name).directory.list()
    if as_json:
        print_json(destinations)
        return
    if not destinations:
        say("No destinations yet: run `lago setup` for Telegram, or `lago destination add`.")
        return
    shown = table(
        *("id", "channel", "address", "time zone", "quiet", "club", "digest", "state", "waiting", "dead"),
        right=frozenset({"waiting", "dead"}),
    )
    for each in destinations:
        row(
            shown,
            plain(each.id, 40),
            each.channel,
            plain(each.address, 60),
            each.time_zone,
            each.quiet or "",
            f"{each.club_seconds} s" if each.club_seconds else "",
            each.digest or "",
            f"disabled: {plain(each.disabled, 80)}" if each.disabled else "works",
            str(each.waiting or ""),
            str(each.dead or ""),
        )
    show_table(shown)


@app.command("set")
def set_destination(
    ctx: typer.Context,
    name: destination_options.Name,
    quiet: destination_options.Quiet = None,
    club: destination_options.Club = None,
    digest: destination_options.Digest = None,
    time_zone: destination_options.TimeZone = None,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Change when a destination is told. What waits already keeps its time.

    **Examples:**

        lago destination set me --quiet 22:00-07:00 --club 600

        lago destination set me --digest 18:00
    """
    wanted = destination_options.read(quiet, club, digest, time_zone)
    world: World = ctx.obj
    _print(world.open_stack(stack_name).directory.change(read_id("ID", name), wanted), as_json=as_json)


@app.command("disable")
def disable(
    ctx: typer.Context,
    name: destination_options.Name,
    because: Annotated[
        str, typer.Option("--because", metavar="TEXT", help="Why, shown in the list.", show_default=False)
    ],
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Send nothing to a destination for the time being. What is found waits for a day.

    **Example:** `lago destination disable me --because 'on holiday'`
    """
    why = read_reason("--because", because)
    world: World = ctx.obj
    _print(world.open_stack(stack_name).directory.disable(read_id("ID", name), why), as_json=as_json)


@app.command("enable")
def enable(
    ctx: typer.Context,
    name: destination_options.Name,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Send to a destination again: what waits, too. Watches that rested because of it go on.

    **Example:** `lago destination enable me`
    """
    world: World = ctx.obj
    woken = world.open_stack(stack_name).directory.enable(read_id("ID", name))
    if as_json:
        print_json(woken)
        return
    _print(woken.destination, as_json=False)
    if woken.resumed:
        remark(f"Watches that go on: {', '.join(woken.resumed)}.")
    if woken.destination.waiting:
        remark("What waits goes out with the next cycle, or at the time that it waits for.")


app.command("remove")(destination_remove.remove)


def _print(changed: DestinationAnswer, *, as_json: bool) -> None:
    if as_json:
        print_json(changed)
        return
    told = when(changed.quiet, changed.club_seconds, changed.digest, changed.time_zone)
    state = f"disabled ({plain(changed.disabled, 200)})" if changed.disabled else "works"
    say(f"“{plain(changed.id)}” {'is ' if changed.disabled else ''}{state}: {told}.")
