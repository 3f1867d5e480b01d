"""Staff tokens. Every statement binds the studio, except the lookup by a presented token."""

from collections.abc import Sequence

import asyncpg

from services.gateway.rules.key_text import NewKey
from services.gateway.wire.key import StaffRole, StaffToken
from shared.db.database import Connection
from shared.errors import NotFound

COLUMNS = "id, studio_id, name, role, prefix, created_at, last_used_at, revoked_at"
INSERT = """
INSERT INTO staff_tokens (studio_id, id, name, role, prefix, secret_hash) VALUES ($1, $2, $3, $4, $5, $6)
"""


async def add(
    conn: Connection, studio_id: str, new: NewKey, *, name: str, role: StaffRole, secret_hash: bytes
) -> StaffToken:
    await conn.execute(INSERT, studio_id, new.id, name, role, new.prefix, secret_hash)
    return await get(conn, studio_id, new.id)


GET = f"SELECT {COLUMNS} FROM staff_tokens WHERE studio_id = $1 AND id = $2"  # noqa: S608


async def get(conn: Connection, studio_id: str, token_id: str) -> StaffToken:
    row = await conn.fetchrow(GET, studio_id, token_id)
    if row is None:
        raise NotFound
    return StaffToken(**row)


LIST = f"SELECT {COLUMNS} FROM staff_tokens WHERE studio_id = $1 ORDER BY created_at, id"  # noqa: S608


async def all_of(conn: Connection, studio_id: str) -> list[StaffToken]:
    return [StaffToken(**row) for row in await conn.fetch(LIST, studio_id)]


REVOKE = """
UPDATE staff_tokens SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE studio_id = $1 AND id = $2
"""


async def revoke(conn: Connection, studio_id: str, token_id: str) -> StaffToken:
    await conn.execute(REVOKE, studio_id, token_id)
    return await get(conn, studio_id, token_id)


PRESENTED = """
SELECT id, studio_id, role, secret_hash,
    (last_used_at < clock_timestamp() - interval '1 minute') IS NOT FALSE AS stale
FROM staff_tokens WHERE id = ANY ($1) AND revoked_at IS NULL
"""


async def presented(conn: Connection, token_ids: Sequence[str]) -> Sequence[asyncpg.Record]:
    """The live tokens with these ids, with the hashes to match and whether to record their use."""
    return await conn.fetch(PRESENTED, token_ids)


USED = """
UPDATE staff_tokens SET last_used_at = clock_timestamp(), secret_hash = $3 WHERE studio_id = $1 AND id = $2
"""


async def record_use(conn: Connection, studio_id: str, token_id: str, secret_hash: bytes) -> None:
    """Also stores a new hash, so that a token outlives the pepper that it was issued with."""
    await conn.execute(USED, studio_id, token_id, secret_hash)
