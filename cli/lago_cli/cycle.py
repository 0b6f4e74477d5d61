"""`lago cycle`: one cycle now, without waiting for the schedule."""

import typer

from lago_cli import options
from lago_cli.errors import FAILURE, FunctionError
from lago_cli.output import print_json, remark, say
from lago_cli.ports import Stack, World
from lago_cli.text import plain
from lago_cli.troubles import Names, named, names_of, unread, untold

_FRAME = ("shard", "started", "interval_ms", "notes")
"""Parts of a report that say when it was, not what was done; and the notes, which are told by the searches' names."""


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
        names = names_of(stack.watches.all())
        lines = [f"{step}: {describe(result, names)}" for step, result in results.items()]
        stats = stack.read_stats()
        unsaid = [each for each in unread(stats, names) if not any(each in line for line in lines)]
        for line in (*lines, *unsaid, *untold(stats)):
            say(line)
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


def describe(report: object, names: Names | None = None) -> str:
    """A report in one line: what is zero, empty or false says nothing. `names` are what people call the searches."""
    if not isinstance(report, dict):
        return plain(str(report))
    if "error" in report:
        return f"failed: {plain(str(report['error']))}"
    if report.get("skipped") is True:
        return "skipped, another cycle is at work on this shard"
    told = [f"{_words(name)} {_value(each)}" for name, each in report.items() if _value(each) and name not in _FRAME]
    notes = [named(str(note), names or {}) for note in report.get("notes") or ()]
    return "; ".join([", ".join(told) or "nothing to do", *notes])


def _words(name: object) -> str:
    return plain(str(name)).replace("_", " ")


def _value(value: object) -> str:
    """A figure in words; empty for what says nothing."""
    if isinstance(value, dict):
        inner = [f"{_words(name)} {_value(each)}" for name, each in value.items() if _value(each)]
        return f"({', '.join(inner)})" if inner else ""
    if isinstance(value, list):
        return f"({', '.join(_value(each) for each in value)})" if value else ""
    return plain(str(value)) if value else ""


def _invoke(stack: Stack, output: str, event: dict[str, object]) -> object:
    try:
        return stack.functions.invoke(stack.output(output), event)
    except FunctionError as error:
        return {"error": str(error)}
