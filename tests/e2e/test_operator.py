"""Whoever runs Lago is told what is wrong, each once, and that it is over: by the deployed functions, in a chat."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from tests.e2e.conftest import Lago, Operator, until
from tests.e2e.test_dead_letters import a_dead_letter
from tests.e2e.test_watch import a_watch


@pytest.fixture(autouse=True)
def calm(lago: Lago) -> Iterator[None]:
    yield
    lago.simulator.clear_faults()


@contextmanager
def changed(lago: Lago, function: str, **variables: str) -> Iterator[None]:
    """The function with other variables, as a deployment could give it."""
    name, client = lago.stack.outputs[function], lago.stack.client("lambda")

    def put(environment: Mapping[str, str]) -> None:
        client.update_function_configuration(FunctionName=name, Environment={"Variables": dict(environment)})

    before: dict[str, str] = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    put(before | variables)
    try:
        yield
    finally:
        put(before)


def run_cycle(lago: Lago) -> None:
    """A cycle by the state machine."""
    lago.stack.client("stepfunctions").start_execution(stateMachineArn=lago.stack.outputs["StateMachineArn"])


def until_healthy(lago: Lago) -> None:
    """Cycles, until the marketplace is read again."""

    def healthy() -> bool:
        time.sleep(1)
        lago.scrape()
        return bool(lago.stats()["sources"]["willhaben"]["healthy"])

    until(healthy)


def test_a_marketplace_that_blocks_is_told_once_and_that_it_is_read_again(lago: Lago, operator: Operator):
    a_watch(lago)
    lago.simulator.fault("status", status=429, times=None)
    for _ in range(3):
        lago.scrape()
        time.sleep(1)

    said = operator.hears("willhaben cannot be read")

    assert "429" in said
    lago.simulator.clear_faults()
    until_healthy(lago)
    operator.hears("willhaben is read again.")
    assert len([text for text in operator.told() if "willhaben" in text]) == 2


def test_a_search_with_more_news_than_could_be_read_is_told_and_that_it_has_no_gap_any_more(
    lago: Lago, operator: Operator
):
    watching = a_watch(lago)
    with changed(lago, "ScrapeFunction", SCRAPE_HARD_PAGES="2"):
        for n in range(25):
            watching.publish(f"neu {n:02}")
        for _ in range(2):
            lago.scrape()
        operator.hears("more new ads than could be read")

        for _ in range(4):
            lago.scrape()
        operator.hears("No search has a gap any more.")

    assert len([text for text in operator.told() if "gap" in text or "more new ads" in text]) == 2


def test_a_drain_that_fails_is_told_without_one_and_that_it_works_again(lago: Lago, operator: Operator):
    with changed(lago, "DrainFunction", QUEUE_TABLE="nowhere"):
        run_cycle(lago)
        until(lambda: bool(operator.told()))
        run_cycle(lago)
        run_cycle(lago)

    (said,) = operator.told()
    assert "A cycle failed in its drain" in said
    assert "DynamoDB: " in said, "the function's own words"
    operator.hears("The drain works again.")


def test_a_scrape_that_fails_is_told_and_that_it_works_again(lago: Lago, operator: Operator):
    with changed(lago, "ScrapeFunction", SEARCHES_TABLE="nowhere"):
        run_cycle(lago)
        until(lambda: bool(operator.told()))

    assert "DynamoDB: " in operator.hears("A cycle failed in its scrape")
    run_cycle(lago)
    operator.hears("The scrape works again.")


def test_dead_letters_are_told_and_that_none_is_left(lago: Lago, operator: Operator):
    letter = a_dead_letter(lago, a_watch(lago))
    a_dead_letter(lago, a_watch(lago))

    said = operator.hears("dead letter")

    assert "lago dead list" in said
    status, left = lago.ask("GET", "/dead-letters")
    ids = [each["id"] for each in left["letters"]]
    assert (status, letter["id"] in ids) == (200, True)
    lago.ask("POST", "/dead-letters/discard", {"ids": ids, "reason": "seen"})
    operator.hears("No dead letter is left.")
    assert len([text for text in operator.told() if "dead letter" in text]) == 2


def test_a_new_version_is_told_once(lago: Lago, operator: Operator):
    layer = "arn:aws:lambda:eu-central-1:000000000000:layer:lago"
    with changed(lago, "DrainFunction", LAYER=f"{layer}:76"):
        lago.drain()
    with changed(lago, "DrainFunction", LAYER=f"{layer}:77"):
        for _ in range(3):
            lago.drain()

        assert "layer 77" in operator.hears("A new version runs")
