"""A real `sam deploy` into the embedded cloud, once for the suite.

The simulator is the marketplace, Telegram, Slack, Discord, ntfy and webhooks; this process is the mail server.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from scripts.local_stack.environment import clean
from scripts.local_stack.stack import ROOT, LocalStack
from simulator.client import Simulator
from simulator.process import Process, launch
from tests.channels.mail_servers import Inbox, serving

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
    "MailFrom": "Lago <lago@example.org>",
    "SmtpParameter": "/lago/lago-e2e/smtp-url",
    # there is no such destination, and nobody is told, but where a test adds it
    "OperatorDestination": "ops",
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
    inbox: Inbox

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
                "SlackApiUrl": self.simulator.hook_url("slack"),
                "DiscordApiUrl": self.simulator.hook_url("discord"),
                "TrustedOrigins": self.process.url,
            }
        )

    def command(self, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """`lago …` as a person runs it, in a process of its own, with what is `typed` on standard input."""
        environment = {name: value for name, value in clean(os.environ).items() if not name.endswith("_TABLE")}
        return subprocess.run(
            [sys.executable, "-m", "lago_cli.main", *arguments],
            env=environment | self.stack.environment | {"WILLHABEN_BASE_URL": self.process.url},
            input=typed,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    def ask(self, method: str, path: str, body: object = None, **query: str) -> tuple[int, Any]:
        """A request to the REST API, with the key: status and answer. Waits where its usage plan says too many."""
        while True:
            answer = httpx.request(
                method,
                f"{self.stack.api_url}{path}",
                headers={"x-api-key": self.stack.api_key},
                params=query,
                json=body,
                timeout=30,
            )
            if answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
                return answer.status_code, answer.json()
            time.sleep(0.3)

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
    inbox = Inbox()
    try:
        stack.start()
        stack.build()
        deployed = Lago(stack, process, inbox)
        deployed.deploy()
        with serving(inbox) as mail_port:
            # TLS would need a certificate that the functions trust: this form is for servers on this machine alone
            _keep(stack, PARAMETERS["SmtpParameter"], f"smtp+insecure://localhost:{mail_port}")
            _keep(stack, stack.outputs["TelegramTokenParameter"], TOKEN)
            _bind(stack)
            yield deployed
    finally:
        process.stop()
        stack.kill()


def _keep(stack: LocalStack, name: str, secret: str) -> None:
    stack.client("ssm").put_parameter(Name=name, Value=secret, Type="SecureString", Overwrite=True)


@dataclass
class Operator:
    """Whoever runs Lago, as the destination `ops`: a chat."""

    lago: Lago
    chat: int
    seen: int

    def told(self) -> list[str]:
        """All that the operator was told since the test began."""
        return [message.text for message in self.lago.simulator.messages(self.chat)][self.seen :]

    def hears(self, words: str, *, cycles: int = 8) -> str:
        """The message with these words, once it has come; drains, as cycles do."""
        for _ in range(cycles):
            found = [text for text in self.told() if words in text]
            if found:
                (once,) = found
                return once
            self.lago.drain()
            time.sleep(0.5)
        raise AssertionError(f"the operator did not hear {words!r}, but {self.told()}")


@pytest.fixture
def operator(lago: Lago) -> Iterator[Operator]:
    """The operator has a destination and was told nothing yet; what is wrong already is told now."""
    chat = 6_999
    lago.simulator.chat(chat)
    memory = {"mailbox": {"S": "meta#operator"}, "id": {"S": "told"}}
    lago.stack.client("dynamodb").delete_item(TableName=lago.stack.outputs["QueueTable"], Key=memory)
    status, said = lago.ask("POST", "/destinations", {"id": "ops", "channel": "telegram", "target": str(chat)})
    assert status == 201, said
    yield Operator(lago, chat, len(lago.simulator.messages(chat)))
    status, said = lago.ask("DELETE", "/destinations/ops", force="true")
    assert status == 200, said


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
