"""Tables for people, JSON for programs; both on standard output, remarks on standard error."""

import sys

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_WIDE = 500
"""Columns assumed when the output goes to a file or a pipe, so that nothing is cut or folded there."""


def _width(stream_is_terminal: bool) -> int | None:
    return None if stream_is_terminal else _WIDE


def console() -> Console:
    """Standard output, looked up at each call because tests replace it."""
    return Console(file=sys.stdout, width=_width(sys.stdout.isatty()), highlight=False)


def remarks() -> Console:
    """Standard error: what is not the answer itself."""
    return Console(file=sys.stderr, width=_width(sys.stderr.isatty()), highlight=False)


def print_json(value: object) -> None:
    """Any struct or builtins as indented JSON."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def say(sentence: str) -> None:
    """One line, taken literally: no markup, no wrapping."""
    console().print(Text(sentence), soft_wrap=True)


def remark(sentence: str) -> None:
    """One line beside the answer."""
    remarks().print(Text(sentence), soft_wrap=True)


def table(*columns: str, right: frozenset[str] = frozenset(), fold: frozenset[str] = frozenset()) -> Table:
    """An empty table; `right` are columns of numbers, `fold` columns that must stay whole."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        made.add_column(
            name,
            justify="right" if name in right else "left",
            overflow="fold" if name in fold else "ellipsis",
            no_wrap=name not in fold and name in right,
        )
    return made


def row(made: Table, *cells: str) -> None:
    """Add a row whose cells are taken literally: a title must not be read as markup."""
    made.add_row(*(Text(cell) for cell in cells))


def show_table(made: Table) -> None:
    """Print a table; in a terminal too narrow for it each row as a block of facts, so that no id and no link is cut."""
    screen = console()
    if Measurement.get(screen, screen.options.update(max_width=_WIDE), made).maximum <= screen.width:
        screen.print(made)
        return
    names = [str(column.header) for column in made.columns]
    for cells in zip(*(column.cells for column in made.columns), strict=True):
        say("")
        facts([(name, str(cell)) for name, cell in zip(names, cells, strict=True)])
    say("")


def facts(pairs: list[tuple[str, str]]) -> None:
    """A block of names and values, empty values left out."""
    made = Table(box=None, show_header=False, pad_edge=False)
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        if value:
            made.add_row(Text(name), Text(value))
    console().print(made)
