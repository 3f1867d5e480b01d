"""A fresh database for every test: a copy of one template that is migrated once per pytest worker."""

import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

import asyncpg

from shared.db.migrate import migrate
from shared.settings import SERVICES
from tests.harness.eventually import run_in_thread
from tests.harness.servers import Postgres

# Roles are global to a server: workers that share one by URL must not create them at the same time.
LOCK = 0x5354_5544_7465


@asynccontextmanager
async def connected(url: str) -> AsyncIterator["asyncpg.Connection[Any]"]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


class Template:
    def __init__(self, server: Postgres, services: Sequence[str] = SERVICES) -> None:
        self._server = server
        self._services = services
        self._name = _new_name()
        run_in_thread(self._make())

    async def _make(self) -> None:
        async with self._admin() as admin:
            await admin.execute("SELECT pg_advisory_lock($1)", LOCK)
            await admin.execute(f"CREATE DATABASE {self._name}")
            await migrate(self._server.url_of(self._name), self._services)

    @asynccontextmanager
    async def copy(self) -> AsyncIterator[str]:
        """The URL of a new database. It is dropped afterwards, and open connections with it."""
        name = await self._copied()
        try:
            yield self._server.url_of(name)
        finally:
            await self._drop(name)

    @contextmanager
    def copy_for_session(self) -> Iterator[str]:
        """The same for a fixture that outlives the event loop of a single test."""
        name = run_in_thread(self._copied())
        try:
            yield self._server.url_of(name)
        finally:
            run_in_thread(self._drop(name))

    async def _copied(self) -> str:
        name = _new_name()
        async with self._admin() as admin:
            await admin.execute(f"CREATE DATABASE {name} TEMPLATE {self._name}")
        return name

    def drop(self) -> None:
        run_in_thread(self._drop(self._name))

    async def _drop(self, name: str) -> None:
        async with self._admin() as admin:
            await admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _admin(self) -> AbstractAsyncContextManager["asyncpg.Connection[Any]"]:
        return connected(self._server.url_of("postgres"))


class Templates:
    """One for each set of services, made when it is first asked for."""

    def __init__(self, server: Postgres) -> None:
        self._server = server
        self._made: dict[tuple[str, ...], Template] = {}

    def of(self, services: tuple[str, ...]) -> Template:
        if services not in self._made:
            self._made[services] = Template(self._server, services)
        return self._made[services]

    def drop(self) -> None:
        for template in self._made.values():
            template.drop()


def _new_name() -> str:
    return f"studio_test_{secrets.token_hex(8)}"
