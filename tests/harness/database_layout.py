"""Where the services' tables are during a test run: `STUDIO_TEST_DATABASE_LAYOUT`.

Not set: in one database. `pooler`: the services reach it through PgBouncer, by transaction where it can; the
tests themselves connect directly. `separate`: one database per service. A test of one service then has only
that service's tables, and the running system is five processes with five databases.
"""

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from shared.db.database import Database
from shared.settings import SERVICES
from tests.harness.pgbouncer import running_pgbouncer
from tests.harness.servers import Postgres

VARIABLE = "STUDIO_TEST_DATABASE_LAYOUT"


class Layout(StrEnum):
    ONE = ""
    POOLER = "pooler"
    SEPARATE = "separate"


LAYOUT = Layout(os.environ.get(VARIABLE, ""))
# The address of this worker's server, and that of the pooler in front of it.
_poolers: dict[str, str] = {}


@contextmanager
def pooler_of(server: Postgres) -> Iterator[None]:
    url = server.url_of("postgres")
    with running_pgbouncer(url) as pooled:
        _poolers[urlsplit(url).netloc] = urlsplit(pooled).netloc
        yield
        _poolers.clear()


def urls_of_service(url: str) -> dict[str, str]:
    """Settings of a service: its database's URL and, with a pooler in between, the server's own."""
    parts = urlsplit(url)
    if parts.netloc not in _poolers:
        return {"database_url": url}
    pooled = parts._replace(netloc=_poolers[parts.netloc]).geturl()
    return {"database_url": pooled, "database_direct_url": url}


def with_urls_of_service(environment: Mapping[str, str]) -> dict[str, str]:
    """The same for the environment of a process."""
    url = environment.get("STUDIO_DATABASE_URL", "")
    urls = urls_of_service(url) if url else {}
    return {**environment, **{f"STUDIO_{name.upper()}": value for name, value in urls.items()}}


async def open_database(url: str, service: str, *, size: int, kind: type[Database] = Database) -> Database:
    """As the service itself opens it."""
    urls = urls_of_service(url)
    direct_url = urls.get("database_direct_url")
    return await kind.connect(urls["database_url"], service, size=size, direct_url=direct_url)


@asynccontextmanager
async def opened_database(url: str, service: str, *, size: int = 2) -> AsyncIterator[Database]:
    db = await open_database(url, service, size=size)
    try:
        yield db
    finally:
        await db.close()


def services_in_database(test_file: Path) -> tuple[str, ...]:
    """Whose tables a test's database has."""
    if LAYOUT is Layout.SEPARATE and test_file.parent.name in ONE_SERVICE:
        return (test_file.parent.name,)
    return SERVICES


# The gateway's own tests start whole systems.
ONE_SERVICE = frozenset(SERVICES) - {"gateway"}
