"""Logging is global to the process, so each test here leaves it as it was."""

import logging
import sys
from collections.abc import Iterator

import pytest
import structlog

from shared.observability.log import set_up_lines


@pytest.fixture(autouse=True)
def _logging_restored() -> Iterator[None]:
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    structlog.reset_defaults()
    set_up_lines(sys.stderr.buffer, as_json=False, enabled=True)
