"""What the documents tell people to type, look at and follow is there."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from lago.observability import UNITS
from lago_cli.main import app
from tests.infra.stack import ROOT, Stack

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
PARAMETERS = Stack().parameters
FOLDERS = "bench|cli|docs|events|functions|layers|requirements|scripts|simulator|statemachine|tests"
_IDS = [str(page.relative_to(ROOT)) for page in PAGES]

every_page = pytest.mark.parametrize("page", PAGES, ids=_IDS)


def snippets(text: str) -> Iterator[str]:
    """Lines of code blocks, continued ones joined, and code within a sentence."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for block in blocks:
        yield from block.replace("\\\n", " ").splitlines()
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose))


def commands(text: str) -> Iterator[str]:
    """What is to be typed for `lago`, without what a block says beside it."""
    for snippet in snippets(text):
        for part in re.split(r"(?<=\s)\|\s+(?=\S)|&& ", snippet.strip()):
            if re.match(r"lago( |$)", part):
                yield re.split(r"\s{2,}|\s#", part)[0]


def words(command: str) -> list[str]:
    """The command's words; `[--option]` and `a|b` are ways to write several."""
    plain = re.sub(r"[\[\]…;]", " ", command)
    try:
        return shlex.split(plain)
    except ValueError:  # an apostrophe in prose
        return plain.split()


@every_page
def test_every_command_is_one_and_has_the_options_that_are_shown(page: Path) -> None:
    root = typer.main.get_command(app)
    for command in commands(page.read_text()):
        known, (_, *rest) = root, words(command)
        while rest and hasattr(known, "commands"):
            if rest[0].startswith("-") or "|" in rest[0]:
                break
            assert rest[0] in known.commands, command
            known = known.commands[rest.pop(0)]
        options = {option for each in known.params for option in each.opts + each.secondary_opts} | {"--help"}
        shown = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        assert shown <= options, command


@every_page
def test_every_link_within_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", there.read_text(), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}, target


@every_page
def test_every_target_of_make_is_one(page: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)) | {
        "bench-reuse",
        "bench-cost",
        "bench-decode",
    }
    for snippet in snippets(page.read_text()):
        for target in re.findall(r"(?:^|[\s=])make ([a-z][\w-]*)", snippet):
            assert target in targets, snippet


@every_page
def test_every_file_that_is_named_is_there(page: Path) -> None:
    for snippet in snippets(page.read_text()):
        for path in re.findall(rf"(?<![\w/.-])(?:{FOLDERS})/[\w/.-]*\w", snippet):
            assert (ROOT / path).exists(), path


@every_page
def test_every_parameter_that_is_set_is_one(page: Path) -> None:
    for snippet in snippets(page.read_text()):
        for name in re.findall(r"(?<![\w$@.])([A-Z][a-z]+(?:[A-Z][a-z]+)+)=", snippet):
            assert name in PARAMETERS, snippet


def operations(heading: str) -> list[list[str]]:
    """The cells of the table under a heading of docs/operations.md."""
    section = (ROOT / "docs" / "operations.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row] for row in rows]


def test_parameters_have_the_defaults_that_are_told() -> None:
    rows = operations("Parameters worth knowing")

    assert rows
    for names, defaults, *_ in rows:
        told = [cell.strip().strip("`").replace("empty", "") for cell in defaults.split(", ")]
        assert {name: PARAMETERS[name] for name in re.findall(r"`(\w+)`", names)} == dict(
            zip(re.findall(r"`(\w+)`", names), told, strict=True)
        )


def test_the_metrics_that_are_told_are_those_that_are_published() -> None:
    assert [row[0].strip("`") for row in operations("Metrics")] == list(UNITS)
