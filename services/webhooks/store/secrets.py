"""Signing secrets, encrypted. During a rotation an endpoint has more than one."""

from datetime import datetime

from shared.db.database import Connection
from shared.wire import new_id

ADD = "INSERT INTO secrets (studio_id, id, endpoint_id, sealed) VALUES ($1, $2, $3, $4)"


async def add(conn: Connection, studio_id: str, endpoint_id: str, sealed: bytes) -> None:
    await conn.execute(ADD, studio_id, new_id(), endpoint_id, sealed)


RETIRE = """
UPDATE secrets SET expires_at = least(coalesce(expires_at, $3), $3) WHERE studio_id = $1 AND endpoint_id = $2
"""


async def retire_all(conn: Connection, studio_id: str, endpoint_id: str, at: datetime) -> None:
    """Live secrets expire at `at`, or earlier if they were to expire earlier."""
    await conn.execute(RETIRE, studio_id, endpoint_id, at)


KEEP_NEWEST = """
DELETE FROM secrets WHERE studio_id = $1 AND endpoint_id = $2 AND id NOT IN (
    SELECT id FROM secrets WHERE studio_id = $1 AND endpoint_id = $2
    AND (expires_at IS NULL OR expires_at > now()) ORDER BY created_at DESC, id DESC LIMIT $3)
"""


async def keep_newest(conn: Connection, studio_id: str, endpoint_id: str, count: int) -> None:
    await conn.execute(KEEP_NEWEST, studio_id, endpoint_id, count)


REMOVE_EXPIRED = "DELETE FROM secrets WHERE expires_at < now() - interval '1 minute'"


async def remove_expired(conn: Connection) -> None:
    await conn.execute(REMOVE_EXPIRED)
