"""Idempotency keys: claimed by an advisory lock; the response is a row that commits with the write."""

from typing import Literal

import asyncpg
import msgspec
from msgspec import Struct

from services.bookings.errors import IdempotencyInProgress
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller

KEY_LOCK_TIMEOUT = "2s"


class Claim(Struct, frozen=True, kw_only=True):
    state: Literal["new", "stored", "busy", "locked"]
    fingerprint: bytes | None = None
    http_status: int | None = None
    body: bytes | None = None
    class_id: str | None = None
    location_id: str | None = None


CLAIM = "SELECT state, fingerprint, http_status, body, class_id, location_id FROM claim_key($1, $2, $3)"


async def claim(conn: Connection, caller: Caller, key: str) -> Claim:
    row = await conn.fetchrow(CLAIM, caller.studio_id, caller.client_id, key)
    assert row is not None
    return claim_of(row)


def claim_of(row: asyncpg.Record) -> Claim:
    return Claim(**{name: row[name] for name in Claim.__struct_fields__})


async def wait_for_key(conn: Connection, caller: Caller, key: str) -> None:
    """Waits until this transaction holds the key. Call it before taking any other lock."""
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
    fingerprint: bytes
    http_status: int
    body: bytes
    resource_id: str | None
    class_id: str | None


def upsert_responses(first: int) -> str:
    """Stores responses for 24 hours, one array per column, with parameters numbered from `first`.

    An expired row stays until it is pruned, so a new response may have to replace one.
    """
    types = ("uuid", "text", "text", "bytea", "smallint", "bytea", "uuid", "uuid")
    arrays = ", ".join(f"${number}::{kind}[]" for number, kind in enumerate(types, first))
    return f"""
INSERT INTO idempotency_keys
    (studio_id, client_id, key, fingerprint, http_status, body, resource_id, class_id, expires_at)
SELECT studio_id, client_id, key, fingerprint, http_status, body, resource_id, class_id,
       clock_timestamp() + interval '24 hours'
FROM unnest({arrays})
     AS answer (studio_id, client_id, key, fingerprint, http_status, body, resource_id, class_id)
ON CONFLICT (studio_id, client_id, key) DO UPDATE SET
    fingerprint = excluded.fingerprint, http_status = excluded.http_status, body = excluded.body,
    resource_id = excluded.resource_id, class_id = excluded.class_id, expires_at = excluded.expires_at
"""  # noqa: S608


STORE = upsert_responses(1)


async def store(conn: Connection, caller: Caller, response: StoredResponse) -> None:
    values = (caller.studio_id, caller.client_id, *msgspec.structs.astuple(response))
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
SELECT k.http_status, k.resource_id, k.expires_at, k.class_id, c.location_id
FROM idempotency_keys k LEFT JOIN classes c ON c.studio_id = k.studio_id AND c.id = k.class_id
WHERE k.studio_id = $1 AND k.client_id = $2 AND k.key = $3 AND k.expires_at > clock_timestamp()
"""


async def look_up(conn: Connection, caller: Caller, key: str) -> asyncpg.Record | Literal["in_progress"]:
    """Raises NotFound, also where the caller may not see the location of what was written."""
    args = caller.studio_id, caller.client_id, key
    held = await conn.fetchval(IS_HELD, *args)
    row: asyncpg.Record | None = await conn.fetchrow(READ, *args)
    if row is None and held:
        return "in_progress"
    if row is None or (row["class_id"] is not None and not caller.may_see(row["location_id"])):
        raise NotFound
    return row


PRUNE = """
DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency_keys WHERE expires_at <= clock_timestamp()
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))
"""


async def prune(conn: Connection, most: int) -> int:
    """Across all studios: called by a loop, not by a request."""
    done = await conn.execute(PRUNE, most)
    return int(done.rsplit(" ", 1)[1])
