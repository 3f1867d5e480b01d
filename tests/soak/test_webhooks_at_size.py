"""The event log and the delivery log at a million rows."""

from functools import partial
from typing import Any

import pytest

from shared.wire import new_id
from tests.services.webhooks.studio_client import StudioClient, open_studio_client
from tests.soak.medians import medians_ms

ROWS = 1_000_000
# Bookings at the first place: the narrow key may see them, else they are no cursors.
FIRST, LAST = 12, ROWS - 59_992
KINDS = "ARRAY['booking.created', 'waitlist.updated', 'member.created', 'lead.created']"

EVENTS = f"""
INSERT INTO events (studio_id, id, sequence, type, location_id, created_at, body)
SELECT $1, gen_random_uuid(), n, ({KINDS})[1 + n % 4], ($2::uuid[])[1 + n % 3],
       now() - interval '1 day' + n * interval '1 ms', convert_to('{{"sequence": ' || n || '}}', 'UTF8')
FROM generate_series(1, $3::int) AS n
"""  # noqa: S608
COUNTED = "INSERT INTO event_counters (studio_id, last_sequence) VALUES ($1, $2)"
DELIVERIES = """
INSERT INTO deliveries (studio_id, id, endpoint_id, event_id, event_type, sequence, status, next_attempt_at,
                        created_at, event_created_at)
SELECT $1, gen_random_uuid(), $2, id, type, sequence,
       CASE WHEN sequence % 1000 = 0 THEN 'dead' ELSE 'succeeded' END, now(), created_at, created_at
FROM events WHERE studio_id = $1
"""
NEAR_THE_END = "SELECT id FROM {table} WHERE studio_id = $1 AND sequence = $2"


@pytest.mark.timeout(900)
async def test_a_page_costs_the_same_at_the_millionth_row(database_url: str) -> None:
    """Events, also through a narrow key, and deliveries, also the dead ones: within 1.2 times."""
    async with open_studio_client(database_url) as client:
        places = [new_id() for _ in range(3)]
        endpoint = await client.endpoint("https://partner.example/hook")
        async with client.context.db.transaction() as conn:
            await conn.execute(EVENTS, client.studio_id, places, ROWS, timeout=600)
            await conn.execute(COUNTED, client.studio_id, ROWS)
            await conn.execute(DELIVERIES, client.studio_id, endpoint["id"], timeout=600)
        narrow = client.caller(
            scopes=frozenset({"webhooks:read", "bookings:read", "members:read"}), location_ids=(places[0],)
        )
        deliveries = f"/webhook-endpoints/{endpoint['id']}/deliveries"
        for name, path, caller, query in (
            ("events", "/events", client.caller(), {}),
            ("events, narrow key", "/events", narrow, {}),
            ("events of one kind", "/events", client.caller(), {"type": "lead.created"}),
            ("deliveries", deliveries, client.caller(), {}),
            ("dead deliveries", deliveries, client.caller(), {"status": "dead"}),
        ):
            table = "events" if path == "/events" else "deliveries"
            cursors = [
                (await client.sql(NEAR_THE_END.format(table=table), client.studio_id, place))[0]["id"]
                for place in (FIRST, LAST)
            ]
            reads = [partial(read, client, path, cursor=one, caller=caller, **query) for one in cursors]
            first, last = await medians_ms(*reads, rounds=60)
            print(f"\n{name}: at row {FIRST} {first:.2f} ms, near {ROWS:,} {last:.2f} ms: {last / first:.2f}")
            assert last < first * 1.2 + 0.5


async def read(client: StudioClient, path: str, **query: Any) -> None:
    reply = await client.call("GET", path, limit=50, **query)
    assert reply.status == 200, reply.body
    assert len(reply.json()["data"]) == 50
