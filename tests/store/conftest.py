"""Store tests run on moto, in process, with the template's tables; no function does there what its role may not."""

from collections.abc import Callable, Iterator
from functools import cache

import pytest
from moto import mock_aws
from moto.core.base_backend import BackendDict
from moto.dynamodb.models import dynamodb_backends

from tests.infra.calls import Recorder, Right, covers, granted
from tests.infra.stack import FUNCTIONS, Stack
from tests.tables import create_tables


@pytest.fixture(autouse=True)
def tables() -> Iterator[None]:
    with mock_aws():
        create_tables()
        yield


@pytest.fixture
def tables_anew() -> Callable[[], None]:
    """Empties all tables within a test."""

    def anew() -> None:
        backends: BackendDict = dynamodb_backends
        backends.reset()
        create_tables()

    return anew


@cache
def _rights() -> dict[str, frozenset[Right]]:
    stack = Stack()
    return {name: frozenset(granted(stack, name)) for name in FUNCTIONS}


@pytest.fixture(autouse=True)
def within_their_rights(tables: None) -> Iterator[None]:
    """Whatever a function asks of AWS in a test, its role allows: on AWS it would be refused else."""
    recorder = Recorder()
    with recorder.installed():
        yield
    for function, needed in recorder.needed.items():
        missing = {each for each in needed if not any(covers(right, each) for right in _rights()[function])}
        assert not missing, f"the role of {function} does not allow {sorted(missing)}"
