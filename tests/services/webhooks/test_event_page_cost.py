"""A page of the event log costs as much as it shows, also while all events are of one type."""

import json

import asyncpg

from services.webhooks.store.event_log import BY_KIND
from shared.events.kinds import KINDS
from tests.harness.eventually import eventually
from tests.services.webhooks.studio_client import open_studio_client

EVENTS, LIMIT = 20_000, 10
# An index scan for each kind takes a few blocks. Scanning the log for each took more than ten thousand.
MOST_BLOCKS = 20 * len(KINDS)
COPIES = """
INSERT INTO events (studio_id, id, sequence, type, created_at, body)
SELECT e.studio_id, gen_random_uuid(), e.sequence + n, e.type, e.created_at, e.body
FROM events e, generate_series(1, $1::int) n
"""


async def test_a_log_with_one_type_is_not_searched_for_the_others(database_url: str) -> None:
    """As after a first import: Postgres must not scan the log once for each type that is not in it."""
    async with open_studio_client(database_url) as client:
        await client.publish_some(1)
        await eventually(lambda: client.sql("SELECT 1 FROM events"))
    conn = await asyncpg.connect(database_url)
    await conn.execute("SET search_path = webhooks")
    await conn.execute(COPIES, EVENTS)
    await conn.execute("ANALYZE events")
    nowhere: list[str] = []
    caller = (client.studio_id, 0, list(KINDS), LIMIT, client.client_id, False)
    args = (*caller, nowhere, nowhere, nowhere, EVENTS + 1)
    found = await conn.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {BY_KIND}", *args)
    await conn.close()
    plan = json.loads(found)[0]["Plan"]
    assert plan["Actual Rows"] == LIMIT
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < MOST_BLOCKS
