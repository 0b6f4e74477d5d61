"""Each function called cold, warm, and after a pause in which its connections died."""

import json
from collections.abc import Callable
from itertools import count

import pytest

from tests.builders import a_search_id
from tests.runtime.built import ROOT
from tests.runtime.conftest import World
from tests.runtime.emulator import Function

_numbers = count(920_000_001)


def prepare_scrape(world: World, keyword: str) -> dict[str, object]:
    return {"shard": 0}


def prepare_notify(world: World, keyword: str) -> dict[str, object]:
    world.seed("outbox", keyword, str(next(_numbers)))
    return {"search": a_search_id(keyword)}


def prepare_drain(world: World, keyword: str) -> dict[str, object]:
    world.seed("row", keyword, str(next(_numbers)))
    return {}


def prepare_api(world: World, keyword: str) -> dict[str, object]:
    return {"resource": "/stats", "path": "/stats", "httpMethod": "GET", "headers": {}, "requestContext": {}}


PREPARE: dict[str, Callable[[World, str], dict[str, object]]] = {
    "scrape": prepare_scrape,
    "notify": prepare_notify,
    "drain": prepare_drain,
    "api": prepare_api,
}
SENDS = ("notify", "drain")
EVERY = pytest.mark.parametrize(("function", "name"), [(name, name) for name in PREPARE], indirect=["function"])


def identities(answer: dict[str, object]) -> dict[str, object]:
    return {key: answer[key] for key in ("pid", "http", "store")}


def told(world: World) -> int:
    return len(world.simulator.client.messages(1001))


@EVERY
def test_a_warm_invocation_reuses_clients_and_connections(function: Function, name: str, world: World) -> None:
    keyword = f"warm{name}"
    world.seed("watch", keyword)
    before = told(world)
    cold = function.invoke(PREPARE[name](world, keyword))
    event = PREPARE[name](world, keyword)
    opened = world.aws.opened, world.web.opened

    warm = function.invoke(event)

    assert identities(warm) == identities(cold)
    assert (world.aws.opened, world.web.opened) == opened
    reused = [line["reused"] for line in function.lines("request")]
    assert not any(reused[:1])
    assert all(reused[1:])
    assert len(reused) >= (0 if name == "api" else 2)
    assert told(world) - before == (2 if name in SENDS else 0)


@EVERY
def test_a_pause_in_which_all_connections_died_costs_nothing(function: Function, name: str, world: World) -> None:
    keyword = f"pause{name}"
    world.seed("watch", keyword)
    before = told(world)
    cold = function.invoke(PREPARE[name](world, keyword))
    event = PREPARE[name](world, keyword)
    earlier = len(function.lines("request"))

    with function.frozen(cold["pid"]):
        # the worst that happens: nobody says that the way is gone; the next bytes are answered with a reset
        world.aws.forget()
        if name in SENDS:
            # what is sent cannot be repeated safely, so no connection is kept as long as a pause lasts; see HTTP_*
            world.web.close_idle()
        else:
            world.web.forget()
    warm = function.invoke(event)

    assert identities(warm) == identities(cold)
    assert told(world) - before == (2 if name in SENDS else 0)
    if name == "scrape":
        broken, repeated = function.lines("request")[earlier : earlier + 2]
        assert (broken["reused"], broken.get("status")) == (True, None)
        assert (repeated["reused"], repeated.get("status")) == (False, 200)
        assert warm["answer"]["errors"] == {}
    assert name != "drain" or warm["answer"]["tally"]["delivered"] == 1
    assert name != "api" or warm["answer"]["statusCode"] == 200


@pytest.mark.parametrize("function", ["notify"], indirect=True)
def test_a_stream_batch_answers_with_what_failed(function: Function, world: World) -> None:
    event = json.loads((ROOT / "events" / "notify.json").read_text())

    assert function.invoke(event)["answer"] == {"batchItemFailures": []}


@pytest.mark.parametrize("function", ["api"], indirect=True)
def test_the_api_event_is_answered_with_figures(function: Function) -> None:
    answer = function.invoke(json.loads((ROOT / "events" / "api.json").read_text()))["answer"]

    assert answer["statusCode"] == 200
    assert {"pending", "dead", "oldest_due_age_seconds"} <= set(json.loads(answer["body"]))
