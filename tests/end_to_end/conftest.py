"""Every test here runs twice: embedded, and as five processes with RabbitMQ and separate database roles."""

from collections.abc import Iterator

import pytest

from tests.harness.database_layout import LAYOUT, Layout
from tests.harness.databases import Template
from tests.harness.servers import Rabbit
from tests.harness.system import RunningSystem, separate_services

MODES = {"embedded": "embedded", "five processes": "five_processes"}
if LAYOUT is Layout.SEPARATE:
    MODES = {"five databases": "five_databases"}


@pytest.fixture(scope="package")
def five_processes(
    rabbit: Rabbit, migrated_template: Template, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningSystem]:
    folder = tmp_path_factory.mktemp("home")
    vhost = f"end-to-end-{folder.name}-{id(folder)}"
    rabbit.add_vhosts([vhost])
    with (
        migrated_template.copy_for_session() as database_url,
        separate_services(folder, database_url, rabbit.url_of(vhost)) as running,
    ):
        yield running


@pytest.fixture(params=MODES)
def running_system(request: pytest.FixtureRequest) -> RunningSystem:
    """Both stay up, so that changing from one to the other starts nothing again."""
    running: RunningSystem = request.getfixturevalue(MODES[request.param])
    return running
