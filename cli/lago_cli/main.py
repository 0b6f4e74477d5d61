"""The `lago` command: put together, and every failure turned into one sentence."""

import logging
from typing import Annotated, override

import typer
from typer.core import TyperGroup

from lago import __version__
from lago_cli import (
    carry,
    cost,
    cycle,
    dashboard,
    dead,
    destination,
    doctor,
    logs,
    restore,
    search,
    setup,
    stats,
    watch,
)
from lago_cli.errors import explain
from lago_cli.output import remark, say

HELP = """Watch classified ads: every new ad and every price drop of a willhaben search, once, in your Telegram chat.

**Look around, no AWS needed:**

    lago search rennrad --price-to 500

**Be told, with a deployed stack:**

    lago setup
    lago watch add rennrad --price-to 500 --area wien
    lago watch add 'https://www.willhaben.at/iad/…'

The stack is found by `--stack` or LAGO_STACK; profile, region and AWS_ENDPOINT_URL count as for any AWS tool.
After `make run`, `source .local/env` points this command at the local stack.
"""


class LagoGroup(TyperGroup):
    """Prints a known failure as one sentence and sets the exit code; an unknown one is a bug and stays loud."""

    @override
    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            explanation = explain(error)
            if explanation is None:
                raise
            sentence, code = explanation
            remark(sentence)
            raise typer.Exit(code) from error


app = typer.Typer(
    cls=LagoGroup,
    help=HELP,
    rich_markup_mode="markdown",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"lago {__version__}")
        raise typer.Exit


@app.callback()
def start(
    ctx: typer.Context,
    version: Annotated[  # noqa: ARG001 - answered by its callback
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Give the commands the real world, unless a test brought another."""
    # what went wrong is told in a sentence; the package's own log lines are for CloudWatch
    logging.getLogger("lago").addHandler(logging.NullHandler())
    if ctx.obj is None:
        from lago_cli.world import real_world  # noqa: PLC0415 - AWS's library takes half a second to load

        ctx.obj = real_world()


app.command("search")(search.search)
app.add_typer(watch.app, name="watch")
app.command("stats")(stats.stats)
app.command("cycle")(cycle.cycle)
app.add_typer(dead.app, name="dead")
app.command("setup")(setup.setup)
app.add_typer(destination.app, name="destination")
app.command("doctor")(doctor.doctor)
app.command("logs")(logs.logs)
app.command("dashboard")(dashboard.dashboard)
app.command("cost")(cost.cost)
app.command("export")(carry.export)
app.command("import")(carry.import_)
app.command("restore")(restore.restore)
start.__doc__ = HELP


if __name__ == "__main__":
    app()
