"""Market and Telegram over real HTTP: keep-alive, both body forms, steering, counting."""

import gzip
import json
import threading
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from simulator.client import ControlError, Simulator
from simulator.telegram import DEFAULT_TOKEN
from tests.simulator.serving import CHAT, MARKET, NOON, Running, ask, served, stopped

SAMPLES = json.loads((Path(__file__).parents[1] / "samples" / "willhaben.json").read_text(encoding="utf-8"))


def test_two_simulators_of_one_seed_serve_the_same_bytes() -> None:
    with served(seed=5, clock=stopped()) as one, served(seed=5, clock=stopped()) as other:
        assert one.search(keyword="rennrad").body == other.search(keyword="rennrad").body
        one.client.step(), other.client.step()
        assert one.search().body == other.search().body
        one.client.reset(seed=6)
        assert one.search().body != other.search().body


def test_what_is_steered_shows_on_the_next_page() -> None:
    with served(ads=0) as running:
        sim = running.client
        ad = sim.publish(title="Rennrad 56 cm", price="650.50", place="Graz", private=False, seller="Huber")
        assert running.search(keyword="rennrad").ids == [ad.id]
        assert running.search(keyword="rennrad", areaId=[900, 6], ISPRIVATE=0, PRICE_TO=650).ids == []

        sim.drop_price(ad.id, 590)
        other = sim.publish(title="Rennrad, neuer")
        assert running.search(keyword="rennrad").ids == [other.id, ad.id]
        shown = running.search(PRICE_TO=590, PRICE_FROM=590).search["advertSummaryList"]["advertSummary"][0]
        assert {"name": "PRICE", "values": ["590"]} in shown["attributes"]["attribute"]

        sim.bump(ad.id)
        assert running.search().ids == [ad.id, other.id]
        sim.promote(other.id)
        assert running.search().ids == [other.id, ad.id, other.id]
        sim.sell(other.id)
        sim.remove(ad.id)
        assert running.search().ids == []
        assert sim.restore(ad.id).status == "active"
        assert [one.id for one in sim.ads()] == [ad.id, other.id]


def test_the_address_of_an_ad_leads_to_its_page_and_once_removed_to_a_soft_404() -> None:
    with served(ads=5) as running:
        ad = running.client.publish(title="Rennrad 56 cm")
        redirect = running.get(f"/iad/object?adId={ad.id}")
        assert (redirect.status, redirect.headers["location"]) == (302, ad.path)
        assert running.get(ad.path).page_props["advertDetails"]["id"] == ad.id
        bare = running.client.publish(title="ohne Adresse", seo=False)
        assert running.get(f"/iad/object?adId={bare.id}").page_props["advertDetails"]["id"] == bare.id

        running.client.remove(ad.id)
        gone = running.get(ad.path)

        assert gone.status == 200
        assert list(gone.page_props) == ["searchResult"]
        assert list(running.get("/iad/object?adId=123456789").page_props) == ["searchResult"]
        for path in ("/", "/iad/immobilien/haus/haus-angebote", "/iad/object"):
            assert running.get(path).status == 404


def test_a_captured_page_is_served_until_it_is_cleared() -> None:
    captured = SAMPLES["next_data_pages"]
    with served() as running:
        sim = running.client
        sim.load_page(captured["page1_after_insert"], page=1)
        sim.load_page(captured["page2_after_insert"], page=2)

        assert running.search(page=1).page_props == captured["page1_after_insert"]["props"]["pageProps"]
        assert running.search(page=2).ids[0] == "920000004"
        assert running.search(page=3).ids == []
        sim.load_page(captured["page1_before"], page=1)
        assert running.search(page=1).ids[1] == "920000001"

        sim.load_html("<html>eigenes</html>")
        assert running.search(page=3).body == b"<html>eigenes</html>"
        sim.clear_pages()
        assert "920000001" not in running.search().ids


def test_one_connection_carries_many_requests_and_pages_are_compressed_on_request() -> None:
    with served(clock=stopped()) as running:
        connection = running.connect()
        plain = ask(connection, "GET", f"{MARKET}?sort=1")
        packed = ask(connection, "GET", f"{MARKET}?sort=1", headers={"Accept-Encoding": "gzip"})
        connection.close()

        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body)[:500] == plain.body[:500]
        stats = running.client.stats()
        assert (stats.connections, [one["reused"] for one in stats.requests]) == (1, [False, True])


def test_it_counts_what_it_was_asked_but_not_what_it_was_told() -> None:
    with served() as running:
        running.client.publish()
        running.get(f"{MARKET}?keyword=a", headers={"User-Agent": "Lago/1 (+mail@example.org)", "Accept": "text/html"})
        running.bot("sendMessage", chat_id=CHAT, text="x")
        running.bot("sendMessage", token="1:falsch", chat_id=CHAT, text="x")

        stats = running.client.stats()

        assert stats.paths == {f"GET {MARKET}": 1, "POST /bot<token>/sendMessage": 2}
        assert stats.targets == {"market": 1, "telegram": 2}
        assert stats.statuses == {"200": 2, "401": 1}
        assert "Lago/1 (+mail@example.org)" in stats.user_agents
        assert stats.headers["accept"] == ["text/html"]
        assert stats.requests[0]["path"] == f"{MARKET}?keyword=a"
        assert DEFAULT_TOKEN not in json.dumps(stats.requests)

        running.client.reset_stats()

        assert running.client.stats().paths == {}


def test_it_knows_how_many_requests_came_at_a_time_to_each_host() -> None:
    with served() as running:
        running.client.fault("delay", seconds=0.3, times=None)
        threads = [threading.Thread(target=running.search) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        stats = running.client.stats()

        assert stats.concurrent == {urllib.parse.urlsplit(running.url).netloc: 3, "*": 3}


def test_many_clients_at_once_lose_no_message_and_share_no_id() -> None:
    with served() as running:
        for chat in range(1, 9):
            running.client.chat(chat)

        def send(chat: int) -> None:
            for number in range(15):
                assert running.bot("sendMessage", chat_id=chat, text=str(number)).status == 200

        threads = [threading.Thread(target=send, args=(chat,)) for chat in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        messages = running.client.messages()
        assert len({message.id for message in messages}) == 8 * 15
        assert [message.text for message in running.client.messages(3)] == [str(number) for number in range(15)]


def test_telegram_takes_json_forms_files_and_queries() -> None:
    with served() as running:
        path = f"/bot{DEFAULT_TOKEN}/sendMessage"
        form = urllib.parse.urlencode({"chat_id": CHAT, "text": "aus dem Formular"}).encode()
        running.ask("POST", path, form, {"Content-Type": "application/x-www-form-urlencoded"})
        running.get(f"{path}?chat_id={CHAT}&text=aus+der+Adresse")
        parts = (
            f'--x\r\nContent-Disposition: form-data; name="chat_id"\r\n\r\n{CHAT}\r\n'
            '--x\r\nContent-Disposition: form-data; name="photo"; filename="a.jpg"\r\n\r\nabc\r\n--x--\r\n'
        ).encode()
        photo = running.ask(
            "POST", f"/bot{DEFAULT_TOKEN}/sendPhoto", parts, {"Content-Type": "multipart/form-data; boundary=x"}
        )
        broken = running.ask("POST", path, b"{", {"Content-Type": "application/json"})

        assert photo.status == 200
        assert broken.json["description"] == "Bad Request: can't parse JSON object"
        seen = running.client.messages(CHAT)
        assert [message.text for message in seen] == ["aus dem Formular", "aus der Adresse", ""]
        assert seen[2].photo == "<upload of 3 bytes>"


def test_the_client_sees_what_the_person_sees() -> None:
    with served(clock=stopped()) as running:
        keyboard = {"inline_keyboard": [[{"text": "Zur Anzeige", "url": "https://example.org/1"}]]}
        running.bot("sendMessage", chat_id=CHAT, text="<b>€ 590</b>", parse_mode="HTML", reply_markup=keyboard)

        message = running.client.wait_for_messages(CHAT, 1)[0]

        assert (message.text, message.raw, message.time) == ("€ 590", "<b>€ 590</b>", NOON)
        assert message.buttons == ((("Zur Anzeige", "https://example.org/1"),),)
        running.client.clear_messages()
        assert running.client.messages(CHAT) == []


def test_a_long_poll_ends_when_the_person_writes() -> None:
    with served() as running:
        answers: list[Any] = []
        poll = threading.Thread(target=lambda: answers.append(running.bot("getUpdates", timeout=4).json))
        poll.start()
        running.client.say(CHAT, "hallo")
        poll.join(2)

        assert answers[0]["result"][0]["message"]["text"] == "hallo"


def test_a_webhook_gets_what_people_write_again_until_it_takes_it() -> None:
    received: list[tuple[str | None, Any]] = []
    refusing = [True]

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            # before the answer: whoever reads that may look here at once
            received.append((self.headers.get("X-Telegram-Bot-Api-Secret-Token"), json.loads(body)))
            self.send_response(500 if refusing[0] else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    hook = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, args=(0.05,), daemon=True).start()
    try:
        with served() as running:
            running.bot("setWebhook", url=f"http://127.0.0.1:{hook.server_port}/hook", secret_token="s3")
            assert running.client.say(CHAT, "eins") == 0
            info = running.bot("getWebhookInfo").json["result"]
            assert (info["pending_update_count"], info["last_error_message"]) == (
                1,
                "Wrong response from the webhook: 500 Internal Server Error",
            )
            refusing[0] = False

            assert running.client.say(CHAT, "zwei") == 2

            assert [(secret, update["message"]["text"]) for secret, update in received] == [
                ("s3", "eins"),
                ("s3", "eins"),
                ("s3", "zwei"),
            ]
    finally:
        hook.shutdown()
        hook.server_close()


def test_the_clock_can_be_stopped_moved_and_let_run() -> None:
    with served() as running:
        sim = running.client
        sim.stop_clock(NOON)
        assert (sim.now(), sim.publish().published) == (NOON, NOON)
        assert sim.advance_clock(60_000) == NOON + 60_000
        sim.real_clock()
        assert sim.now() > NOON - 10**12


def test_the_market_lives_by_itself_at_the_pace_it_is_told() -> None:
    with served(ads=10, live_seconds=0.1) as running:
        for _ in range(100):
            if running.world.market.steps >= 3:
                break
            threading.Event().wait(0.05)
        running.client.live(0)

        assert running.world.market.steps >= 3


@pytest.mark.parametrize(
    ("verb", "path", "body", "field"),
    [
        ("POST", "ads", {"titel": "x"}, "titel"),
        ("POST", "ads", {"title": 7}, "title"),
        ("POST", "ads", {"price": "teuer"}, "price"),
        ("POST", "ads", {"price": -1}, "price"),
        ("POST", "ads", {"price": 1.234}, "price"),
        ("POST", "ads", {"price": "NaN"}, "price"),
        ("POST", "ads", {"price": True}, "price"),
        ("POST", "ads", {"place": "Atlantis"}, "place"),
        ("POST", "ads", {"kind": "raumschiff"}, "kind"),
        ("POST", "ads", {"private": "ja"}, "private"),
        ("POST", "ads", {"images": "a.jpg"}, "images"),
        ("POST", "ads", {"attributes": {"PRICE": "7"}}, "attributes"),
        ("POST", "ads", {"published": -1}, "published"),
        ("POST", "ads/1/price", {}, "price"),
        ("POST", "ads/1/promote", {"on": 1}, "on"),
        ("POST", "faults", {}, "kind"),
        ("POST", "faults", {"kind": "status", "target": "mars"}, "target"),
        ("POST", "faults", {"kind": "refuse_photo"}, "target"),
        ("POST", "faults", {"kind": "block_page", "target": "telegram"}, "target"),
        ("POST", "faults", {"kind": "status", "status": 700}, "status"),
        ("POST", "faults", {"kind": "status", "times": 0}, "times"),
        ("POST", "faults", {"kind": "delay", "seconds": -1}, "seconds"),
        ("POST", "faults", {"kind": "shift_rows"}, "insert"),
        ("POST", "pages", {}, "next_data"),
        ("POST", "pages", {"next_data": [], "path": "/iad/x"}, "next_data"),
        ("POST", "pages", {"next_data": {}, "path": "/x"}, "path"),
        ("POST", "telegram/chats", {"chat": "maria"}, "chat"),
        ("POST", "telegram/chats", {"chat": 5, "kind": "tribe"}, "kind"),
        ("POST", "telegram/say", {"chat": CHAT}, "text"),
        ("POST", "clock", {"stop_at": "noon"}, "stop_at"),
        ("POST", "live", {"seconds": "1"}, "seconds"),
        ("POST", "reset", {"seed": "x"}, "seed"),
    ],
)
def test_bad_control_input_is_refused_by_the_name_of_its_field(
    control: Running, verb: str, path: str, body: dict[str, Any], field: str
) -> None:
    answer = control.ask(verb, f"/_control/{path}", json.dumps(body).encode())

    assert (answer.status, answer.json["field"]) == (400, field)
    assert answer.json["error"].startswith(f"{field}: ")


@pytest.fixture(scope="module")
def control() -> Iterator[Running]:
    """One simulator for all that it refuses: nothing of it changes anything."""
    with served() as running:
        yield running


def test_broken_json_unknown_paths_and_wrong_verbs_are_told_apart(control: Running) -> None:
    assert control.ask("POST", "/_control/ads", b"{").json["field"] == "body"
    assert control.ask("POST", "/_control/ads", b"[1]").json["field"] == "body"
    assert control.ask("GET", "/_control/nothing").status == 404
    known = control.ask("GET", "/_control/").json["error"]
    assert "GET|POST /_control/ads, GET|PATCH /_control/ads/ID, POST /_control/ads/ID/price|bump|" in known
    assert "GET|POST|DELETE /_control/faults, DELETE /_control/faults/ID, " in known
    assert "(" not in known
    assert control.ask("POST", "/_control/ads/99/bump").json["error"] == "no ad '99'"
    assert control.ask("PATCH", "/_control/ads").status == 405
    with pytest.raises(ControlError, match="no fault 'f99'") as error:
        Simulator(control.url).clear_faults("f99")
    assert error.value.status == 404
