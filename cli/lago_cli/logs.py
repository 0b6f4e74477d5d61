"""`lago logs`: what the functions wrote, of all of them in one order."""

import heapq
import sys
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated

import typer
from botocore.exceptions import BotoCoreError, ClientError

from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.since import read_since
from lago.errors import BadInputError
from lago_cli import log_records, options
from lago_cli.deployment import Deployment, of_kind
from lago_cli.errors import explain
from lago_cli.log_records import Record, as_json_line, in_a_line
from lago_cli.output import remark
from lago_cli.ports import World
from lago_cli.text import plain

_ALL = "all"
LOG_GROUP = "Logs::LogGroup"
_POLL = Milliseconds(2_000)
_LATE_MS = 30_000
"""CloudWatch shows a record some seconds after it was written: what is read again is told once all the same."""


def logs(
    ctx: typer.Context,
    function: Annotated[
        str,
        typer.Option("--function", "-f", metavar="NAME", help="drain, scrape, notify, api, cycle, or all of them."),
    ] = _ALL,
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="From when on: 90min, 6h, 3d or 2026-11-29T18:00.")
    ] = "1h",
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until Ctrl-C.")] = False,
    grep: Annotated[
        str | None, typer.Option("--grep", metavar="TEXT", help="Only records that hold this text, in any case.")
    ] = None,
    errors: Annotated[bool, typer.Option("--errors", help="Only failures.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Also metrics, and what the platform says of each invocation.")
    ] = False,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line.", rich_help_panel="Output")
    ] = False,
) -> None:
    """Print what the functions wrote, oldest first: time in UTC, function, level, message and its fields.

    **Examples:**

        lago logs --since 30min --errors

        lago logs --function scrape --follow
    """
    world: World = ctx.obj
    begin = read_since(since, world.clock(), "--since")
    deployment = world.deployment(stack_name)
    groups = _groups(deployment, function)

    def wanted(record: Record) -> bool:
        return (
            (verbose or not record.routine)
            and (not errors or record.failed)
            and (grep is None or grep.casefold() in record.raw.casefold())
        )

    write = _write_json if as_json else _write
    tail = Tail(deployment, groups, begin)
    found = _print(tail.unseen(world.clock()), wanted, write)
    if follow:
        with suppress(KeyboardInterrupt):
            _follow(world, lambda: _print(tail.unseen(world.clock()), wanted, write))
    elif not found:
        remark(f"Nothing {'of that kind ' if grep or errors or not verbose else ''}was written since {plain(since)}.")


class Tail:
    """The records of several log groups in the order of their times, each told once however often it is read."""

    def __init__(self, deployment: Deployment, groups: Mapping[str, str], begin: EpochMs) -> None:
        """`groups` are the functions' names by log group."""
        self._deployment, self._groups = deployment, groups
        self._begin = self._newest = begin
        self._told: set[Hashable] = set()
        self._order: deque[tuple[EpochMs, Hashable]] = deque()

    def unseen(self, now: EpochMs) -> Iterator[Record]:
        """What was written until `now` and was not told yet."""
        since = EpochMs(max(self._begin, self._newest - _LATE_MS))
        lines = (self._deployment.log_lines(group, since, EpochMs(now + 1)) for group in self._groups)
        for line in heapq.merge(*lines, key=lambda line: line.at):
            # only AWS itself gives each record an id
            known_by: Hashable = line.id or (line.group, line.stream, line.at, line.text)
            if known_by not in self._told:
                self._remember(line.at, known_by)
                yield log_records.read(line, self._groups[line.group])

    def _remember(self, at: EpochMs, known_by: Hashable) -> None:
        self._told.add(known_by)
        self._order.append((at, known_by))
        self._newest = max(self._newest, at)
        while self._order[0][0] < self._newest - _LATE_MS:  # not read again
            self._told.discard(self._order.popleft()[1])


def _follow(world: World, print_new: Callable[[], int]) -> None:
    """Look for more every two seconds, through failures that pass."""
    said = ""
    while True:
        world.sleep(_POLL)
        try:
            print_new()
        except (BotoCoreError, ClientError) as error:
            explained = explain(error)
            sentence = explained[0] if explained else type(error).__name__
            if sentence != said:
                remark(f"{sentence} Trying again every 2 s.")
            said = sentence
        else:
            said = ""


def _print(records: Iterator[Record], wanted: Callable[[Record], bool], write: Callable[[Record], None]) -> int:
    """Write those that are wanted; says how many."""
    count = 0
    for record in records:
        if wanted(record):
            write(record)
            count += 1
    sys.stdout.flush()
    return count


def _write(record: Record) -> None:
    sys.stdout.write(in_a_line(record) + "\n")


def _write_json(record: Record) -> None:
    sys.stdout.write(as_json_line(record) + "\n")


def _groups(deployment: Deployment, function: str) -> dict[str, str]:
    """The functions' names by log group: those of one function, or all. Raises BadInputError for an unknown one."""
    found = {each.id: each.name.removesuffix("Logs").lower() for each in of_kind(deployment.resources(), LOG_GROUP)}
    if function == _ALL:
        return found
    chosen = {group: name for group, name in found.items() if name == function.lower()}
    if not chosen:
        raise BadInputError("--function", function, f"{', '.join(sorted(found.values()))}, or {_ALL}")
    return chosen
