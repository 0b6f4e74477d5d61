"""What a scrape leaves in the log: what each search's requests were for, and nothing for one that did not change."""

import logging
from collections.abc import Iterator

import pytest

from lago.observability import logger
from tests.fakes.house import a_known_house, a_search
from tests.logged import Log, logged


@pytest.fixture
def log() -> Iterator[Log]:
    with logged() as log:
        yield log


def test_searches_that_did_not_change_say_nothing(log: Log) -> None:
    house = a_known_house(a_search("0.a"), a_search("0.b"))
    before = len(log.lines)

    report = house.cycle()

    assert report.unchanged == 2
    assert log.lines[before:] == []


def test_what_is_said_while_a_search_is_read_names_it(log: Log) -> None:
    house = a_known_house(a_search("0.a"), a_search("0.b"))
    house.market.between = lambda: logging.getLogger("lago.http").info("request")

    house.cycle()

    assert {line["search"] for line in log.of("request")} == {"0.a", "0.b"}


def test_an_unexpected_error_names_its_search(log: Log) -> None:
    house = a_known_house(a_search("0.a"))
    house.market.errors = [ZeroDivisionError("a bug")]

    house.cycle()

    line = log.one("an unexpected error")
    assert (line["level"], line["search"], line["exception_name"]) == ("ERROR", "0.a", "ZeroDivisionError")


def test_in_a_sampled_invocation_each_search_says_how_it_ended(log: Log) -> None:
    house = a_known_house(a_search("0.a"))
    logger.setLevel(logging.DEBUG)

    house.cycle()

    assert (log.lines[-1]["message"], log.lines[-1]["end"], log.lines[-1]["search"]) == (
        "search done",
        "unchanged",
        "0.a",
    )
