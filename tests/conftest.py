"""Fixtures of real servers: every pytest-xdist worker has its own, every test its own database and vhost."""

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import pytest

from shared.settings import SERVICES
from tests.harness.database_layout import LAYOUT, Layout, pooler_of, services_in_database
from tests.harness.databases import Template, Templates
from tests.harness.http import Client
from tests.harness.receiver import Receiver, receiving
from tests.harness.servers import Postgres, Rabbit, choose_postgres, choose_rabbit, running
from tests.harness.system import RunningSystem, System, embedded_system, new_studio_in, separate_services

pytest_plugins = ["tests.harness.browser", "tests.harness.processors", "tests.harness.schedule"]

VHOSTS_AT_ONCE = 5  # one costs half a second, five cost 0.7


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A server; tests want `database_url` instead, unless they are about the server itself."""
    with running(choose_postgres) as server:
        yield server


@pytest.fixture(scope="session", autouse=LAYOUT is Layout.POOLER)
def _pooler(postgres: Postgres) -> Iterator[None]:
    with pooler_of(postgres):
        yield


@pytest.fixture(scope="session")
def templates(postgres: Postgres) -> Iterator[Templates]:
    made = Templates(postgres)
    yield made
    made.drop()


@pytest.fixture(scope="session")
def migrated_template(templates: Templates) -> Template:
    return templates.of(SERVICES)


@pytest.fixture
async def database_url(templates: Templates, request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """The superuser's URL of a fresh database in which every service is migrated, this test's alone.

    With one database per service, a test of one service gets that service's.
    """
    async with templates.of(services_in_database(request.path)).copy() as url:
        yield url


@pytest.fixture(scope="session")
def rabbit() -> Iterator[Rabbit]:
    """A broker that a test may kill and start again (`kill`, `start_again`, `restart`)."""
    with running(choose_rabbit) as server:
        yield server


@pytest.fixture
def live_rabbit(rabbit: Rabbit) -> Rabbit:
    """The same, started again if a test before has killed it."""
    rabbit.start_again()
    return rabbit


@pytest.fixture(scope="session")
def _spare_vhosts() -> list[str]:
    return []


@pytest.fixture
def amqp_url(live_rabbit: Rabbit, _spare_vhosts: list[str]) -> str:
    """The URL of a fresh vhost, this test's alone: no service needs a prefix for the tests' sake."""
    if not _spare_vhosts:
        names = [f"test-{secrets.token_hex(6)}" for _ in range(VHOSTS_AT_ONCE)]
        live_rabbit.add_vhosts(names)
        _spare_vhosts.extend(names)
    return live_rabbit.url_of(_spare_vhosts.pop())


@pytest.fixture(scope="session")
def session_database_url(migrated_template: Template) -> Iterator[str]:
    """One migrated database for a system that many tests share; each of them makes its own studio in it."""
    with migrated_template.copy_for_session() as url:
        yield url


@pytest.fixture(scope="session")
def embedded(session_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSystem]:
    """Every service behind a real gateway port, in one process as `studioctl up` starts it."""
    with embedded_system(tmp_path_factory.mktemp("home"), session_database_url) as running:
        yield running


@pytest.fixture(scope="session")
def five_databases(
    rabbit: Rabbit, templates: Templates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningSystem]:
    """Five processes over RabbitMQ, each with a database that no other can see."""
    folder = tmp_path_factory.mktemp("home")
    vhost = f"five-databases-{folder.name}-{id(folder)}"
    rabbit.start_again()
    rabbit.add_vhosts([vhost])
    with ExitStack() as stack:
        urls = {name: stack.enter_context(templates.of((name,)).copy_for_session()) for name in SERVICES}
        yield stack.enter_context(separate_services(folder, urls, rabbit.url_of(vhost)))


@pytest.fixture(scope="session")
def running_system(request: pytest.FixtureRequest) -> RunningSystem:
    """Tests in end_to_end/ have a choice here."""
    name = "five_databases" if LAYOUT is Layout.SEPARATE else "embedded"
    running: RunningSystem = request.getfixturevalue(name)
    return running


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A partner's server."""
    async with receiving() as found:
        yield found


@pytest.fixture
async def partner(system: System) -> Client:
    """With a key of the studio that has every scope."""
    return system.partner(await system.key())


@pytest.fixture
async def system(running_system: RunningSystem) -> AsyncIterator[System]:
    """The running system with a fresh studio in it."""
    async with new_studio_in(running_system) as system:
        yield system
