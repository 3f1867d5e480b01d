"""Reads, lists and writes class sessions, and lists their spots."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import asyncpg

from services.bookings.rules.class_times import clamp_to_supported_years
from services.bookings.store.keyset_pages import Filters, ListedTable, LookUp, fetch_json_page
from services.bookings.wire.classes import Class, ClassesQuery, ClassSpot, ClassStatus
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.pages import JsonRows, resolve_cursor
from shared.wire import PageQuery

WIRE_COLUMNS = """
t.id::text, t.title, t.description, t.class_type_id::text, t.location_id::text, t.room_id::text,
t.instructor_id::text, t.start_time, t.end_time, t.capacity, t.booked_count,
greatest(0, t.capacity - t.booked_count - CASE WHEN t.held_count > 0 THEN live_holds(t.studio_id, t.id)
    ELSE 0 END) AS available_count,
CASE WHEN t.held_count > 0 THEN live_holds(t.studio_id, t.id) ELSE 0 END AS held_count,
t.allow_waitlist, t.spot_selection_mode, t.status, t.visible, t.timezone,
local_text(t.start_local) AS start_local
"""
# The JSON that the row stores, around the current counts: one value per row instead of the 19 columns above,
# and the same bytes as an encoded `Class`. `||` took a fifth longer than concat.
WIRE_JSON = """
concat(t.json_head, t.booked_count, ',"available_count":',
    CASE WHEN t.held_count > 0 THEN counts_with_holds(t.studio_id, t.id, t.capacity - t.booked_count)
    ELSE concat(greatest(0, t.capacity - t.booked_count), ',"held_count":0') END, t.json_tail) AS json
"""
TABLE = ListedTable(table="classes", columns=WIRE_JSON, order="start_time", statuses=tuple(ClassStatus))


async def list_json(conn: Connection, caller: Caller, query: ClassesQuery) -> JsonRows:
    """Classes as encoded JSON; `limit + 1` of them if there are more."""
    return await fetch_json_page(conn, caller, TABLE, _filters(query), query.cursor, query.page_size)


DAY = timedelta(days=1)
# No zone was ever farther from UTC.
FARTHEST = timedelta(hours=16)


def _filters(query: ClassesQuery) -> Filters:
    where: list[tuple[str, Any]] = []
    if query.starts_after is not None:
        where.append(("t.start_time >= {}", clamp_to_supported_years(query.starts_after)))
    if query.starts_before is not None:
        where.append(("t.start_time < {}", clamp_to_supported_years(query.starts_before)))
    if query.on is not None:
        # The indexes find the classes around that day; the zone of each decides.
        day = clamp_to_supported_years(datetime.combine(query.on, time(), UTC))
        where.append(("t.start_time >= {}", day - FARTHEST))
        where.append(("t.start_time < {}", day + DAY + FARTHEST))
        where.append(("t.start_local::date = {}", query.on))
    wanted = query.wanted_ids
    return Filters(
        look_up=LookUp("id", "SELECT unnest({}::uuid[])", (wanted,)) if wanted is not None else None,
        indexed={
            "instructor_id": query.instructor_id,
            "class_type_id": query.class_type_id,
            "room_id": query.room_id,
        },
        status=query.status,
        location_id=query.location_id,
        where=where,
    )


GET = f"SELECT {WIRE_COLUMNS} FROM classes t WHERE t.studio_id = $1 AND t.id = $2"  # noqa: S608


async def get(conn: Connection, caller: Caller, class_id: str) -> Class:
    row = await conn.fetchrow(GET, caller.studio_id, class_id)
    if row is None or not caller.may_see(row["location_id"]):
        raise NotFound
    return Class(**dict(row))


# Columns that staff and imports may set. Bookings maintain the counters.
WRITABLE = (
    "title", "description", "class_type_id", "location_id", "room_id", "instructor_id", "start_time",
    "end_time", "capacity", "allow_waitlist", "waitlist_capacity", "credit_cost", "spot_selection_mode",
    "status", "visible",
)  # fmt: skip
INSERT = f"""
INSERT INTO classes (studio_id, id, {", ".join(WRITABLE)})
SELECT $1, $2, {", ".join(WRITABLE)} FROM jsonb_populate_record(NULL::classes, $3)
ON CONFLICT DO NOTHING
"""  # noqa: S608


async def insert(conn: Connection, caller: Caller, class_id: str, values: dict[str, Any]) -> bool:
    """False when the id is taken."""
    done = await conn.execute(INSERT, caller.studio_id, class_id, {"status": "scheduled", **values})
    return bool(done.endswith(" 1"))


CHANGE = f"""
UPDATE classes c SET {", ".join(f"{column} = n.{column}" for column in WRITABLE)}, version = c.version + 1
FROM classes old, jsonb_populate_record(old, $3) n
WHERE old.studio_id = $1 AND old.id = $2 AND c.studio_id = $1 AND c.id = $2
"""  # noqa: S608
# Bookings and entries carry their class's location, which lists filter by. A class carries its time zone.
UPDATE_LOCATION = (
    """
UPDATE classes c SET timezone = place.timezone
FROM (SELECT location_id, class_zone($1, location_id) AS timezone FROM classes
      WHERE studio_id = $1 AND id = ANY ($2::uuid[]) GROUP BY location_id) AS place
WHERE c.studio_id = $1 AND c.id = ANY ($2::uuid[]) AND c.timezone <> place.timezone
  AND c.location_id IS NOT DISTINCT FROM place.location_id
""",
    """
UPDATE bookings b SET location_id = c.location_id, version = b.version + 1 FROM classes c
WHERE c.studio_id = $1 AND c.id = ANY ($2::uuid[]) AND b.studio_id = $1 AND b.class_id = c.id
  AND b.location_id IS DISTINCT FROM c.location_id
""",
    """
UPDATE waitlist w SET location_id = c.location_id, version = w.version + 1 FROM classes c
WHERE c.studio_id = $1 AND c.id = ANY ($2::uuid[]) AND w.studio_id = $1 AND w.class_id = c.id
  AND w.location_id IS DISTINCT FROM c.location_id
""",
)


async def change(conn: Connection, caller: Caller, class_id: str, values: dict[str, Any]) -> None:
    """Under the class's lock. Columns that `values` leaves out stay unchanged."""
    await conn.execute(CHANGE, caller.studio_id, class_id, values)
    if "location_id" in values:
        await update_location(conn, caller.studio_id, [class_id])


async def update_location(conn: Connection, studio_id: str, class_ids: list[str]) -> None:
    """Of everything that follows the location of these classes."""
    for statement in UPDATE_LOCATION:
        await conn.execute(statement, studio_id, class_ids)


STARTED_WITH_WAITLIST = """
SELECT studio_id, id, start_time FROM classes
WHERE waitlist_count > 0 AND start_time <= clock_timestamp()
  AND ($2::timestamptz IS NULL OR start_time >= $2 AND (start_time, studio_id, id) > ($2, $3::uuid, $4::uuid))
ORDER BY start_time, studio_id, id LIMIT $1
"""


async def started_with_waitlist(
    conn: Connection, most: int, after: tuple[datetime, str, str] | None
) -> list[asyncpg.Record]:
    """Across all studios, for the loop that expires waitlists."""
    return await conn.fetch(STARTED_WITH_WAITLIST, most, *(after or (None, None, None)))


LIST_SPOTS = """
SELECT s.id, s.class_id, s.label, s.sort_order AS order, NOT EXISTS (
    SELECT FROM bookings b WHERE b.studio_id = $1 AND b.class_id = $2 AND b.class_spot_id = s.id
      AND (b.status IN ('confirmed', 'checked_in')
           OR b.status = 'held' AND b.held_until > statement_timestamp())) AS available
FROM class_spots s
WHERE s.studio_id = $1 AND s.class_id = $2 AND ($3::int IS NULL OR (s.sort_order, s.id) > ($3, $4::uuid))
ORDER BY s.sort_order, s.id LIMIT $5
"""
SPOT_CURSOR = "SELECT sort_order, id FROM class_spots WHERE studio_id = $1 AND class_id = $2 AND id = $3"


async def list_spots(conn: Connection, caller: Caller, class_id: str, query: PageQuery) -> list[ClassSpot]:
    after = await resolve_cursor(conn, SPOT_CURSOR, query.cursor, caller.studio_id, class_id)
    order, last = (after["sort_order"], after["id"]) if after else (None, None)
    rows = await conn.fetch(LIST_SPOTS, caller.studio_id, class_id, order, last, query.limit + 1)
    return [ClassSpot(**dict(row)) for row in rows]
