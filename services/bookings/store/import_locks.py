"""The locks of an import, in the order of store/locks.py. A dry run takes none."""

from collections.abc import Awaitable, Callable

from shared.db.database import Connection
from shared.transfer.lines import Rows

# An import gives up its locks, and answers 503, rather than make partners wait behind what it waits for.
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '3s'"

LOCK_CLASSES = """
SELECT 1 FROM classes c
WHERE (c.studio_id, c.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) ORDER BY c.studio_id, c.id
FOR NO KEY UPDATE
"""
LOCK_MEMBERS = """
SELECT 1 FROM members m
WHERE (m.studio_id, m.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) ORDER BY m.studio_id, m.id
FOR NO KEY UPDATE
"""


# The members that the lines name, everyone in a cancelled class, and those waiting in any other class.
LOCK_MEMBERS_OF_CLASSES = """
WITH line AS (
    SELECT * FROM jsonb_to_recordset($1)
    AS line (studio_id uuid, id uuid, class_id uuid, member_id uuid, cancels boolean)
)
SELECT 1 FROM members m
WHERE (m.studio_id, m.id) IN (
    SELECT studio_id, member_id FROM line
    UNION ALL
    SELECT b.studio_id, b.member_id
    FROM bookings b JOIN line ON b.studio_id = line.studio_id AND b.id = line.id
    UNION ALL
    SELECT b.studio_id, b.member_id
    FROM (SELECT studio_id, class_id, bool_or(cancels) AS cancels FROM line GROUP BY studio_id, class_id) line
    JOIN bookings b ON b.studio_id = line.studio_id AND b.class_id = line.class_id
    LEFT JOIN classes c ON c.studio_id = line.studio_id AND c.id = line.class_id
    WHERE b.status = 'waitlisted'
       OR b.status IN ('held', 'confirmed', 'checked_in') AND (line.cancels OR c.status = 'cancelled'))
ORDER BY m.studio_id, m.id FOR NO KEY UPDATE
"""


def classes_of(rows: Rows) -> set[tuple[str, str]]:
    """Studio and class id, from rows of classes, spots, bookings and waitlist entries."""
    return {(row["studio_id"], row.get("class_id") or row["id"]) for row in rows}


async def lock_classes_and_members(conn: Connection, rows: Rows) -> None:
    """Locks the classes, and every member whom the lines may promote, cancel or give credits back."""
    await lock_rows(conn, LOCK_CLASSES, classes_of(rows))
    touched = [
        {name: row.get(name) for name in ("studio_id", "id", "member_id")}
        | {
            "class_id": row.get("class_id") or row["id"],
            "cancels": "class_id" not in row and row["status"] == "cancelled",
        }
        for row in rows
    ]
    await conn.execute(LOCK_MEMBERS_OF_CLASSES, touched)


def lock_members(column: str) -> Callable[[Connection, Rows], Awaitable[None]]:
    async def lock(conn: Connection, rows: Rows) -> None:
        await lock_rows(conn, LOCK_MEMBERS, {(row["studio_id"], row[column]) for row in rows})

    return lock


async def limit_waits(conn: Connection, rows: Rows) -> None:
    """Copies belong to nobody here, but their writes may wait for members."""
    await conn.execute(LOCK_TIMEOUT)


async def lock_rows(conn: Connection, statement: str, rows: set[tuple[str, str]]) -> None:
    await conn.execute(LOCK_TIMEOUT)
    await conn.execute(statement, [studio for studio, _ in rows], [row_id for _, row_id in rows])
