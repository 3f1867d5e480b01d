"""A database that is full, read-only or out of memory: 503, nothing lost, and readiness says so."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from shared.wire import new_id
from tests.harness.bookable_studio import Bookable, bookable
from tests.harness.databases import connected
from tests.harness.system import System

REFUSE = """
CREATE FUNCTION {schema}.refuse_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'staged' USING ERRCODE = '{state}'; END $$;
CREATE TRIGGER refuse_write BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {schema}.refuse_write();
"""


@asynccontextmanager
async def writes_refused(system: System, table: str, state: str) -> AsyncIterator[None]:
    schema = table.partition(".")[0]
    async with connected(system.running.database_url(schema)) as conn:
        await conn.execute(REFUSE.format(schema=schema, table=table, state=state))
        try:
            yield
        finally:
            await conn.execute(f"DROP FUNCTION {schema}.refuse_write() CASCADE")


@pytest.fixture
async def studio(system: System) -> Bookable:
    made = bookable(members=5)
    await system.import_lines(made.lines)
    return made


async def book(system: System, studio: Bookable, member: int, key: str) -> Any:
    partner = system.partner(await system.key())
    return await partner.book(studio.class_ids[0], studio.member_ids[member], key=key)


async def test_a_write_is_503_while_the_database_takes_none_and_works_afterwards(
    system: System, studio: Bookable
) -> None:
    """Disk full, out of memory, I/O error, read-only: 503 with Retry-After, and the same key works later."""
    for member, state in enumerate(("53100", "53200", "58030", "25006")):
        key = new_id()
        async with writes_refused(system, "bookings.bookings", state):
            refused = await book(system, studio, member, key)
            assert (refused.status, refused.code) == (503, "service_unavailable"), state
            assert "Retry-After" in refused.headers
            ready = (await system.site.get("/health/ready")).json()
            assert ready["status"] == "degraded", ready
            assert "takes no writes" in ready["parts"]["bookings.writes"]
        assert (await book(system, studio, member, key)).status == 201
        assert (await system.site.get("/health/ready")).json()["status"] == "ready"


async def test_an_event_is_held_while_the_log_cannot_be_written_and_never_parked(
    system: System, studio: Bookable
) -> None:
    """A full disk is not caused by the message: it is logged once there is space again."""
    partner = system.partner(await system.key())
    async with writes_refused(system, "webhooks.events", "53100"):
        made = await book(system, studio, 0, new_id())
        assert made.status == 201
        await system.site.until(
            "/health/ready", lambda ready: "takes no writes" in ready["parts"]["webhooks.writes"]
        )
        assert (await partner.get("/events")).json()["data"] == []
    logged = await partner.until("/events")
    assert [event["data"]["object"]["id"] for event in logged["data"]] == [made.json()["id"]]
    queues = (await system.operator.get("/queues")).json()
    assert all(queue["parked"] == 0 for queue in queues["data"]), queues
