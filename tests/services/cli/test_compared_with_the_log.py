"""Every committed event is in an outbox or in the log: `studioctl status` compares the two by studio."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from shared.events.buckets import bucket_of
from shared.wire import new_id
from tests.harness.eventually import eventually
from tests.harness.system import RunningSystem, System

# In flight since a moment ago, so that the relay does not take them again during the test.
OVERDUE = """
INSERT INTO bookings.outbox
    (event_id, type, aggregate, envelope, studio_id, bucket, sent_at, parked_at, created_at)
VALUES ($1, 'member.created', 'test', '{}', $2, $3, now(), CASE WHEN $4 THEN now() END,
        now() - interval '1 hour')
"""


@pytest.fixture
async def database(running_system: RunningSystem) -> AsyncIterator[Any]:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(running_system.database_url("bookings"))
    yield conn
    await conn.close()


async def test_the_status_tells_which_overdue_events_the_log_has(system: System, database: Any) -> None:
    """One is logged and only lacks its acknowledgement, one is not logged, one is parked."""
    member = {"email": f"{new_id()}@example.com", "first_name": "P", "last_name": "Q"}
    partner = system.partner(await system.key())
    assert (await partner.post("/members", member)).status == 201

    async def logged() -> Any:
        found = (await partner.get("/events", type="member.created")).json()["data"]
        return found[0]["id"] if found else None

    events = {await eventually(logged): False, new_id(): False, new_id(): True}
    try:
        for event_id, parked in events.items():
            await database.execute(OVERDUE, event_id, system.studio_id, bucket_of(system.studio_id), parked)
        status = (await system.operator.get("/status")).json()
    finally:
        await database.execute("DELETE FROM bookings.outbox WHERE studio_id = $1", system.studio_id)
    [found] = [each for each in status["unacknowledged"] if each["studio_id"] == system.studio_id]
    assert found == {
        "service": "bookings",
        "studio_id": system.studio_id,
        "waiting": 0,
        "in_flight": 2,
        "parked": 1,
        "compared": 3,
        "logged": 1,
    }
