"""Store tests run on moto, in process, with the template's tables."""

from collections.abc import Callable, Iterator

import pytest
from moto import mock_aws
from moto.core.base_backend import BackendDict
from moto.dynamodb.models import dynamodb_backends

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
