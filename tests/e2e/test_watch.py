"""The main job, end to end: `sam deploy`, then what a person reads in the chat, whatever fails in between."""

import itertools
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import Lago, until

_numbers = itertools.count(1)
SAMPLES = json.loads((Path(__file__).parents[1] / "samples" / "willhaben.json").read_text())
INSERTED_AT = "1795897800000"
"""When ad 920000099 of the captured pages was published, epoch ms."""


@dataclass
class Watching:
    """A watch of its own for each test: own keyword, own chat, so that no test sees another's messages."""

    lago: Lago
    keyword: str
    chat: int

    def publish(self, title: str, price: float | None = 100.0, **more):
        return self.lago.simulator.publish(title=f"{self.keyword} {title}", price=price, **more)


def a_watch(lago: Lago, *, ads: int = 3) -> Watching:
    from lago.domain.ids import DestinationId, EpochMs, OwnerId, WatchId  # noqa: PLC0415 - after the names are bound
    from lago.domain.notification import Destination  # noqa: PLC0415
    from lago.domain.watch import Watch  # noqa: PLC0415
    from lago.sources.willhaben import query_from_keyword  # noqa: PLC0415
    from lago.store.mailboxes import MailboxStore  # noqa: PLC0415
    from lago.store.watches import WatchStore  # noqa: PLC0415

    number = next(_numbers)
    watching = Watching(lago, f"ding{number}", 7000 + number)
    for n in range(ads):
        watching.publish(f"alt {n}")
    lago.simulator.chat(watching.chat)
    destination = DestinationId(f"d{number}")
    owner = OwnerId("me")
    MailboxStore(1).put_destination(
        Destination(id=destination, owner=owner, channel="telegram", address=str(watching.chat))
    )
    query = query_from_keyword(watching.keyword)
    watch = Watch(
        id=WatchId(f"w{number}"),
        search=query.search_id(1),
        owner=owner,
        label=watching.keyword,
        url="https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz",
        destinations=(destination,),
        created=EpochMs(time.time_ns() // 1_000_000),
    )
    WatchStore(1).add(query, watch)
    lago.cycle()
    (live,) = lago.told(watching.chat, count=1)
    assert "is live" in live
    return watching


@pytest.fixture(autouse=True)
def calm(lago: Lago):
    yield
    lago.simulator.clear_faults()
    lago.simulator.clear_pages()


def test_the_first_run_is_a_baseline_with_one_message_and_no_flood(lago: Lago):
    watching = a_watch(lago, ads=12)

    (live,) = lago.texts(watching.chat)
    assert "12 ads" in live

    lago.cycle()
    assert len(lago.told(watching.chat, count=1)) == 1


def test_a_captured_page_is_a_baseline_and_a_changed_page_one_message(lago: Lago):
    # the captured ads are older than this watch: the one that is inserted has just been published
    text = json.dumps(SAMPLES["next_data_pages"])
    pages = json.loads(text.replace(INSERTED_AT, str(time.time_ns() // 1_000_000 + 60_000)))
    lago.simulator.load_page(pages["page1_before"], page=1)
    watching = a_watch(lago, ads=0)

    lago.simulator.load_page(pages["page1_after_insert"], page=1)
    lago.simulator.load_page(pages["page2_after_insert"], page=2)
    lago.cycle()

    assert len(lago.told(watching.chat, count=2)) == 2


def test_a_new_ad_is_told_once_with_title_price_and_a_button(lago: Lago):
    watching = a_watch(lago)

    ad = watching.publish("Rahmen <b>&amp; Gabel", price=1250)
    lago.cycle()
    lago.cycle()

    assert len(lago.told(watching.chat, count=2)) == 2
    message = lago.simulator.messages(watching.chat)[-1]
    assert "Rahmen <b>&amp; Gabel" in message.text
    assert "1.250" in message.text
    assert ad.id in message.buttons[0][0][1]


def test_a_price_drop_is_told_with_both_prices(lago: Lago):
    watching = a_watch(lago)
    ad = watching.publish("Sattel", price=650)
    lago.cycle()
    lago.told(watching.chat, count=2)

    lago.simulator.drop_price(ad.id, 590)
    lago.cycle()
    lago.cycle()

    texts = lago.told(watching.chat, count=3)
    assert len(texts) == 3
    assert "650" in texts[-1]
    assert "590" in texts[-1]


def test_a_bump_is_silent(lago: Lago):
    watching = a_watch(lago)
    ad = watching.publish("Lenker")
    lago.cycle()
    lago.told(watching.chat, count=2)

    lago.simulator.bump(ad.id)
    lago.simulator.promote(ad.id)
    lago.cycle()

    assert len(lago.told(watching.chat, count=2)) == 2


def test_rows_that_shift_between_two_pages_cost_no_ad_and_double_none(lago: Lago):
    watching = a_watch(lago, ads=10)
    for n in range(15):
        watching.publish(f"neu {n:02}")
    lago.simulator.fault("shift_rows", insert=1)

    lago.cycle()
    lago.cycle()

    until(lambda: sum(text.count(" neu ") for text in lago.texts(watching.chat)) >= 15)
    said = "\n".join(lago.told(watching.chat, count=2))
    assert [said.count(f" neu {n:02}") for n in range(15)] == [1] * 15


@pytest.mark.parametrize("kind", ["no_next_data", "challenge", "block_page", "drop"])
def test_an_outage_is_not_empty_and_what_came_meanwhile_is_told_after_it(lago: Lago, kind: str):
    watching = a_watch(lago)
    ad = watching.publish("Pedal", price=80)
    lago.cycle()
    lago.told(watching.chat, count=2)
    lago.simulator.fault(kind, times=None)
    report = lago.cycle()
    assert report["committed"] == 0
    assert sum(report["errors"].values()) >= 1
    figures = lago.stats()
    assert not figures["sources"]["willhaben"]["healthy"] or figures["failing_searches"]

    lago.simulator.drop_price(ad.id, 60)
    watching.publish("Kette")
    lago.simulator.clear_faults()
    ends = time.monotonic() + 60
    while len(lago.texts(watching.chat)) < 4 and time.monotonic() < ends:
        time.sleep(1.2)
        lago.cycle()

    texts = lago.told(watching.chat, count=4)
    assert len(texts) == 4
    assert lago.stats()["sources"]["willhaben"]["healthy"]


def test_a_refused_send_is_retried_a_cycle_later_and_arrives(lago: Lago):
    watching = a_watch(lago)
    lago.simulator.fault("status", target="telegram", status=500, chat=watching.chat)
    watching.publish("Bremse")

    lago.cycle()
    until(lambda: lago.stats()["pending"]["total"] == 1)
    assert len(lago.texts(watching.chat)) == 1
    lago.drained()

    texts = lago.told(watching.chat, count=2)
    assert len(texts) == 2
    assert lago.stats()["pending"]["total"] == 0


def test_a_chat_that_says_wait_waits_alone(lago: Lago):
    slow, quick = a_watch(lago), a_watch(lago)
    lago.simulator.fault("status", target="telegram", status=429, retry_after=8, chat=slow.chat)
    slow.publish("Felge")
    quick.publish("Felge")

    lago.cycle()

    assert len(lago.told(quick.chat, count=2)) == 2
    assert len(lago.texts(slow.chat)) == 1
    lago.drained()
    assert len(lago.told(slow.chat, count=2)) == 2


def test_the_sixth_failure_is_dead_and_counted_and_the_next_message_still_arrives(lago: Lago):
    watching = a_watch(lago)
    before = lago.stats()["dead"]["total"]
    lago.simulator.fault("status", target="telegram", status=500, chat=watching.chat, times=6)
    watching.publish("Helm")
    lago.cycle()
    until(lambda: lago.stats()["pending"]["total"] == 1)

    lago.drained()

    figures = lago.stats()
    dead = figures["dead"]
    assert (dead["total"], dead["by_channel"]["telegram"]) == (before + 1, before + 1)
    assert figures["pending"]["total"] == 0
    assert len(lago.texts(watching.chat)) == 1


def test_a_lost_answer_is_sent_again_because_an_alert_is_better_twice_than_never(lago: Lago):
    watching = a_watch(lago)
    lago.simulator.fault("drop_after", target="telegram", chat=watching.chat)
    watching.publish("Korb")

    lago.cycle()
    until(lambda: lago.stats()["pending"]["total"] == 1)
    lago.drained()

    texts = lago.told(watching.chat, count=3)
    assert texts[1] == texts[2]
    assert len(texts) == 3


def test_a_killed_notify_worker_loses_nothing(lago: Lago):
    watching = a_watch(lago)
    lago.simulator.fault("hang", target="telegram", chat=watching.chat, seconds=20)
    watching.publish("Licht")
    asked = lago.simulator.stats().targets.get("telegram", 0)
    lago.scrape()
    until(lambda: lago.simulator.stats().targets.get("telegram", 0) > asked)

    lago.kill_worker("NotifyFunction")
    lago.simulator.clear_faults()
    ends = time.monotonic() + 120
    while len(lago.texts(watching.chat)) < 2 and time.monotonic() < ends:
        time.sleep(2)
        lago.cycle()

    assert len(lago.told(watching.chat, count=2)) == 2
    assert lago.stats()["pending"]["total"] == 0


def test_two_overlapping_cycles_tell_nothing_twice(lago: Lago):
    watching = a_watch(lago)
    watching.publish("Klingel")
    lago.simulator.fault("delay", seconds=8)
    asked = lago.simulator.stats().targets["market"]

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(lago.scrape)
        until(lambda: lago.simulator.stats().targets["market"] > asked)
        second = lago.scrape()

    assert (first.result()["skipped"], second["skipped"]) == (False, True)
    assert len(lago.told(watching.chat, count=2)) == 2


def test_the_state_machine_runs_a_cycle_and_a_failing_drain_does_not_stop_the_scrape(lago: Lago):
    watching = a_watch(lago)
    drain = lago.stack.outputs["DrainFunction"]
    client = lago.stack.client("lambda")
    environment = client.get_function_configuration(FunctionName=drain)["Environment"]["Variables"]
    client.update_function_configuration(
        FunctionName=drain, Environment={"Variables": environment | {"DRAIN_BATCH": "nonsense"}}
    )
    try:
        watching.publish("Schloss")
        lago.stack.client("stepfunctions").start_execution(stateMachineArn=lago.stack.outputs["StateMachineArn"])
        assert len(lago.told(watching.chat, count=2)) == 2
    finally:
        client.update_function_configuration(FunctionName=drain, Environment={"Variables": environment})


def test_stats_want_the_key_and_say_how_often_a_cycle_really_ran(lago: Lago):
    lago.cycle()
    time.sleep(1)
    lago.cycle()

    figures = lago.stats()

    assert figures["watches"] >= 1
    assert figures["delivered_24h"] >= 1
    assert 1 <= figures["cycles"][0]["interval_seconds"] < 60
    refused = httpx.get(f"{lago.stack.api_url}/stats", timeout=20)
    assert refused.status_code == 403


def test_a_second_deploy_keeps_all_data_and_tells_nothing_twice(lago: Lago):
    watching = a_watch(lago)
    watching.publish("Pumpe")
    lago.cycle()
    lago.told(watching.chat, count=2)
    before = lago.stats()

    lago.deploy()
    lago.cycle()

    after = lago.stats()
    assert (after["watches"], after["searches"]) == (before["watches"], before["searches"])
    assert len(lago.told(watching.chat, count=2)) == 2
