"""What goes wrong on request, as a client meets it."""

import contextlib
import http.client
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.simulator.serving import CHAT, MARKET, Got, Running, ask, served


@pytest.fixture(scope="module")
def shared() -> Iterator[Running]:
    with served() as running:
        yield running


@pytest.fixture
def running(shared: Running) -> Running:
    shared.client.reset(seed=1, ads=40)
    return shared


def send(running: Running, text: str = "x", chat: int = CHAT) -> Got:
    return running.bot("sendMessage", chat_id=chat, text=text)


def test_a_fault_hits_the_next_requests_and_then_no_more(running: Running) -> None:
    fault = running.client.fault("status", status=500, times=2)

    assert [running.search().status for _ in range(3)] == [500, 500, 200]
    assert running.client.faults()[0].served == 2
    assert send(running).status == 200
    assert fault.times == 2


def test_a_fault_without_an_end_lasts_until_it_is_cleared(running: Running) -> None:
    fault = running.client.fault("block_page", times=None)

    blocked = [running.search() for _ in range(3)]
    running.client.clear_faults(fault.id)

    assert [page.status for page in blocked] == [403, 403, 403]
    assert "IP-Adresse wurde blockiert" in blocked[0].body.decode()
    assert running.search().status == 200


def test_a_fault_spares_the_first_and_those_it_is_not_about(running: Running) -> None:
    running.client.fault("status", status=503, after=1, path="page=2")

    assert running.search(page=1).status == 200
    assert [running.search(page=2).status for _ in range(3)] == [200, 503, 200]


def test_faults_that_end_a_request_are_met_one_after_the_other(running: Running) -> None:
    running.client.fault("status", status=502)
    running.client.fault("no_next_data")
    running.client.fault("challenge")

    assert running.search().status == 502
    assert running.search().body == b'<html><body><div id="__next">neues Layout</div></body></html>'
    assert b"verify you are human" in running.search().body
    assert running.search().ids


def test_market_429_says_when_to_come_back(running: Running) -> None:
    running.client.fault("status", status=429, retry_after=17)

    answer = running.search()

    assert (answer.status, answer.headers["retry-after"]) == (429, "17")


def test_garbage_is_neither_html_nor_json_nor_utf_8(running: Running) -> None:
    running.client.fault("garbage")
    running.client.fault("garbage", "telegram")

    for answer in (running.search(), send(running)):
        assert answer.status == 200
        with pytest.raises(UnicodeDecodeError):
            answer.body.decode()
    assert running.client.messages() == []


def test_a_body_can_end_in_the_middle(running: Running) -> None:
    running.client.fault("truncated")

    with pytest.raises(http.client.IncompleteRead) as error:
        running.search()

    assert b"__NEXT_DATA__" in error.value.partial


def test_a_connection_can_drop_before_or_after_telegram_accepted(running: Running) -> None:
    running.client.fault("drop", "telegram", method="sendMessage")
    running.client.fault("drop_after", "telegram")

    for text in ("vorher", "nachher"):
        with pytest.raises(http.client.RemoteDisconnected):
            send(running, text)

    assert [message.text for message in running.client.messages(CHAT)] == ["nachher"]
    assert running.client.stats().statuses["none"] == 2


def test_telegram_429_is_for_the_one_chat_that_it_names(running: Running) -> None:
    running.client.chat(4712)
    running.client.fault("status", "telegram", status=429, retry_after=5, chat=CHAT)

    refused, other = send(running), send(running, chat=4712)

    assert (refused.status, refused.headers["retry-after"]) == (429, "5")
    assert refused.json == {
        "ok": False,
        "error_code": 429,
        "description": "Too Many Requests: retry after 5",
        "parameters": {"retry_after": 5},
    }
    assert (other.status, send(running).status) == (200, 200)


def test_telegram_errors_are_json_but_a_bad_gateway_is_html(running: Running) -> None:
    running.client.fault("status", "telegram", status=500)
    running.client.fault("status", "telegram", status=502)

    assert send(running).json["description"] == "Internal Server Error"
    assert send(running).headers["content-type"].startswith("text/html")


def test_one_message_can_be_poisonous_while_others_pass(running: Running) -> None:
    running.client.fault("status", "telegram", status=400, text="Gift", times=None)

    assert [send(running, text).status for text in ("gut", "Gift!", "gut", "Gift!")] == [200, 400, 200, 400]


def test_a_photo_is_refused_while_text_passes(running: Running) -> None:
    running.client.fault("refuse_photo", "telegram")
    photo: dict[str, Any] = {"chat_id": CHAT, "photo": "https://example.org/a.jpg"}

    assert send(running).status == 200
    refused = running.bot("sendPhoto", **photo)

    assert (refused.status, refused.json["description"]) == (
        400,
        "Bad Request: wrong file identifier/HTTP URL specified",
    )
    assert running.bot("sendPhoto", **photo).status == 200


def test_an_inserted_ad_shifts_rows_between_two_pages(running: Running) -> None:
    before = running.search(rows=5, page=1).ids
    running.client.fault("shift_rows", insert=1)

    first, second = running.search(rows=5, page=1).ids, running.search(rows=5, page=2).ids

    assert first == before
    assert first[-1] == second[0]
    made = running.client.faults()[0].made
    assert made[0] in running.search(rows=5, page=1).ids


def test_a_removed_ad_shifts_rows_the_other_way(running: Running) -> None:
    everything = running.search(rows=20).ids
    organic = [ad for ad in everything if everything.count(ad) == 1]
    running.client.fault("shift_rows", remove=2)

    running.search(rows=5, page=1)

    gone = list(running.client.faults()[0].made)
    assert gone == organic[:2]
    assert not set(gone) & set(running.search(rows=20).ids)


def test_the_sort_order_can_be_ignored_and_even_denied(running: Running) -> None:
    right = running.search(rows=100).ids
    running.client.fault("ignore_sort")
    running.client.fault("ignore_sort", honest=False, after=1)

    admitted, denied = running.search(rows=100), running.search(rows=100)

    assert sorted(admitted.ids) == sorted(right)
    assert admitted.ids != right
    assert denied.ids == admitted.ids
    assert [selected(page) for page in (admitted, denied, running.search())] == ["7", "1", "1"]


def test_the_filter_can_be_ignored(running: Running) -> None:
    honest = running.search(keyword="rennrad", PRICE_TO=500).search
    running.client.fault("ignore_filter")

    ignored = running.search(keyword="rennrad", PRICE_TO=500).search

    assert (honest["heading"], ignored["heading"]) == ("rennrad", "Alle Anzeigen")
    assert ignored["rowsFound"] > honest["rowsFound"]


def test_the_first_page_can_be_served_again_and_again(running: Running) -> None:
    running.client.fault("repeat_page", times=None)

    assert running.search(rows=5, page=3).ids == running.search(rows=5, page=1).ids


def test_a_delay_holds_one_request_but_not_the_others(running: Running) -> None:
    running.client.fault("delay", seconds=0.3)
    slow = threading.Thread(target=running.search)
    slow.start()
    wait_until(lambda: running.client.faults()[0].served == 1)

    began = time.monotonic()
    running.search()
    quick = time.monotonic() - began
    slow.join()

    assert quick < 0.25
    assert time.monotonic() - began > 0.1


def test_what_hangs_is_let_go_without_an_answer_when_the_fault_is_cleared(running: Running) -> None:
    fault = running.client.fault("hang", "telegram", times=None)
    ended: list[Exception] = []

    def attempt() -> None:
        try:
            send(running)
        except http.client.RemoteDisconnected as error:
            ended.append(error)

    hanging = threading.Thread(target=attempt)
    hanging.start()
    wait_until(lambda: running.client.faults()[0].served == 1)
    assert hanging.is_alive()

    running.client.clear_faults(fault.id)
    hanging.join(2)

    assert len(ended) == 1
    assert running.client.messages() == []


def test_connections_that_wait_can_be_closed_as_while_a_function_is_frozen(running: Running) -> None:
    with contextlib.closing(running.connect()) as connection:
        ask(connection, "GET", f"{MARKET}?sort=1")

        assert running.client.close_connections() >= 1

        with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
            ask(connection, "GET", f"{MARKET}?sort=1")


def selected(page: Got) -> str:
    return next(str(link["id"]) for link in page.search["sortOrderList"]["contextLink"] if link["selected"])


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(100):
        if holds():
            return
        threading.Event().wait(0.02)
    raise AssertionError("it never came true")
