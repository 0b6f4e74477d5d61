"""`lago destination add`: another way to be told."""

import sys
from typing import Annotated

import typer

from lago.channels.registry import CHANNELS, target_spec
from lago.channels.target import TargetSpec
from lago.destination_options import read_id
from lago.destinations import Addition
from lago.errors import BadInputError
from lago_cli import destination_options, options
from lago_cli.output import print_json, remark, say
from lago_cli.ports import World
from lago_cli.text import plain

_STANDARD_INPUT = "-"
_LARGEST = 64 * 1024
"""Characters read from standard input: more than any target has."""
_TYPED = {"id": "ID", "channel": "--channel", "target": "TARGET"}
"""How a person typed what the directory has its own name for."""


def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="ID", help="What `lago watch add --to` calls it.", show_default=False)],
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]",
            help="Where messages go. `-` reads it from standard input. Asked for when left out, as all that is secret "
            "should be.",
            show_default=False,
        ),
    ] = None,
    channel: Annotated[
        str, typer.Option("--channel", metavar="NAME", help=f"One of {', '.join(CHANNELS)}.", show_default=False)
    ] = "",
    quiet: destination_options.Quiet = None,
    club: destination_options.Club = None,
    digest: destination_options.Digest = None,
    time_zone: destination_options.TimeZone = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Give an id that exists another channel; its mailbox must be empty.")
    ] = False,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Add a destination, or give one another target. What is secret in it is stored encrypted, and shown never again.

    For Telegram, `lago setup` stores the bot's token first.

    **Examples:**

        lago destination add work --channel slack

        lago destination add mail --channel email me@example.org --digest 18:00

        pass ntfy-topic | lago destination add phone --channel ntfy -
    """
    id_ = read_id("ID", name)
    spec = _spec(channel)
    wanted = destination_options.read(quiet, club, digest, time_zone)
    world: World = ctx.obj
    stack = world.open_stack(stack_name)
    addition = Addition(id=id_, channel=channel, target=_target(spec, target), options=wanted, replace_channel=replace)
    try:
        added = stack.directory.add(addition)
    except BadInputError as error:
        raise BadInputError(_TYPED.get(error.field, error.field), error.value, error.expected) from None
    if as_json:
        print_json(added)
        return
    shown = added.destination
    when = destination_options.when(shown.quiet, shown.club_seconds, shown.digest, shown.time_zone)
    say(f"“{shown.id}” is {shown.channel} {plain(shown.address)}: {when}.")
    if added.show:
        say(added.show)
        remark("This is shown once: keep it.")
    if added.resumed:
        remark(f"Watches that go on: {', '.join(added.resumed)}.")
    remark(f"See that it works: lago destination test {shown.id}")


def _spec(channel: str) -> TargetSpec:
    try:
        return target_spec(channel)
    except BadInputError as error:
        raise BadInputError("--channel", channel or "nothing", error.expected) from None


def _target(spec: TargetSpec, given: str | None) -> str:
    """From the argument, from standard input, or asked for, without showing it where it is a secret."""
    if given == _STANDARD_INPUT or (given is None and not sys.stdin.isatty()):
        return _typed_in()
    if given is None:
        return str(typer.prompt(f"Give {spec.asks}", hide_input=spec.private, err=True))
    if spec.private:
        raise BadInputError(
            "TARGET",
            "(not shown: it may hold a secret)",
            "nothing, or `-` for standard input: a shell remembers what is typed",
        )
    return given


def _typed_in() -> str:
    try:
        return sys.stdin.read(_LARGEST).strip()
    except UnicodeDecodeError:
        raise BadInputError("TARGET", "something else on standard input", "text") from None
