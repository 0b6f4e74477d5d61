"""`lago dead`: what could not be delivered, listed, shown, brought back, discarded, exported."""

import sys
from collections.abc import Callable
from datetime import datetime
from typing import Annotated

import msgspec
import typer
from msgspec.structs import replace

from lago.dead_letter_answers import Handled, Letter, WholeLetter
from lago.dead_letter_requests import read_reason
from lago.dead_letters import AT_ONCE, FASTEST, PER_MINUTE, DeadLetters, Selection
from lago.domain.dead_letter import Wanted
from lago.domain.ids import EpochMs
from lago.errors import BadInputError
from lago_cli import dead_options, options
from lago_cli.dead_options import find, selection, wanted
from lago_cli.output import facts, print_json, remark, row, say, show_table, table
from lago_cli.ports import World
from lago_cli.text import ago, plain, when

_ID = 12
"""Characters of an id shown in the table: enough for any number of letters."""

app = typer.Typer(
    help="What could not be delivered: list, show, redrive, discard, export.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@app.command("list")
def list_letters(
    ctx: typer.Context,
    destination: dead_options.ForDestination = None,
    kind: dead_options.Kind = None,
    reason: dead_options.Reason = None,
    since: dead_options.Since = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="How many at most.")] = 50,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """List dead letters, newest first.

    **Example:** `lago dead list --reason outage --since 3d`
    """
    world: World = ctx.obj
    now = world.clock()
    which = wanted(destination, kind, reason, since, now)
    letters = world.open_stack(stack_name).dead_letters
    found, more = _newest(letters, which, limit)
    if as_json:
        print_json(found)
        return
    if not found:
        say("No dead letters.")
        return
    shown = table(
        "id", "to", "kind", "died of", "when", "tries", "back", "about", "said", right=frozenset({"tries", "back"})
    )
    for letter in found:
        row(
            shown,
            letter.notification[:_ID],
            plain(letter.destination, 40),
            letter.kind,
            letter.reason,
            ago(_epoch(letter.died), now),
            str(letter.attempts),
            str(letter.generation or ""),
            plain(letter.about, 40),
            plain(letter.said, 60),
        )
    show_table(shown)
    if more:
        remark(f"There are more: these are the newest {len(found)} (--limit).")


@app.command("show")
def show(
    ctx: typer.Context,
    letter_id: dead_options.OneId,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Show one dead letter with its history.

    **Example:** `lago dead show 3fa9`
    """
    world: World = ctx.obj
    letters = world.open_stack(stack_name).dead_letters
    letter = letters.show(find(letters, letter_id))
    if as_json:
        print_json(letter)
        return
    facts(
        [
            ("id", letter.notification),
            ("to", plain(letter.destination)),
            ("kind", letter.kind),
            ("about", plain(letter.about)),
            ("link", plain(str(letter.event.get("url", "")), 500)),
            ("watch", plain(letter.label)),
            ("died", f"{when(_epoch(letter.died))}, of {letter.reason}"),
            ("since", when(_epoch(letter.created))),
            ("tries", str(letter.attempts)),
            ("lost in crashes", str(letter.lost or "")),
            ("brought back", f"{letter.generation} times" if letter.generation else ""),
            ("may come back", "yes" if letter.may_return else "no: it was brought back too often"),
        ]
    )
    _print_history(letter)


def _print_history(letter: WholeLetter) -> None:
    if not letter.history:
        return
    shown = table("at", "outcome", "said", fold=frozenset({"said"}))
    for each in letter.history:
        row(shown, when(_epoch(each.at)), each.outcome, plain(each.said, 500))
    show_table(shown)


@app.command("redrive")
def redrive(
    ctx: typer.Context,
    ids: dead_options.Ids = None,
    destination: dead_options.ForDestination = None,
    kind: dead_options.Kind = None,
    reason: dead_options.Reason = None,
    since: dead_options.Since = None,
    every: dead_options.Every = False,
    per_minute: Annotated[
        int, typer.Option("--per-minute", min=1, max=FASTEST, help="How many are tried in a minute.")
    ] = PER_MINUTE,
    yes: dead_options.Yes = False,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Bring dead letters back: by id, by filter, or all. What was delivered is not told again.

    **Examples:**

        lago dead redrive 3fa9

        lago dead redrive --reason outage --since 1d --per-minute 10
    """
    world: World = ctx.obj
    filters = wanted(destination, kind, reason, since, world.clock())
    letters = world.open_stack(stack_name).dead_letters
    chosen = selection(letters, ids, filters, every=every)
    if not chosen.ids and not yes:
        _confirm("Bring back", letters, filters)
    total = _each(chosen, lambda part: letters.redrive(part, per_minute=per_minute))
    if as_json:
        print_json(total)
        return
    until = f", the last of them at {when(_epoch(total.until))}" if total.until and total.done > 1 else ""
    say(f"{_letters(total.done)} brought back{until}; the next cycles send what is due.")
    _print_rest(total)


@app.command("discard")
def discard(
    ctx: typer.Context,
    ids: dead_options.Ids = None,
    because: Annotated[
        str | None, typer.Option("--because", metavar="TEXT", help="Why; kept in the log. Required.")
    ] = None,
    destination: dead_options.ForDestination = None,
    kind: dead_options.Kind = None,
    reason: dead_options.Reason = None,
    since: dead_options.Since = None,
    every: dead_options.Every = False,
    yes: dead_options.Yes = False,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Remove dead letters for good: by id, by filter, or all.

    **Example:** `lago dead discard 3fa9 --because 'sold long ago'`
    """
    world: World = ctx.obj
    why = read_reason(because, "--because")
    filters = wanted(destination, kind, reason, since, world.clock())
    letters = world.open_stack(stack_name).dead_letters
    chosen = selection(letters, ids, filters, every=every)
    if not chosen.ids and not yes:
        _confirm("Discard for good", letters, filters)
    total = _each(chosen, lambda part: letters.discard(part, why))
    if as_json:
        print_json(total)
        return
    say(f"{_letters(total.done)} discarded.")
    _print_rest(total)


@app.command("export")
def export(
    ctx: typer.Context,
    destination: dead_options.ForDestination = None,
    kind: dead_options.Kind = None,
    reason: dead_options.Reason = None,
    since: dead_options.Since = None,
    stack_name: options.StackName = options.DEFAULT_STACK,
) -> None:
    """Print dead letters whole, one JSON object a line, newest first.

    **Example:** `lago dead export --since 7d > dead.jsonl`
    """
    world: World = ctx.obj
    which = wanted(destination, kind, reason, since, world.clock())
    for letter in world.open_stack(stack_name).dead_letters.export(which):
        sys.stdout.write(msgspec.json.encode(letter).decode() + "\n")


def _each(chosen: Selection, act: Callable[[Selection], Handled]) -> Handled:
    """All parts of a selection, one after the other."""
    done = act(chosen)
    while done.cursor is not None:
        more = act(replace(chosen, cursor=done.cursor))
        done = replace(
            more,
            done=done.done + more.done,
            refused=done.refused + more.refused,
            gone=done.gone + more.gone,
            until=more.until or done.until,
        )
    return done


def _newest(letters: DeadLetters, which: Wanted, limit: int) -> tuple[list[Letter], bool]:
    """The newest letters, and whether there may be more; a part of the list may be short although more follow."""
    found: list[Letter] = []
    cursor: str | None = None
    while True:
        part = letters.part(which, limit=min(AT_ONCE, limit - len(found)), after=cursor)
        found += part.letters
        cursor = part.cursor
        if cursor is None or len(found) == limit:
            return found, cursor is not None


def _confirm(what: str, letters: DeadLetters, which: Wanted) -> None:
    found, more = _newest(letters, which, AT_ONCE)
    if not found:
        raise BadInputError("filters", "no dead letter", "filters that fit one (`lago dead list` shows them)")
    many = f"{AT_ONCE} dead letters or more" if more else _letters(len(found))
    typer.confirm(f"{what} {many}?", abort=True, err=True)


def _print_rest(total: Handled) -> None:
    for refusal in total.refused:
        remark(f"{refusal.id} stays dead: {refusal.reason}")
    if total.gone:
        remark(f"{_letters(len(total.gone))} had been delivered, brought back or discarded meanwhile.")


def _letters(count: int) -> str:
    return "1 dead letter" if count == 1 else f"{count} dead letters"


def _epoch(iso: str) -> EpochMs:
    return EpochMs(int(datetime.fromisoformat(iso).timestamp() * 1000))
