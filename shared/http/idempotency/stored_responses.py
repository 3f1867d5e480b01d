"""Idempotency keys: claimed by an advisory lock; the response is a row that commits with the write."""

from typing import Literal

import asyncpg
from msgspec import Struct, structs

from shared.background import Loop
from shared.db.database import Connection, Database
from shared.errors import IdempotencyInProgress
from shared.http.caller import Caller

KEY_LOCK_TIMEOUT = "2s"


class Claim(Struct, frozen=True):
    state: Literal["new", "stored", "busy", "locked"]
    fingerprint: bytes | None = None
    http_status: int | None = None
    body: bytes | None = None


CLAIM = "SELECT state, fingerprint, http_status, body FROM claim_keys(ARRAY[$1::uuid], ARRAY[$2], ARRAY[$3])"


async def claim(conn: Connection, caller: Caller, key: str) -> Claim:
    """Waits while another request holds the key. Call it before taking any other lock."""
    claimed = await _claim(conn, caller, key)
    if claimed.state == "busy":
        await wait_for_key(conn, caller, key)
        claimed = await _claim(conn, caller, key)
    return claimed


async def _claim(conn: Connection, caller: Caller, key: str) -> Claim:
    row = await conn.fetchrow(CLAIM, caller.studio_id, caller.client_id, key)
    assert row is not None
    return Claim(*row)


async def wait_for_key(conn: Connection, caller: Caller, key: str) -> None:
    """Waits until this transaction holds the key."""
    await conn.execute(f"SET LOCAL lock_timeout = '{KEY_LOCK_TIMEOUT}'")
    try:
        await conn.execute(
            "SELECT pg_advisory_xact_lock(key_lock($1, $2, $3))", caller.studio_id, caller.client_id, key
        )
    except asyncpg.LockNotAvailableError:
        raise IdempotencyInProgress from None
    await conn.execute("SET LOCAL lock_timeout = 0")


class StoredResponse(Struct, frozen=True, kw_only=True):
    """A response, stored for replay."""

    key: str
    route: str
    fingerprint: bytes
    http_status: int
    body: bytes
    resource_id: str | None


def upsert_responses(first: int) -> str:
    """Stores responses for 24 hours, one array per column, with parameters numbered from `first`.

    An expired row stays until it is pruned, so a new response may have to replace one.
    """
    types = ("uuid", "text", "text", "text", "bytea", "smallint", "bytea", "uuid")
    arrays = ", ".join(f"${number}::{kind}[]" for number, kind in enumerate(types, first))
    return f"""
INSERT INTO idempotency_keys
    (studio_id, client_id, key, route, fingerprint, http_status, body, resource_id, expires_at)
SELECT studio_id, client_id, key, route, fingerprint, http_status, body, resource_id,
       clock_timestamp() + interval '24 hours'
FROM unnest({arrays})
     AS answer (studio_id, client_id, key, route, fingerprint, http_status, body, resource_id)
ON CONFLICT (studio_id, client_id, key) DO UPDATE SET
    route = excluded.route, fingerprint = excluded.fingerprint, http_status = excluded.http_status,
    body = excluded.body, resource_id = excluded.resource_id, expires_at = excluded.expires_at
"""  # noqa: S608


STORE = upsert_responses(1)


async def store(conn: Connection, caller: Caller, response: StoredResponse) -> None:
    values = (caller.studio_id, caller.client_id, *structs.astuple(response))
    await conn.execute(STORE, *([value] for value in values))


# Look at the lock first, then at the row: once the lock is free, its holder's row is visible.
IS_HELD = """
SELECT EXISTS (
    SELECT FROM pg_locks, key_lock($1, $2, $3) AS lock (id)
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid::bigint = (lock.id >> 32) & 4294967295 AND objid::bigint = lock.id & 4294967295)
"""
READ = """
SELECT route, http_status, resource_id, expires_at FROM idempotency_keys
WHERE studio_id = $1 AND client_id = $2 AND key = $3 AND expires_at > clock_timestamp()
"""


async def look_up(
    conn: Connection, caller: Caller, key: str
) -> asyncpg.Record | Literal["in_progress"] | None:
    args = caller.studio_id, caller.client_id, key
    held = await conn.fetchval(IS_HELD, *args)
    row: asyncpg.Record | None = await conn.fetchrow(READ, *args)
    return "in_progress" if row is None and held else row


OF_RESOURCES = """
SELECT client_id, key, body, resource_id FROM idempotency_keys
WHERE studio_id = $1 AND resource_id = ANY ($2::uuid[]) FOR UPDATE
"""


async def of_resources(conn: Connection, caller: Caller, ids: list[str]) -> list[asyncpg.Record]:
    """For an erasure: what is stored about these resources."""
    return await conn.fetch(OF_RESOURCES, caller.studio_id, ids)


REPLACE = "UPDATE idempotency_keys SET body = $4 WHERE studio_id = $1 AND client_id = $2 AND key = $3"


async def replace_body(conn: Connection, caller: Caller, row: asyncpg.Record, body: bytes) -> None:
    await conn.execute(REPLACE, caller.studio_id, row["client_id"], row["key"], body)


PRUNE = """
DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency_keys WHERE expires_at <= clock_timestamp()
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))
"""
PRUNED_AT_ONCE = 1000


async def prune(db: Database) -> bool:
    """Deletes expired rows, across all studios. True if there may be more."""
    async with db.connection() as conn:
        return await conn.execute(PRUNE, PRUNED_AT_ONCE) == f"DELETE {PRUNED_AT_ONCE}"


def pruning(db: Database, service: str) -> Loop:
    return Loop(f"{service}-keys", lambda: prune(db), idle=60.0)
