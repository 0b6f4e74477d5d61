import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from lago import http_shared
from lago.http import HttpSettings


@pytest.fixture
def _own_handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("_own_handler")
def test_sigterm_closes_the_client_and_then_runs_the_handler_that_was_there() -> None:
    heard = []
    client = http_shared.client(HttpSettings())
    signal.signal(signal.SIGTERM, lambda number, frame: heard.append((number, client.closed)))

    http_shared.close_on_shutdown()
    signal.raise_signal(signal.SIGTERM)

    assert heard == [(signal.SIGTERM, True)]


@pytest.mark.usefixtures("_own_handler")
def test_a_process_that_ignored_sigterm_goes_on() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    client = http_shared.client(HttpSettings())

    http_shared.close_on_shutdown()
    signal.raise_signal(signal.SIGTERM)

    assert client.closed


def test_a_process_without_a_handler_still_ends_by_the_signal() -> None:
    script = """
import os, signal
from lago import http_shared
from lago.http import HttpSettings
client = http_shared.client(HttpSettings())
http_shared.close_on_shutdown()
signal.raise_signal(signal.SIGTERM)
"""

    ended = subprocess.run([sys.executable, "-c", script], timeout=30, check=False)

    assert ended.returncode == -signal.SIGTERM
