"""SQL functions: a changed file is applied again, an unchanged one is not, and nothing is ever dropped."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from shared.db.database import service_url
from shared.db.migrate import (
    FunctionFile,
    MigrationProblem,
    apply_functions,
    function_files,
    migrate,
    missing_functions,
)
from shared.settings import SERVICES
from tests.harness.databases import connected

SERVICE = "catalog"


@pytest.fixture
async def conn(database_url: str) -> AsyncIterator["asyncpg.Connection[Any]"]:
    async with connected(database_url) as conn:
        yield conn


def answering(number: int, *, name: str = "answer.sql", function: str = "answer") -> FunctionFile:
    body = f"RETURNS integer LANGUAGE sql AS $$ SELECT {number} $$;"
    return FunctionFile(name, f"CREATE OR REPLACE FUNCTION {function}() {body}")


async def test_a_changed_file_is_applied_again_and_an_unchanged_one_is_not(conn: Any) -> None:
    """By checksum: going back to an earlier version counts as a change."""
    files = [answering(1), answering(7, name="other.sql", function="other")]
    assert await apply_functions(conn, SERVICE, files) == ["functions/answer.sql", "functions/other.sql"]
    assert await apply_functions(conn, SERVICE, files) == []
    for number in (2, 1):
        files[0] = answering(number)
        assert await apply_functions(conn, SERVICE, files) == ["functions/answer.sql"]
        assert await conn.fetchval("SELECT catalog.answer()") == number
        assert await apply_functions(conn, SERVICE, files) == []


async def test_the_functions_of_an_old_version_survive(conn: Any) -> None:
    """Old code still calls what a new version no longer defines, and a new return type needs a new name."""
    await apply_functions(conn, SERVICE, [answering(1)])
    await apply_functions(conn, SERVICE, [answering(2, name="next.sql", function="next_answer")])
    text = FunctionFile("answer.sql", answering(1).sql.replace("integer", "text"))
    with pytest.raises(MigrationProblem, match="give the new one another name"):
        await apply_functions(conn, SERVICE, [text])
    assert await conn.fetchval("SELECT catalog.answer()") == 1
    assert await conn.fetchval("SELECT catalog.next_answer()") == 2


async def test_a_run_killed_in_between_leaves_nothing_half_applied(database_url: str, conn: Any) -> None:
    """The connection dies between two files: neither counts as applied, and the next run applies both."""
    dying = await asyncpg.connect(database_url)
    kill = f"SELECT pg_terminate_backend({dying.get_server_pid()})"
    files = [answering(1, name="a.sql"), FunctionFile("b.sql", kill)]
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError)):
        await apply_functions(dying, SERVICE, files)
    with pytest.raises(asyncpg.UndefinedFunctionError):
        await conn.fetchval("SELECT catalog.answer()")
    files[1] = answering(2, name="b.sql", function="other")
    assert await apply_functions(conn, SERVICE, files) == ["functions/a.sql", "functions/b.sql"]
    assert await conn.fetchval("SELECT catalog.answer() + catalog.other()") == 3


async def test_a_replica_waits_for_its_own_version_only(database_url: str, conn: Any) -> None:
    """A new one waits until its functions are applied; an old one that restarts later does not wait."""
    old, new = answering(1), answering(2)
    await apply_functions(conn, SERVICE, [old])
    async with connected(service_url(database_url, SERVICE)) as replica:
        assert await missing_functions(replica, SERVICE, [new]) == ["answer.sql"]
        await apply_functions(conn, SERVICE, [new])
        assert await missing_functions(replica, SERVICE, [new]) == []
        assert await missing_functions(replica, SERVICE, [old]) == []


async def test_migrate_applies_the_functions_of_every_service(database_url: str, conn: Any) -> None:
    """What is recorded is what the folders hold, and a function that was replaced by hand can be restored."""
    for service in SERVICES:
        assert await missing_functions(conn, service, function_files(service)) == []
    await conn.execute(
        "UPDATE bookings.schema_functions SET checksum = 'other' WHERE name = 'booking_facts.sql'"
    )
    assert (await migrate(database_url, ["bookings"]))["bookings"] == ["functions/booking_facts.sql"]
