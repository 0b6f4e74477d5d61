"""What a cycle without news writes into the log, which is paid for by the byte."""

import json

import pytest

from tests.runtime.conftest import World
from tests.runtime.emulator import Function

LONGEST_LINE = 500
"""Bytes; docs/cost.md counts with as many for each."""


def lines(function: Function) -> list[str]:
    """Of the function itself; the platform's own are text here."""
    return [line for line in function.log.splitlines() if line.startswith(("{", "["))]


@pytest.mark.parametrize("function", ["drain"], indirect=True)
def test_an_idle_drain_writes_its_metrics_and_nothing_else(function: Function) -> None:
    function.invoke({"cycle": "c1"})
    before = len(lines(function))

    function.invoke({"cycle": "c2"})

    (line,) = lines(function)[before:]
    assert '"_aws"' in line
    assert len(line) <= 2 * LONGEST_LINE


@pytest.mark.parametrize("function", ["scrape"], indirect=True)
def test_a_scrape_without_news_writes_its_metrics_and_a_line_a_request(function: Function, world: World) -> None:
    world.seed("watch", "idle")
    function.invoke({"cycle": "c1"})
    before = len(lines(function))

    answer = function.invoke({"cycle": "c2"})["answer"]

    metrics, *requests = sorted(lines(function)[before:], key=lambda line: '"_aws"' not in line)
    assert answer["unchanged"] == answer["read"] > 0
    assert '"_aws"' in metrics
    assert [json.loads(line)["message"] for line in requests] == ["request"] * answer["pages"]
    assert max(map(len, requests)) <= LONGEST_LINE
