"""Folders and helpers for tests that start servers of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.servers import home_for_servers


@pytest.fixture
def home() -> Iterator[Path]:
    with home_for_servers() as folder:
        yield folder / "home"
