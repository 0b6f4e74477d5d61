"""Store tests run on moto, in process, with the template's tables."""

from collections.abc import Iterator

import pytest
from moto import mock_aws

from tests.tables import create_tables


@pytest.fixture(autouse=True)
def tables() -> Iterator[None]:
    with mock_aws():
        create_tables()
        yield
