"""Each engine starts once, with the template's tables, and every test finds them empty."""

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lago.store import mailboxes
from lago.store.connection import connection
from tests.conformance.engines import DYNAMODB_LOCAL, ENGINES, empty_tables, missing
from tests.tables import create_tables


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a DynamoDB that all stores talk to now."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stopped by others, we still stop what we started
    with ENGINES[request.param](tmp_path_factory.mktemp("engine")) as url:
        os.environ["AWS_ENDPOINT_URL"] = url
        connection.cache_clear()  # the models bind themselves to the new client
        create_tables(url)
        with pytest.MonkeyPatch.context() as patch:
            if request.param == DYNAMODB_LOCAL:
                patch.setattr(mailboxes, "CHUNK", 8)  # this jar takes 10 writes in a transaction, not 100
            yield url
    del os.environ["AWS_ENDPOINT_URL"]


@pytest.fixture
def tables(engine: str) -> str:
    """Empty tables; the engine's address."""
    empty_tables(engine)
    return engine


@pytest.fixture
def tables_anew(engine: str) -> Callable[[], None]:
    """Empties all tables within a test."""
    return lambda: empty_tables(engine)


def pytest_report_header() -> list[str]:
    """One sentence for each engine that is not here."""
    return list(missing().values())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """An engine that is not here is left out; the others start once, with several workers in one of them."""
    absent, gone = missing(), []
    for item in items:
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        if "engine" in parameters:
            item.add_marker(pytest.mark.xdist_group(str(parameters["engine"])))
        if parameters.get("engine") in absent:
            gone.append(item)
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if item not in gone]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Figures are shown, not judged: they are the machine's as much as ours."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "figures":
                terminalreporter.write_line(str(value))
