"""The simulator as a process: starts anywhere, ends when told, keeps what it must."""

import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

from simulator.client import Simulator
from simulator.process import ROOT, StartError, launch, start
from simulator.telegram import DEFAULT_TOKEN
from tests.simulator.serving import CHAT


def bot(url: str, text: str) -> None:
    urllib.request.urlopen(f"{url}/bot{DEFAULT_TOKEN}/sendMessage?chat_id={CHAT}&text={text}", timeout=5).close()


def test_it_starts_on_a_free_port_and_ends_with_the_block() -> None:
    with start(seed=7) as process:
        assert process.client.health() == {"seed": 7, "ads": 40, "messages": 0}
        assert process.url.startswith("http://127.0.0.1:")

    with pytest.raises(OSError):
        process.client.health()


def test_a_kill_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    state = tmp_path / "neu" / "simulator.json"
    process = launch(seed=3, state=state, ads=10)
    ad = process.client.publish(title="Rennrad", price=650)
    process.client.drop_price(ad.id, 590)
    process.client.step()
    process.client.say(CHAT, "hallo")
    bot(process.url, "eins")
    before = (process.client.ads(), process.client.messages())
    process.kill()

    again = launch(seed=99, state=state)
    try:
        assert (again.client.ads(), again.client.messages()) == before
        assert again.client.health()["seed"] == 3
        assert int(again.client.publish().id) > int(ad.id)
        bot(again.url, "zwei")
        assert [message.id for message in again.client.messages(CHAT)] == [2, 3]
    finally:
        assert again.stop() == 0


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"version": 2}', '{"version": 1, "clock": 5}', "\x00"])
def test_a_state_file_that_cannot_be_read_is_named_and_left_alone(tmp_path: Path, content: str) -> None:
    state = tmp_path / "kaputt.json"
    state.write_text(content)

    with pytest.raises(StartError, match=r"cannot read .*kaputt\.json.*move the file away"):
        launch(state=state)

    assert state.read_text() == content


def test_a_taken_port_is_said() -> None:
    with start() as process:
        port = int(process.url.rpartition(":")[2])

        with pytest.raises(StartError, match=f"cannot listen on 127.0.0.1:{port}: .*choose another --port"):
            launch(port=port)


@pytest.mark.parametrize("option", ["--port=70000", "--port=x", "--live=-1", "--max-seconds=nan"])
def test_a_bad_option_is_refused(option: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "simulator", option], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert option.partition("=")[0] in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_even_while_something_hangs(number: signal.Signals) -> None:
    process = launch()
    process.client.fault("hang", times=None)
    threading.Thread(target=lambda: fails(process.url + "/iad/object?adId=123456"), daemon=True).start()
    while not process.client.faults()[0].served:
        threading.Event().wait(0.02)

    os.kill(process.pid, number)

    assert process.stop() == 0


def test_it_ends_by_itself_after_its_time() -> None:
    process = launch(max_seconds=0.2)

    assert process.wait(3) == 0


def test_it_ends_when_its_parent_is_gone(tmp_path: Path) -> None:
    parent = tmp_path / "parent.py"
    parent.write_text(
        "import os\nfrom simulator.process import launch\np = launch()\nprint(p.url, p.pid, flush=True)\nos._exit(0)\n"
    )

    done = subprocess.run(
        [sys.executable, str(parent)], env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, check=True
    )
    url = done.stdout.decode().split()[0]

    for _ in range(60):
        if fails(f"{url}/_control/health"):
            return
        threading.Event().wait(0.05)
    raise AssertionError("it outlived its parent")


def test_chats_and_tokens_can_be_given() -> None:
    with start(tokens=["1:a-b"], chats=[5, -6]) as process:
        urllib.request.urlopen(f"{process.url}/bot1:a-b/sendMessage?chat_id=-6&text=x", timeout=5).close()

        assert [message.chat for message in Simulator(process.url).messages()] == [-6]


def test_nothing_that_ships_knows_of_the_simulator() -> None:
    shipped = [path for folder in ("layers", "functions", "cli") for path in (ROOT / folder).rglob("*.py")]
    imports = re.compile(r"^\s*(from|import) simulator\b", re.MULTILINE)
    knowing = [str(path) for path in shipped if imports.search(path.read_text(encoding="utf-8"))]

    assert shipped
    assert knowing == []


def fails(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=5).close()
    except OSError:
        return True
    return False
