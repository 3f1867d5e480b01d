"""What an import reads grows with the studio or the batch, never with their product."""

from typing import Any

import msgspec

from services.bookings.context import Bookings
from services.bookings.store import import_shown
from services.bookings.store.import_seats import analyze_grown
from shared.db.database import Connection
from tests.services.bookings.samples import a_class, a_member
from tests.services.bookings.studio_client import StudioClient

ROWS, LINES = 4_000, 200
# One comparison of every line with every row would be 800,000.
MOST_WORK = 10 * (ROWS + LINES)
CLASSES = """
INSERT INTO classes (studio_id, id, title, start_time, end_time, capacity, allow_waitlist, status, visible)
SELECT $1, gen_random_uuid(), 'Flow', now() + interval '1 day', now() + interval '2 days', 9, true,
    'scheduled', true
FROM generate_series(1, $2)
"""
BOOKINGS = """
INSERT INTO bookings (studio_id, id, class_id, member_id, status, created_at, updated_at)
SELECT studio_id, gen_random_uuid(), id, $2, 'waitlisted', now(), now() FROM classes WHERE studio_id = $1
"""
ENTRIES = """
INSERT INTO waitlist (studio_id, id, class_id, member_id, booking_id, position, status, created_at,
    updated_at)
SELECT studio_id, gen_random_uuid(), class_id, member_id, id, 1, 'waiting', now(), now()
FROM bookings WHERE studio_id = $1
"""
NAMED = "SELECT studio_id, id, class_id FROM bookings WHERE studio_id = $1 ORDER BY id LIMIT $2"


def work(plan: dict[str, Any]) -> int:
    """Rows that a plan's nodes returned or removed."""
    removed = sum(value for name, value in plan.items() if name.startswith("Rows Removed by"))
    mine = int((plan["Actual Rows"] + removed) * plan["Actual Loops"])
    return mine + sum(work(child) for child in plan.get("Plans", []))


async def work_of(conn: Connection, statement: str, *arguments: Any) -> int:
    plan = await conn.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", *arguments)
    return work(msgspec.json.decode(plan)[0]["Plan"])


async def test_lines_are_not_compared_with_every_row(service: Bookings, client: StudioClient) -> None:
    """A batch of bookings in a large studio, each with its entry on the waitlist."""
    studio_id, person = client.caller.studio_id, a_member()
    await client.import_all(a_class(), person)
    async with service.db.transaction() as conn:
        await conn.execute(CLASSES, studio_id, ROWS)
        await conn.execute(BOOKINGS, studio_id, person["id"])
        await conn.execute(ENTRIES, studio_id)
    async with service.db.connection() as conn:
        await analyze_grown(conn)
        lines = [dict(row) for row in await conn.fetch(NAMED, studio_id, LINES)]
        affected = [line | {"whole": False} for line in lines]
        assert await work_of(conn, import_shown.BOOKINGS, affected) < MOST_WORK
        assert await work_of(conn, import_shown.ENTRIES, affected) < MOST_WORK
        assert len(await import_shown.shown_bookings(conn, affected)) == LINES
        assert len(await import_shown.shown_entries(conn, affected)) == LINES
