"""`lago cycle`: one cycle now, without waiting for the schedule."""

import typer

from lago_cli import options
from lago_cli.errors import FAILURE, FunctionError
from lago_cli.output import print_json, remark, say
from lago_cli.ports import Stack, World
from lago_cli.text import plain


def cycle(
    ctx: typer.Context, stack_name: options.StackName = options.DEFAULT_STACK, as_json: options.AsJson = False
) -> None:
    """Run one cycle now, drain then scrape, and print what it did.

    A shard that another cycle is working on is skipped, and said so: nothing is read twice.

    **Example:** `lago cycle --json`
    """
    world: World = ctx.obj
    stack = world.open_stack(stack_name)
    results = run_cycle(stack)
    if as_json:
        print_json(results)
    else:
        for step, result in results.items():
            say(f"{step}: {describe(result)}")
    failed = [step for step, result in results.items() if isinstance(result, dict) and "error" in result]
    if failed:
        remark(f"Failed: {', '.join(failed)}.")
        raise typer.Exit(FAILURE)


def run_cycle(stack: Stack) -> dict[str, object]:
    """What drain and each shard's scrape reported. As in the stack, a failing drain never stops scrape."""
    results: dict[str, object] = {"drain": _invoke(stack, "DrainFunction", {})}
    for shard in range(int(stack.output("SearchShards"))):
        results[f"scrape {shard}"] = _invoke(stack, "ScrapeFunction", {"shard": shard})
    return results


def describe(report: object) -> str:
    """A report in one line: what is zero, empty or false says nothing."""
    if not isinstance(report, dict):
        return plain(str(report))
    if "error" in report:
        return f"failed: {plain(str(report['error']))}"
    if report.get("skipped") is True:
        return "skipped, another cycle is at work on this shard"
    told = [f"{plain(str(name)).replace('_', ' ')} {_value(value)}" for name, value in report.items() if value]
    return ", ".join(told) or "nothing to do"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "(" + ", ".join(f"{plain(str(name))} {_value(each)}" for name, each in value.items() if each) + ")"
    if isinstance(value, list):
        return "(" + ", ".join(_value(each) for each in value) + ")"
    return plain(str(value))


def _invoke(stack: Stack, output: str, event: dict[str, object]) -> object:
    try:
        return stack.functions.invoke(stack.output(output), event)
    except FunctionError as error:
        return {"error": str(error)}
