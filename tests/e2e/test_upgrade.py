"""A new version over the old one's data, and the old one back over the new one's: nothing lost, nothing told twice."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from scripts.local_stack.deploy import Sam
from scripts.local_stack.environment import clean
from scripts.local_stack.stack import ROOT, LocalStack
from simulator.process import Process, launch
from tests.e2e.conftest import TOKEN, free_port, until
from tests.store import before

PARAMETERS = {
    "ScheduleState": "DISABLED",
    "ScrapeRows": "10",
    "RequestSpacingMs": "0",
    "RetryBaseSeconds": "1",
    "RetryFactor": "1",
    "RetryCapSeconds": "1",
    "LeaseSeconds": "35",
}
ME, YOU = 8001, 8002
"""Two chats that watch the same."""


@dataclass
class Versions:
    """One stack that one version or the other is deployed to, with the commands of the version that runs."""

    stack: LocalStack
    process: Process
    old: Path
    _old_sam: Sam
    _runs: Path = ROOT

    def deploy_old(self) -> None:
        self._old_sam.deploy(self._parameters)
        self.stack.__dict__.pop("outputs", None)
        self._runs = self.old

    def deploy_new(self) -> None:
        self.stack.deploy(self._parameters)
        self._runs = ROOT

    @property
    def _parameters(self) -> dict[str, str]:
        here = {"WillhabenBaseUrl": self.process.url, "TelegramApiUrl": self.process.url}
        return PARAMETERS | here | {"AwsEndpointUrl": self.stack.url}

    def lago(self, *arguments: str) -> str:
        """The command, of the version that is deployed."""
        path = os.pathsep.join(str(self._runs / part) for part in ("layers/common", "cli"))
        done = subprocess.run(
            [sys.executable, "-m", "lago_cli.main", *arguments],
            env=clean() | self.stack.environment | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def cycle(self) -> None:
        self.stack.invoke("DrainFunction", {})
        self.stack.invoke("ScrapeFunction", {"shard": 0})

    def drained(self) -> None:
        """Drain once a second until nothing is pending."""
        for _ in range(15):
            time.sleep(1.1)
            if self.stack.invoke("DrainFunction", {})["pending"] == 0:
                return
        raise AssertionError("something is pending still")

    def stats(self) -> Any:
        answer = httpx.get(f"{self.stack.api_url}/stats", headers={"x-api-key": self.stack.api_key}, timeout=20)
        return answer.raise_for_status().json()

    def figures(self) -> tuple[int, int, int, int]:
        """Pending, dead, searches and watches."""
        stats = self.stats()
        return stats["pending"]["total"], stats["dead"]["total"], stats["searches"], stats["watches"]

    def publish(self, title: str, price: float = 100.0) -> Any:
        return self.process.client.publish(title=f"fahrrad {title}", price=price)

    def refuse(self, chat: int, status: int) -> None:
        """The far side answers so for that chat."""
        self.process.client.fault("status", target="telegram", status=status, chat=chat, times=None)

    def calm(self) -> None:
        self.process.client.clear_faults()

    def has_read(self, chat: int, *titles: str) -> None:
        """All that the chat got, by a word that its messages have in them, in order."""
        client = self.process.client
        client.wait_for_messages(chat, len(titles), 30)
        time.sleep(0.5)  # long enough for a message too many
        texts = [message.text for message in client.messages(chat)]
        assert len(texts) == len(titles), texts
        for text, title in zip(texts, titles, strict=True):
            assert title in text


@pytest.fixture
def versions(tmp_path: Path) -> Iterator[Versions]:
    old = before.checkout(tmp_path / "old")
    (old / ".venv").symlink_to(ROOT / ".venv")
    process = launch(seed=11, ads=0, log=tmp_path / "simulator.log")
    stack = LocalStack(home=tmp_path, port=free_port(), name="lago-upgrade", build=ROOT / ".local" / "e2e" / "build")
    sam = Sam(
        root=old, build=tmp_path / "old-build" / "build", logs=stack.logs / "old", stack=stack.name, cloud_url=stack.url
    )
    try:
        stack.start()
        sam.build()
        stack.build()
        yield Versions(stack, process, old, sam)
    finally:
        process.stop()
        stack.kill()


def fail_to_tell(versions: Versions, dead: str, pending: str) -> None:
    """The first ad is dead for `YOU`, the second waits for `ME`; the other chat has read each."""
    before_it = versions.figures()
    client = versions.process.client
    read = len(client.messages(ME))
    versions.refuse(YOU, status=400)
    versions.publish(dead)
    versions.cycle()
    until(lambda: versions.figures()[1] == before_it[1] + 1 and len(client.messages(ME)) == read + 1)
    versions.calm()
    versions.refuse(ME, status=500)
    versions.publish(pending)
    versions.cycle()
    until(lambda: versions.figures()[0] == before_it[0] + 1)


def test_a_new_version_goes_on_with_what_the_old_one_left_and_the_old_one_after_it(versions: Versions):
    for chat in (ME, YOU):
        versions.process.client.chat(chat)
    versions.publish("alt")
    versions.deploy_old()
    for name, chat in (("me", ME), ("you", YOU)):
        versions.lago("setup", "--token", TOKEN, "--chat", str(chat), "--destination", name)
        versions.lago("watch", "add", "fahrrad", "--to", name, "--again")
    versions.cycle()
    versions.has_read(ME, "connected", "live")
    ad = versions.publish("eins", price=500)
    versions.cycle()
    mine = yours = ["connected", "live", "eins"]
    versions.has_read(ME, *mine)
    versions.has_read(YOU, *yours)
    fail_to_tell(versions, dead="zwei", pending="drei")
    mine, yours = [*mine, "zwei"], [*yours, "drei"]
    versions.has_read(ME, *mine)
    versions.has_read(YOU, *yours)
    left = versions.figures()
    assert left == (1, 1, 1, 2)

    versions.deploy_new()

    assert versions.figures() == left
    versions.calm()
    versions.drained()
    versions.cycle()
    mine = [*mine, "drei"]
    versions.has_read(ME, *mine)
    versions.lago("dead", "redrive", "--all", "--yes")
    versions.drained()
    yours = [*yours, "zwei"]
    versions.process.client.drop_price(ad.id, 300)
    versions.cycle()
    versions.publish("vier")
    versions.cycle()
    mine, yours = [*mine, "300", "vier"], [*yours, "300", "vier"]
    versions.has_read(ME, *mine)
    versions.has_read(YOU, *yours)
    assert versions.figures() == (0, 0, 1, 2)
    fail_to_tell(versions, dead="fünf", pending="sechs")
    mine, yours = [*mine, "fünf"], [*yours, "sechs"]
    left = versions.figures()
    assert left == (1, 1, 1, 2)

    versions.deploy_old()

    assert versions.figures() == left
    versions.calm()
    versions.drained()
    versions.lago("dead", "redrive", "--all", "--yes")
    versions.drained()
    versions.publish("sieben")
    versions.cycle()
    versions.has_read(ME, *mine, "sechs", "sieben")
    versions.has_read(YOU, *yours, "fünf", "sieben")
    assert versions.figures() == (0, 0, 1, 2)
