"""Every test here runs twice: embedded, and as five processes with RabbitMQ and separate database roles."""

from collections.abc import Iterator

import pytest

from tests.harness.databases import Template
from tests.harness.servers import Rabbit
from tests.harness.system import RunningSystem, embedded_system, separate_services

MODES = ("embedded", "five processes")


@pytest.fixture(scope="session", params=MODES)
def running_system(
    request: pytest.FixtureRequest, migrated_template: Template, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningSystem]:
    folder = tmp_path_factory.mktemp("home")
    with migrated_template.copy_for_session() as database_url:
        if request.param == "embedded":
            with embedded_system(folder, database_url) as running:
                yield running
            return
        rabbit: Rabbit = request.getfixturevalue("rabbit")
        vhost = f"end-to-end-{folder.name}-{id(folder)}"
        rabbit.add_vhosts([vhost])
        with separate_services(folder, database_url, rabbit.url_of(vhost)) as running:
            yield running
