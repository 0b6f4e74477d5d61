"""`lago watch set`: a watch that tells others."""

import msgspec
import typer

from lago.domain.watch import Watch
from lago.errors import BadInputError
from lago_cli import options, watch_options
from lago_cli.identifiers import find
from lago_cli.output import print_json, say
from lago_cli.ports import Stack, World
from lago_cli.standing import state, warn_of_disabled
from lago_cli.text import plain


def set_watch(
    ctx: typer.Context,
    watch_id: watch_options.Watch,
    to: watch_options.To = None,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Change where a watch tells what it finds. Unsent messages to those it leaves are cancelled.

    **Example:** `lago watch set k4q --to me --to work`
    """
    world: World = ctx.obj
    if not to:
        raise BadInputError("--to", "nothing", "one destination or more")
    stack = world.open_stack(stack_name)
    watch, destinations = find(stack.watches.all(), watch_id), watch_options.destinations(stack, to)
    cancelled = stack.watches.turn(watch, destinations)
    changed = msgspec.structs.replace(watch, destinations=destinations)
    if watch.paused in _disabled(stack, watch) and len(_disabled(stack, changed)) < len(destinations):
        stack.watches.set_paused(changed, "")
        changed = msgspec.structs.replace(changed, paused="")
    warn_of_disabled(stack, changed)
    if as_json:
        print_json(changed)
        return
    messages = "" if not cancelled else f"; {cancelled} unsent message{'s' if cancelled > 1 else ''} cancelled"
    say(f"“{plain(changed.label)}” ({changed.id}) tells {', '.join(destinations)} and is {state(changed)}{messages}.")


def _disabled(stack: Stack, watch: Watch) -> list[str]:
    """Why its destinations are disabled, those that are."""
    known = [stack.destinations.get(name) for name in watch.destinations]
    return [each.disabled for each in known if each is not None and each.disabled]
