"""Reads the studio, its locations, rooms, class types and instructors."""

from collections.abc import Sequence

from services.catalog.wire.resources import ClassType, Instructor, Location, Room, RoomsQuery, Studio
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.pages import Page, page_of, start_after
from shared.wire import PageQuery

STUDIO = "SELECT id, name, slug, timezone, logo_url, primary_color FROM studios WHERE id = $1"


async def get_studio(conn: Connection, caller: Caller) -> Studio:
    row = await conn.fetchrow(STUDIO, caller.studio_id)
    if row is None:
        raise NotFound
    return Studio(**row)


LOCATION = """
SELECT id, name, city, state, timezone, active, is_primary
FROM locations WHERE studio_id = $1 AND id = $2
"""


async def get_location(conn: Connection, caller: Caller, location_id: str) -> Location:
    row = await conn.fetchrow(LOCATION, caller.studio_id, location_id)
    if row is None or not caller.may_see(location_id):
        raise NotFound
    return Location(**row)


LOCATION_CURSOR = """
SELECT created_at, id FROM locations
WHERE studio_id = $1 AND ($2::uuid[] IS NULL OR id = ANY ($2)) AND id = $3
"""
LOCATIONS = """
SELECT id, name, city, state, timezone, active, is_primary FROM locations
WHERE studio_id = $1 AND (created_at, id) > ($2, $3)
ORDER BY created_at, id LIMIT $4
"""
PERMITTED_LOCATIONS = """
SELECT id, name, city, state, timezone, active, is_primary FROM locations
WHERE studio_id = $1 AND (created_at, id) > ($2, $3) AND id = ANY ($5)
ORDER BY created_at, id LIMIT $4
"""


async def location_page(conn: Connection, caller: Caller, query: PageQuery) -> Page[Location]:
    after = await start_after(conn, LOCATION_CURSOR, query.cursor, caller.studio_id, caller.location_ids)
    if caller.location_ids is None:
        rows = await conn.fetch(LOCATIONS, caller.studio_id, *after, query.limit + 1)
    else:
        rows = await conn.fetch(
            PERMITTED_LOCATIONS, caller.studio_id, *after, query.limit + 1, caller.location_ids
        )
    return page_of([Location(**row) for row in rows], query.limit)


ROOM = "SELECT id, location_id, name, capacity, active FROM rooms WHERE studio_id = $1 AND id = $2"


async def get_room(conn: Connection, caller: Caller, room_id: str) -> Room:
    row = await conn.fetchrow(ROOM, caller.studio_id, room_id)
    if row is None or not caller.may_see(row["location_id"]):
        raise NotFound
    return Room(**row)


ROOM_CURSOR = """
SELECT created_at, id FROM rooms
WHERE studio_id = $1 AND ($2::uuid[] IS NULL OR location_id = ANY ($2)) AND id = $3
"""
ROOMS = """
SELECT id, location_id, name, capacity, active FROM rooms
WHERE studio_id = $1 AND (created_at, id) > ($2, $3)
ORDER BY created_at, id LIMIT $4
"""
# One short index scan per location: filtering the whole list gets slower the rarer the location is.
ROOMS_OF_LOCATIONS = """
SELECT r.id, r.location_id, r.name, r.capacity, r.active
FROM unnest($5::uuid[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT * FROM rooms
    WHERE studio_id = $1 AND location_id = l.id AND (created_at, id) > ($2, $3)
    ORDER BY created_at, id LIMIT $4
) r
ORDER BY r.created_at, r.id LIMIT $4
"""


async def room_page(conn: Connection, caller: Caller, query: RoomsQuery) -> Page[Room]:
    after = await start_after(conn, ROOM_CURSOR, query.cursor, caller.studio_id, caller.location_ids)
    permitted: Sequence[str] | None = caller.location_ids
    if query.location_id is not None:
        # After the cursor check: 400 comes before 404.
        await get_location(conn, caller, query.location_id)
        permitted = [query.location_id]
    if permitted is None:
        rows = await conn.fetch(ROOMS, caller.studio_id, *after, query.limit + 1)
    else:
        rows = await conn.fetch(ROOMS_OF_LOCATIONS, caller.studio_id, *after, query.limit + 1, permitted)
    return page_of([Room(**row) for row in rows], query.limit)


CLASS_TYPE = """
SELECT id, name, description, beginner_safe, recovery
FROM class_types WHERE studio_id = $1 AND id = $2
"""


async def get_class_type(conn: Connection, caller: Caller, class_type_id: str) -> ClassType:
    row = await conn.fetchrow(CLASS_TYPE, caller.studio_id, class_type_id)
    if row is None:
        raise NotFound
    return ClassType(**row)


CLASS_TYPE_CURSOR = "SELECT created_at, id FROM class_types WHERE studio_id = $1 AND id = $2"
CLASS_TYPES = """
SELECT id, name, description, beginner_safe, recovery FROM class_types
WHERE studio_id = $1 AND (created_at, id) > ($2, $3)
ORDER BY created_at, id LIMIT $4
"""


async def class_type_page(conn: Connection, caller: Caller, query: PageQuery) -> Page[ClassType]:
    after = await start_after(conn, CLASS_TYPE_CURSOR, query.cursor, caller.studio_id)
    rows = await conn.fetch(CLASS_TYPES, caller.studio_id, *after, query.limit + 1)
    return page_of([ClassType(**row) for row in rows], query.limit)


# Inactive instructors stay readable by id, because past classes refer to them.
INSTRUCTOR = "SELECT id, name, tagline, tags FROM instructors WHERE studio_id = $1 AND id = $2"


async def get_instructor(conn: Connection, caller: Caller, instructor_id: str) -> Instructor:
    row = await conn.fetchrow(INSTRUCTOR, caller.studio_id, instructor_id)
    if row is None:
        raise NotFound
    return Instructor(**row)


INSTRUCTOR_CURSOR = "SELECT created_at, id FROM instructors WHERE studio_id = $1 AND id = $2"
INSTRUCTORS = """
SELECT id, name, tagline, tags FROM instructors
WHERE studio_id = $1 AND active AND (created_at, id) > ($2, $3)
ORDER BY created_at, id LIMIT $4
"""


async def instructor_page(conn: Connection, caller: Caller, query: PageQuery) -> Page[Instructor]:
    after = await start_after(conn, INSTRUCTOR_CURSOR, query.cursor, caller.studio_id)
    rows = await conn.fetch(INSTRUCTORS, caller.studio_id, *after, query.limit + 1)
    return page_of([Instructor(**row) for row in rows], query.limit)
