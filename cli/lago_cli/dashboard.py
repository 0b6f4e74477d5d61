"""`lago dashboard`: where the figures are drawn."""

from typing import Annotated

import typer

from lago_cli import options
from lago_cli.errors import StackError
from lago_cli.output import print_json, remark, say
from lago_cli.ports import World
from lago_cli.text import plain


def dashboard(
    ctx: typer.Context,
    browse: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Print the address of the stack's CloudWatch dashboard.

    **Example:** `lago dashboard --open`
    """
    world: World = ctx.obj
    described = world.deployment(stack_name).describe()
    address = described.outputs.get("DashboardUrl", "")
    if not address.startswith("https://"):
        raise StackError(f"The stack {plain(stack_name)!r} has no dashboard: deploy it again, if it is Lago's.")
    if as_json:
        print_json({"url": address})
    else:
        say(plain(address, 2_000))
    if described.is_local:
        remark("A local cloud has no console: the address leads to AWS. `lago stats` has the figures.")
    elif browse and not world.browse(address):
        remark("There is no browser here: open the address yourself.")
