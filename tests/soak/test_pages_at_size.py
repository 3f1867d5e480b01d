"""Lists of a million rows: forms and leads, the event log and the delivery log."""

import statistics
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from shared.wire import new_id
from tests.harness.databases import connected
from tests.services.forms.conftest import studio
from tests.services.forms.studio_client import StudioClient as FormsClient
from tests.services.webhooks.studio_client import StudioClient, open_studio_client

__all__ = ["studio"]

ROWS, ROUNDS = 1_000_000, 300

LEADS = """
INSERT INTO forms.leads (studio_id, id, email, status, lifecycle_stage, created_at)
SELECT $1, gen_random_uuid(), 'p' || n || '@example.com', 'new', 'lead',
    '2020-01-01Z'::timestamptz + n * interval '1 s'
FROM generate_series(1, $2::int) AS n
"""
SUBMISSIONS = """
INSERT INTO forms.form_submissions
    (studio_id, id, form_id, form_version, submitter_email, data, consents, status, created_at)
SELECT $1, gen_random_uuid(), $3, 1, 'p' || n || '@example.com', '{}', '[]', 'pending',
    '2020-01-01Z'::timestamptz + n * interval '1 s'
FROM generate_series(1, $2::int) AS n
"""
FIRST_ROW = "SELECT id FROM forms.{table} WHERE studio_id = $1 ORDER BY created_at LIMIT 1"
NEAR_THE_END = "SELECT id FROM forms.{table} WHERE studio_id = $1 ORDER BY created_at DESC OFFSET 60 LIMIT 1"


Read = Callable[[], Awaitable[None]]


async def costs_the_same(name: str, early: Read, late: Read) -> bool:
    """In turns, so that other load on the machine affects both equally. A scan takes 100 ms and more."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for read, taken in zip((early, late), times, strict=True):
            started = time.perf_counter()
            await read()
            taken.append((time.perf_counter() - started) * 1000)
    first, last = (statistics.median(taken) for taken in times)
    print(f"\n{name}: early {first:.2f} ms, near {ROWS:,} {last:.2f} ms: {last / first:.2f}")
    return last < first * 1.2 + 0.5


@pytest.mark.timeout(900)
async def test_a_page_of_forms_costs_the_same_at_the_millionth_row(
    studio: FormsClient, database_url: str
) -> None:
    """Leads and submissions: the median of the last page within 1.2 times that of the first."""
    form = await studio.form()

    async def read(path: str) -> None:
        assert (await studio.get(path)).status == 200

    async with connected(database_url) as admin:
        await admin.execute(LEADS, studio.id, ROWS)
        await admin.execute(SUBMISSIONS, studio.id, ROWS, form["id"])
        for table, path in (("leads", "/leads"), ("form_submissions", f"/forms/{form['id']}/submissions")):
            early, late = [
                await admin.fetchval(sql.format(table=table), studio.id) for sql in (FIRST_ROW, NEAR_THE_END)
            ]
            reads = [partial(read, f"{path}?cursor={place}") for place in (early, late)]
            assert await costs_the_same(table, *reads)
    settings = {"max_submissions": 10, "one_submission_per_email": True}
    assert (await studio.put(f"/forms/{form['id']}", {"settings": settings})).status == 200
    started = time.perf_counter()
    assert (await studio.submit(form, {}, f"p{ROWS}@example.com")).code == "already_submitted"
    assert (await studio.submit(form, {}, "new@example.com")).code == "submission_limit_reached"
    print(f"two refusals among {ROWS:,} submissions: {(time.perf_counter() - started) * 1000:.1f} ms")


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
AT = "SELECT id FROM {table} WHERE studio_id = $1 AND sequence = $2"


@pytest.mark.timeout(900)
async def test_a_page_of_the_logs_costs_the_same_at_the_millionth_row(database_url: str) -> None:
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
                (await client.sql(AT.format(table=table), client.studio_id, place))[0]["id"]
                for place in (FIRST, LAST)
            ]
            reads = [partial(read, client, path, cursor=one, caller=caller, **query) for one in cursors]
            assert await costs_the_same(name, *reads)


async def read(client: StudioClient, path: str, **query: Any) -> None:
    reply = await client.call("GET", path, limit=50, **query)
    assert reply.status == 200, reply.body
    assert len(reply.json()["data"]) == 50
