"""What people see in a terminal, however narrow."""

import io
import sys

import pytest
from rich.text import Text

from lago_cli.output import row, show_table, table

LINK = "https://www.willhaben.at/iad/kaufen-und-verkaufen/d/rennrad-2147483543/"
CELLS = ("a7qtxmj7", "marktplatz", "disabled: [b]blocked[/b]", "12", "", LINK)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(monkeypatch: pytest.MonkeyPatch, screen: io.StringIO, columns: int) -> list[str]:
    """The lines that a table of one row comes to there, without colours."""
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    made = table("id", "name", "state", "missed", "since", "search", right=frozenset({"missed"}))
    row(made, *CELLS)
    show_table(made)
    return [Text.from_ansi(line).plain.strip() for line in screen.getvalue().splitlines() if line.strip()]


@pytest.mark.parametrize("columns", [160, 500])
def test_a_table_that_fits_its_terminal_is_one(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    lines = printed(monkeypatch, Terminal(), columns)

    assert [lines[0].split(), len(lines)] == [["id", "name", "state", "missed", "since", "search"], 3]
    assert all(cell in lines[2] for cell in CELLS)


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 120])
def test_in_a_narrower_one_each_row_is_a_block_in_which_nothing_is_cut(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    lines = printed(monkeypatch, Terminal(), columns)

    assert [line.split(maxsplit=1)[0] for line in lines[:5]] == ["id", "name", "state", "missed", "search"]
    assert [line.split(maxsplit=1)[1] for line in lines[:4]] == list(CELLS[:4])
    assert "".join(lines[4:]).replace(" ", "") == f"search{LINK}"


def test_a_file_has_no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(monkeypatch, io.StringIO(), 40)

    assert len(lines) == 3
    assert all(cell in lines[2] for cell in CELLS)
