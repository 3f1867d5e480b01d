"""The large runs print their progress and figures, not every request of the services in this process."""

import logging
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(scope="session", autouse=True)
def _quiet_services() -> Iterator[None]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    yield
    structlog.reset_defaults()
