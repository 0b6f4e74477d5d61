"""A function under the emulator, between a DynamoDB and a world that the test can cut off."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from simulator import process as simulator
from simulator.telegram import DEFAULT_TOKEN
from tests.infra.stack import Stack
from tests.runtime.emulator import Function, free_port, running, wait_until_listening
from tests.runtime.gate import Gate, gate
from tests.tables import create_tables

TOKEN_PARAMETER = "/lago/test/telegram-bot-token"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_REGION": "eu-central-1",
}


@dataclass
class World:
    """AWS and everything else, each behind a gate."""

    aws: Gate
    web: Gate
    simulator: simulator.Process

    def environment(self, function: str) -> dict[str, str]:
        """The variables that the template gives the function, with this world's addresses."""
        declared = Stack().environment(function)
        known = {
            "SEARCHES_TABLE": "searches",
            "WATCHES_TABLE": "watches",
            "QUEUE_TABLE": "notification_queue",
            "DELIVERIES_TABLE": "deliveries",
            "NOTIFY_FUNCTION": "lago-notify",
            "DESTINATION_SECRETS": "/lago/test/destinations",
            "POWERTOOLS_SERVICE_NAME": "lago-test",
            "TELEGRAM_TOKEN_PARAMETER": TOKEN_PARAMETER,
            "API_URL_PARAMETER": "/lago/test/api-url",
            "LAYER": "arn:aws:lambda:eu-central-1:123456789012:layer:lago-common:1",
            "TELEGRAM_API_URL": self.web.url,
            "WILLHABEN_BASE_URL": self.web.url,
            "REQUEST_SPACING_MS": "0",
            "SCRAPE_THREADS": "1",  # one connection, so that it can be followed
        }
        told = {name: known.get(name, value) for name, value in declared.items()}
        return CREDENTIALS | told | {"AWS_ENDPOINT_URL": self.aws.url}

    def seed(self, *what: str) -> None:
        """See `seed.py`."""
        subprocess.run(
            [sys.executable, Path(__file__).parent / "seed.py", *what],
            env=os.environ | CREDENTIALS | {"AWS_ENDPOINT_URL": self.aws.url},
            check=True,
        )


@pytest.fixture(scope="session")
def aws() -> Iterator[str]:
    """A DynamoDB and a parameter store, as a server of their own."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, Path(__file__).parent / "cloud.py", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_listening(server, port)
        create_tables(url)
        boto3.client("ssm", endpoint_url=url).put_parameter(
            Name=TOKEN_PARAMETER, Value=DEFAULT_TOKEN, Type="SecureString"
        )
        yield url
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(scope="session")
def market() -> Iterator[simulator.Process]:
    with simulator.start(seed=3, ads=40, tokens=(DEFAULT_TOKEN,), chats=(1001,)) as process:
        yield process


@pytest.fixture
def world(aws: str, market: simulator.Process) -> Iterator[World]:
    with gate(aws) as aws_gate, gate(market.url) as web_gate:
        yield World(aws_gate, web_gate, market)


@pytest.fixture
def function(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Iterator[Function]:
    """The function that the test's parameter names."""
    with running(request.param, world.environment(request.param), tmp_path) as started:
        yield started


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Import times are shown, not judged: they are the machine's as much as ours."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "import time":
                terminalreporter.write_line(f"import time of {value}")
