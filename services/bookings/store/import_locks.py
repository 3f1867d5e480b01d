"""Locks the classes or members of a whole import batch, in the order of store/locks.py."""

from shared.db.database import Connection

Lines = list[dict[str, object]]

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


async def lock_rows(conn: Connection, statement: str, rows: set[tuple[str, str]]) -> None:
    await conn.execute(statement, [studio for studio, _ in rows], [row_id for _, row_id in rows])
