"""`lago doctor`: looks at everything that Lago needs, one by one, and says what to do."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from msgspec import Struct

from lago.domain import redact
from lago_cli import doctor_queue, doctor_secrets, doctor_stack, doctor_world, options
from lago_cli.doctor_case import Case, Check, Verdict
from lago_cli.errors import FAILURE, explain
from lago_cli.output import print_json, say
from lago_cli.ports import World

CHECKS: tuple[Check, ...] = (
    *doctor_stack.CHECKS,
    *doctor_secrets.CHECKS,
    *doctor_world.CHECKS,
    *doctor_queue.CHECKS,
)
SECONDS = 60
"""After so long no further check is begun; each request has a time-out of its own, of 15 seconds at most."""

_MARKS: dict[Verdict, str] = {"fine": "✓", "warning": "!", "wrong": "✗", "unknown": "?"}


class Result(Struct, frozen=True):
    """A finding, and the check that made it; `as_for` is the check that failed for the same reason before."""

    check: str
    verdict: Verdict
    said: str
    remedy: str = ""
    as_for: str = ""


def doctor(
    ctx: typer.Context,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only what is not fine.")] = False,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Check everything that Lago needs, one by one, and say what to do.

    ✓ is fine, ! works but should be looked at, ✗ does not work or waits for you, ? could not be checked. The exit code
    is 1 when there is a ✗, else 0. Nothing is changed and no message is sent.

    **Example:** `lago doctor --stack lago-prod --quiet`
    """
    world: World = ctx.obj
    results = []
    for result in examine(Case(world, stack_name), CHECKS):
        results.append(result)
        if not as_json and not (quiet and result.verdict == "fine"):
            _print(result)
    if as_json:
        print_json(results)
    else:
        _print_repeated(results)
    if any(each.verdict == "wrong" for each in results):
        raise typer.Exit(FAILURE)


def examine(case: Case, checks: Sequence[Check]) -> Iterator[Result]:
    """Make the checks; one that cannot be made is a result of its own and does not stop the others."""
    begun, told = case.world.clock(), dict[Exception, Result]()
    for check in checks:
        if case.world.clock() - begun > SECONDS * 1_000:
            yield Result(check.name, "unknown", f"not looked at: {SECONDS} seconds were over")
            continue
        try:
            for finding in check.look(case):
                yield Result(check.name, finding.verdict, finding.said, finding.remedy)
        except Exception as failure:  # noqa: BLE001 - whatever one check meets, the others are made
            result = _not_made(check, failure, told.get(failure))
            if not result.as_for:
                told[failure] = result
            yield result


def _not_made(check: Check, failure: Exception, before: Result | None) -> Result:
    """Why a check could not be made, in a sentence that is said once."""
    verdict: Verdict = "wrong" if check.vital else "unknown"
    if before is not None:
        said = f"could not be checked, for the reason given for {before.check}"
        return Result(check.name, "unknown", said, as_for=before.check)
    explained = explain(failure)
    if explained is None:
        bug = redact.reason(f"{type(failure).__name__}: {failure}")
        remedy = "this is a bug in `lago doctor`: please report it"
        return Result(check.name, verdict, f"could not be checked: {bug}", remedy)
    return Result(check.name, verdict, redact.reason(explained[0]))


def _print(result: Result) -> None:
    if result.as_for:
        return
    say(f"{_MARKS[result.verdict]} {result.check}: {result.said}")
    if result.remedy:
        say(f"    → {result.remedy}")


def _print_repeated(results: Sequence[Result]) -> None:
    """All checks that failed for a reason already told, in a line for each reason."""
    for reason in dict.fromkeys(each.as_for for each in results if each.as_for):
        checks = ", ".join(each.check for each in results if each.as_for == reason)
        say(f"{_MARKS['unknown']} not checked, for the reason given for {reason}: {checks}")
