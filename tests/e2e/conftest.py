"""A real `sam deploy` into the embedded cloud, with the simulator as marketplace and Telegram, once for the suite."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from scripts.local_stack.stack import ROOT, LocalStack
from simulator.client import Simulator
from simulator.process import Process, launch

TOKEN = "4711:SIMULATOR-no-secret-0123456789abcdef"
PATIENCE = 30.0
"""Seconds until what must happen has happened."""

PARAMETERS = {
    # the suite runs the cycles, so that it knows what happened in which
    "ScheduleState": "DISABLED",
    "ScrapeRows": "10",
    "RequestSpacingMs": "0",
    "SourceBackoffSeconds": "1",
    # six attempts within seconds
    "RetryBaseSeconds": "1",
    "RetryFactor": "1",
    "RetryCapSeconds": "1",
    "LeaseSeconds": "35",
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Lago:
    """The deployed stack and the world around it, in the words of the tests."""

    stack: LocalStack
    process: Process

    @property
    def simulator(self) -> Simulator:
        return self.process.client

    def deploy(self) -> None:
        self.stack.deploy(
            PARAMETERS
            | {
                "AwsEndpointUrl": self.stack.url,
                "WillhabenBaseUrl": self.process.url,
                "TelegramApiUrl": self.process.url,
            }
        )

    def drain(self) -> Any:
        return self.stack.invoke("DrainFunction", {})

    def scrape(self) -> Any:
        return self.stack.invoke("ScrapeFunction", {"shard": 0})

    def cycle(self) -> Any:
        """Drain, then scrape, as the state machine does."""
        self.drain()
        return self.scrape()

    def stats(self) -> dict[str, Any]:
        """GET /stats through API Gateway, with the key."""
        answer = httpx.get(f"{self.stack.api_url}/stats", headers={"x-api-key": self.stack.api_key}, timeout=20)
        answer.raise_for_status()
        figures: dict[str, Any] = answer.json()
        return figures

    def texts(self, chat: int) -> list[str]:
        return [message.text for message in self.simulator.messages(chat)]

    def told(self, chat: int, *, count: int) -> list[str]:
        """What the person has read once `count` messages have come; more would be a failure of its own."""
        self.simulator.wait_for_messages(chat, count, PATIENCE)
        time.sleep(0.5)  # long enough for a message too many
        return self.texts(chat)

    def drained(self, *, cycles: int = 15) -> None:
        """Drain once a second until nothing is pending."""
        for _ in range(cycles):
            time.sleep(1.1)
            if self.drain()["pending"] == 0:
                return

    def kill_worker(self, function_output: str) -> None:
        """End the function's worker process, as the platform may at any time."""
        name = self.stack.outputs[function_output]
        for pid in _children(self.stack.pid):
            if name in Path(f"/proc/{pid}/environ").read_text(errors="replace"):
                os.kill(pid, signal.SIGKILL)
                return
        raise AssertionError(f"no worker of {name} runs")


def _children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        children = [int(child) for child in (task / "children").read_text().split()]
        found += [*children, *(grandchild for child in children for grandchild in _children(child))]
    return found


def until(true: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait for it, or fail."""
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.1)


@pytest.fixture(scope="session")
def lago(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lago]:
    home = tmp_path_factory.mktemp("lago")
    process = launch(seed=7, ads=0, log=home / "simulator.log")
    stack = LocalStack(home=home, port=free_port(), name="lago-e2e", build=ROOT / ".local" / "e2e" / "build")
    try:
        stack.start()
        stack.build()
        deployed = Lago(stack, process)
        deployed.deploy()
        stack.client("ssm").put_parameter(
            Name=stack.outputs["TelegramTokenParameter"], Value=TOKEN, Type="SecureString", Overwrite=True
        )
        _bind(stack)
        yield deployed
    finally:
        process.stop()
        stack.kill()


def _bind(stack: LocalStack) -> None:
    """Point this process's store at the stack: the tables' names are bound when it is imported."""
    for variable, output in (
        ("SEARCHES_TABLE", "SearchesTable"),
        ("WATCHES_TABLE", "WatchesTable"),
        ("QUEUE_TABLE", "QueueTable"),
        ("DELIVERIES_TABLE", "DeliveriesTable"),
    ):
        os.environ[variable] = stack.outputs[output]
    os.environ["AWS_ENDPOINT_URL"] = stack.url
    os.environ["AWS_ACCESS_KEY_ID"] = os.environ["AWS_SECRET_ACCESS_KEY"] = "test"
    boto3.setup_default_session()
