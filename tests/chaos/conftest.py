"""A folder that the unprivileged user of Postgres can enter."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.servers import home_for_servers


@pytest.fixture
def server_home() -> Iterator[Path]:
    with home_for_servers() as home:
        yield home
