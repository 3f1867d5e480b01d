"""Sessions of the operators' console, each bound to the token that it was opened with."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from services.gateway.rules.key_text import NewKey
from shared.db.database import Connection

INSERT = """
INSERT INTO operator_sessions (id, secret_hash, token_hash, studio_id, staff_token_id, expires_at)
VALUES ($1, $2, $3, $4, $5, clock_timestamp() + interval '12 hours')
RETURNING expires_at
"""


async def add(
    conn: Connection,
    new: NewKey,
    *,
    secret_hash: bytes,
    token_hash: bytes | None,
    studio_id: str | None,
    staff_token_id: str | None,
) -> datetime:
    values = (new.id, secret_hash, token_hash, studio_id, staff_token_id)
    expires_at: datetime = await conn.fetchval(INSERT, *values)
    return expires_at


PRESENTED = """
SELECT s.id, s.secret_hash, s.token_hash, s.studio_id, s.staff_token_id, t.role
FROM operator_sessions s
LEFT JOIN staff_tokens t ON t.studio_id = s.studio_id AND t.id = s.staff_token_id
WHERE s.id = ANY ($1) AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
    AND (s.staff_token_id IS NULL OR (t.id IS NOT NULL AND t.revoked_at IS NULL))
"""


async def presented(conn: Connection, session_ids: Sequence[str]) -> Sequence[asyncpg.Record]:
    """The live sessions with these ids, with the hashes to match. A session ends with its staff token."""
    return await conn.fetch(PRESENTED, session_ids)


END = "UPDATE operator_sessions SET ended_at = clock_timestamp() WHERE id = $1"


async def end(conn: Connection, session_id: str) -> None:
    await conn.execute(END, session_id)
