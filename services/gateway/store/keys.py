"""Keys in the database: what operators do with them, and what the key cache reads."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import asyncpg

from services.gateway.rules.key_text import NewKey
from services.gateway.wire.key import Key
from shared.db.database import Connection
from shared.errors import NotFound

INSERT = """
INSERT INTO keys
    (id, studio_id, client_id, name, prefix, secret_hash, scopes, location_ids, lifetime, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp() + $9)
"""


async def add(
    conn: Connection,
    new: NewKey,
    *,
    secret_hash: bytes,
    studio_id: str,
    client_id: str,
    name: str,
    scopes: Sequence[str],
    location_ids: Sequence[str] | None,
    lifetime: timedelta | None,
) -> Key:
    values = (new.id, studio_id, client_id, name, new.prefix, secret_hash, scopes, location_ids, lifetime)
    await conn.execute(INSERT, *values)
    return await get(conn, new.id)


# The successor of a key that was issued for 90 days is valid for 90 days.
COPY = """
INSERT INTO keys
    (id, studio_id, client_id, name, prefix, secret_hash, scopes, location_ids, lifetime, expires_at)
SELECT $2, studio_id, client_id, name, $3, $4, scopes, location_ids, lifetime, clock_timestamp() + lifetime
FROM keys WHERE id = $1
"""


async def add_copy(conn: Connection, key_id: str, new: NewKey, secret_hash: bytes) -> Key:
    """A second key with the same client, scopes and locations."""
    await conn.execute(COPY, key_id, new.id, new.prefix, secret_hash)
    return await get(conn, new.id)


SELECT = """
SELECT k.id, k.studio_id, k.client_id, c.name AS client_name, k.name, k.prefix, k.scopes, k.location_ids,
    k.created_at, k.expires_at, k.last_used_at, k.revoked_at
FROM keys k JOIN clients c ON c.studio_id = k.studio_id AND c.id = k.client_id
"""
GET = f"{SELECT} WHERE k.id = $1"


async def get(conn: Connection, key_id: str) -> Key:
    row = await conn.fetchrow(GET, key_id)
    if row is None:
        raise NotFound
    return Key(**row)


LIST = f"{SELECT} WHERE $1::uuid IS NULL OR k.studio_id = $1 ORDER BY k.created_at, k.id"


async def all_of(conn: Connection, studio_id: str | None) -> list[Key]:
    return [Key(**row) for row in await conn.fetch(LIST, studio_id)]


# An overlap never extends the life of a key.
EXPIRE = """
UPDATE keys SET expires_at = least(expires_at, clock_timestamp() + make_interval(secs => $2))
WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
RETURNING id
"""


async def expire_in(conn: Connection, key_id: str, seconds: int) -> bool:
    return await conn.fetchval(EXPIRE, key_id, float(seconds)) is not None


REVOKE = "UPDATE keys SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE id = $1"


async def revoke(conn: Connection, key_id: str) -> None:
    await conn.execute(REVOKE, key_id)


# Locked in the order of their ids: two gateways that record the same keys would otherwise deadlock.
USED = """
UPDATE keys SET last_used_at = greatest(keys.last_used_at, used.at)
FROM (SELECT id FROM keys WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE) AS mine
JOIN unnest($1::uuid[], $2::timestamptz[]) AS used (id, at) ON used.id = mine.id
WHERE keys.id = mine.id
"""


async def record_use(conn: Connection, used: dict[str, datetime]) -> None:
    await conn.execute(USED, list(used), list(used.values()))


FOR_CACHE = """
SELECT k.id, k.studio_id, k.client_id, k.name, k.secret_hash, k.scopes, k.location_ids, k.expires_at,
    k.revoked_at, c.rate, c.burst, c.hold_share
FROM keys k JOIN clients c ON c.studio_id = k.studio_id AND c.id = k.client_id
WHERE k.id = ANY ($1::uuid[])
"""


async def for_cache(conn: Connection, key_ids: Sequence[str]) -> list[asyncpg.Record]:
    rows: list[Any] = await conn.fetch(FOR_CACHE, key_ids)
    return rows


REHASH = "UPDATE keys SET secret_hash = $2 WHERE id = $1"


async def rehash(conn: Connection, key_id: str, secret_hash: bytes) -> None:
    await conn.execute(REHASH, key_id, secret_hash)
