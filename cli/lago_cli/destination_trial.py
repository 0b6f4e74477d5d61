"""`lago destination test`: a test message on the same way as any other."""

import msgspec
import typer

from lago.destination_options import read_id
from lago_cli import destination_options, options
from lago_cli.errors import FAILURE, FunctionError
from lago_cli.output import print_json, remark, say
from lago_cli.ports import World
from lago_cli.text import plain


def try_destination(
    ctx: typer.Context,
    name: destination_options.Name,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Send a test message, and say whether the far side took it. What cannot be sent now is not sent later.

    **Example:** `lago destination test me`
    """
    id_ = read_id("ID", name)
    world: World = ctx.obj
    stack = world.open_stack(stack_name)
    from lago.trial import TrialReport  # noqa: PLC0415 - binds the tables' names, which the open stack has told

    answer = stack.functions.invoke(stack.output("NotifyFunction"), {"test": id_})
    try:
        report = msgspec.convert(answer, TrialReport)
    except msgspec.ValidationError:
        raise FunctionError("The stack is older than this command and cannot test: deploy it again.") from None
    if as_json:
        print_json(report)
    elif report.delivered:
        say(f"Delivered: look for it at “{id_}”.")
    else:
        remark(f"Not delivered: {plain(report.outcome, 600)}.")
    if not report.delivered:
        raise typer.Exit(FAILURE)
