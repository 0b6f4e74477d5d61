"""Dead letters over HTTP, with the function's own rights; what the operator hears of them is in test_operator."""

import json
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Lago, until
from tests.e2e.test_watch import Watching, a_watch


def ask(lago: Lago, method: str, path: str, body: object = None, **query: str) -> tuple[int, Any]:
    answer = httpx.request(
        method,
        f"{lago.stack.api_url}/dead-letters{path}",
        headers={"x-api-key": lago.stack.api_key},
        params=query,
        json=body,
        timeout=20,
    )
    return answer.status_code, answer.json()


def exported(lago: Lago, **query: str) -> list[Any]:
    """All parts of an export, a letter each."""
    letters: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        answer = httpx.get(
            f"{lago.stack.api_url}/dead-letters/export",
            headers={"x-api-key": lago.stack.api_key},
            params={**query, **cursor, "limit": "1"},
            timeout=20,
        )
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
        letters += [json.loads(line) for line in answer.text.split("\n")[:-1]]
        if "x-next-cursor" not in answer.headers:
            return letters
        cursor = {"cursor": answer.headers["x-next-cursor"]}


def a_dead_letter(lago: Lago, watching: Watching) -> dict[str, Any]:
    """Telegram refuses an ad for good, in every form."""
    lago.simulator.fault("status", target="telegram", status=400, chat=watching.chat, times=None)
    watching.publish("Gabel")
    before = lago.stats()["dead"]["total"]
    lago.cycle()
    until(lambda: lago.stats()["dead"]["total"] == before + 1)
    lago.simulator.clear_faults()
    _, found = ask(lago, "GET", "", destination=f"d{watching.chat - 7000}", reason="message", limit="1")
    letter: dict[str, Any] = found["letters"][0]
    return letter


@pytest.fixture(autouse=True)
def calm(lago: Lago):
    yield
    lago.simulator.clear_faults()


def test_a_dead_letter_is_shown_and_brought_back_and_arrives_once(lago: Lago):
    watching = a_watch(lago)
    letter = a_dead_letter(lago, watching)
    assert (letter["kind"], letter["generation"]) == ("new_ad", 0)

    status, whole = ask(lago, "GET", f"/{letter['id']}")
    assert (status, whole["may_return"]) == (200, True)
    assert "Gabel" in whole["event"]["title"]
    assert [each["outcome"] for each in whole["history"]] == ["message"]

    assert whole in exported(lago, destination=letter["destination"], since="1h")

    status, done = ask(lago, "POST", "/redrive", {"ids": [letter["id"]]})
    assert (status, done["done"]) == (200, 1)
    lago.drained()

    assert "Gabel" in lago.told(watching.chat, count=2)[-1]
    assert ask(lago, "GET", f"/{letter['id']}")[0] == 404


def test_a_dead_letter_is_discarded(lago: Lago):
    letter = a_dead_letter(lago, a_watch(lago))
    before = lago.stats()["dead"]["total"]

    assert ask(lago, "POST", "/discard", {"ids": [letter["id"]]})[0] == 400
    status, done = ask(lago, "POST", "/discard", {"ids": [letter["id"]], "reason": "sold"})

    assert (status, done["done"]) == (200, 1)
    assert lago.stats()["dead"]["total"] == before - 1
    refused = httpx.post(f"{lago.stack.api_url}/dead-letters/redrive", json={"all": True}, timeout=20)
    assert refused.status_code == 403
