"""`lago destination remove`: a destination goes, and all that is known of it."""

from typing import Annotated

import msgspec
import typer

from lago.destination_answers import DestinationAnswer, Removed
from lago.destinations import Directory
from lago.domain.ids import DestinationId, EpochMs, Milliseconds
from lago.errors import BadInputError, NotFoundError
from lago_cli import destination_options, options
from lago_cli.errors import StackError
from lago_cli.output import print_json, remark, say
from lago_cli.ports import World
from lago_cli.text import plain

_ROUND = Milliseconds(20_000)
"""How long one step of a removal goes on."""
_PATIENCE = Milliseconds(120_000)
"""How long a message on its way is waited for: a sender holds a mailbox for a minute, unless it is set longer."""
_PAUSE = Milliseconds(2_000)


def remove(
    ctx: typer.Context,
    name: destination_options.Name,
    force: Annotated[
        bool,
        typer.Option("--force", help="Take it out of the watches that name it; remove those that name no other."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Remove a destination for good: unsent messages, dead letters, what it was told, its secret.

    **Example:** `lago destination remove work --force`
    """
    world: World = ctx.obj
    directory = world.open_stack(stack_name).directory
    known = next((each for each in directory.list() if each.id == name), None)
    if known is None:
        raise NotFoundError(f"There is no destination {plain(name)!r}: `lago destination list` shows those there are.")
    if not yes:
        typer.confirm(_question(known), abort=True, err=True)
    try:
        removed = _all_of(world, directory, DestinationId(name), force=force)
    except BadInputError as error:
        raise BadInputError(f"--{error.field}", error.value, error.expected) from None
    if as_json:
        print_json(removed)
        return
    say(
        f"Removed “{plain(name)}” with {_count(removed.messages, 'message', 'messages')} and "
        f"{_count(removed.log_entries, 'entry', 'entries')} of its delivery log."
    )
    if removed.turned:
        remark(f"Watches that tell their other destinations from now on: {', '.join(removed.turned)}.")
    if removed.removed:
        remark(f"Watches that told nobody else, removed: {', '.join(removed.removed)}.")


def _all_of(world: World, directory: Directory, name: DestinationId, *, force: bool) -> Removed:
    """Step by step until nothing is left; waits for a message that is on its way."""
    total = Removed(id=name, done=False)
    patience_ends = world.clock() + _PATIENCE
    while not total.done:
        part = directory.remove(name, force=force, deadline=EpochMs(world.clock() + _ROUND))
        if part.messages or part.log_entries:
            patience_ends = world.clock() + _PATIENCE
        elif not part.done and world.clock() > patience_ends:
            raise StackError("Messages are being sent there again and again: run the command again, it goes on then.")
        total = msgspec.structs.replace(
            part,
            turned=total.turned + part.turned,
            removed=total.removed + part.removed,
            messages=total.messages + part.messages,
            log_entries=total.log_entries + part.log_entries,
        )
        if not part.done:
            world.sleep(_PAUSE)
    return total


def _question(known: DestinationAnswer) -> str:
    what = f"{known.channel} {plain(known.address)}".strip() or "whose removal began"
    waiting = f", {_count(known.waiting, 'unsent message', 'unsent messages')}" if known.waiting else ""
    dead = f", {_count(known.dead, 'dead letter', 'dead letters')}" if known.dead else ""
    return f"Remove “{plain(known.id)}” ({what}) with its delivery log and its secret{waiting}{dead}?"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
