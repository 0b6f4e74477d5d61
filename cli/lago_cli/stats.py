"""`lago stats`: the figures of GET /stats."""

import msgspec
import typer

from lago_cli import options
from lago_cli.output import facts, print_json
from lago_cli.ports import World
from lago_cli.text import plain


def stats(
    ctx: typer.Context, stack_name: options.StackName = options.DEFAULT_STACK, as_json: options.AsJson = False
) -> None:
    """Print what waits, what died, how sources are doing and when the last cycle ran.

    The names are those of GET /stats.

    **Example:** `lago stats --json | jq .pending`
    """
    world: World = ctx.obj
    figures = msgspec.to_builtins(world.open_stack(stack_name).read_stats())
    if as_json:
        print_json(figures)
        return
    facts(flatten(figures))


def flatten(figures: object, prefix: str = "") -> list[tuple[str, str]]:
    """Nested figures as lines of dotted names; empty groups say so."""
    if isinstance(figures, dict):
        lines = [line for name, each in figures.items() for line in flatten(each, f"{prefix}{name}.")]
    elif isinstance(figures, list):
        lines = [line for number, each in enumerate(figures) for line in flatten(each, f"{prefix}{number}.")]
    else:
        lines = [(prefix.removesuffix("."), "-" if figures is None else plain(str(figures)))]
    return lines or [(prefix.removesuffix("."), "none")]
