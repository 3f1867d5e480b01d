"""One database role per service, and another one for migrations, as production has them."""

import secrets
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from shared.db.database import role_of, role_password, service_url
from shared.db.migrate import migrate
from shared.settings import SERVICES
from tests.harness.databases import connected
from tests.harness.servers import Postgres


async def test_bookings_cannot_read_a_row_of_forms(database_url: str) -> None:
    """No table of another service, whatever the query; its own tables are readable."""
    bookings_url = service_url(database_url, "bookings")
    async with connected(database_url) as admin, connected(bookings_url) as bookings:
        tables = await admin.fetch("SELECT schemaname, tablename FROM pg_tables WHERE schemaname = 'forms'")
        assert len(tables) >= 4
        for table in tables:
            for words in ("SELECT * FROM", "DELETE FROM", "TRUNCATE"):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await bookings.execute(f"{words} forms.{table['tablename']}")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await bookings.execute("SET ROLE studio_forms")
        await bookings.execute("SELECT * FROM bookings.members")


async def test_migrations_need_no_superuser(postgres: Postgres) -> None:
    """A role that owns the database and may create roles is enough. No service uses it."""
    server = postgres.url_of("postgres")
    name, password = f"migrate_{secrets.token_hex(6)}", secrets.token_hex(12)
    admin: asyncpg.Connection[Any] = await asyncpg.connect(server)
    passwords = {service: role_password(server, service) or "" for service in SERVICES}
    try:
        await admin.execute(f"CREATE ROLE {name} LOGIN CREATEROLE PASSWORD '{password}'")
        for service in SERVICES:  # on a server of its own it would have made them itself
            if await admin.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role_of(service)):
                await admin.execute(f"GRANT {role_of(service)} TO {name} WITH ADMIN OPTION")
        await admin.execute(f"CREATE DATABASE {name} OWNER {name}")
        parts = urlsplit(postgres.url_of(name))
        url = parts._replace(netloc=f"{name}:{password}@{parts.netloc.rpartition('@')[2]}").geturl()
        applied = await migrate(url, SERVICES, passwords=passwords)
        assert all(applied.values())
        async with connected(service_url(postgres.url_of(name), "forms")) as own:
            assert await own.fetchval("SELECT count(*) FROM forms.leads") == 0
    finally:
        await admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await admin.execute(f"DROP OWNED BY {name}")
        await admin.execute(f"DROP ROLE {name}")
        await admin.close()
