"""Deletes what has expired, of all studios, a batch at a time."""

from typing import Final

from shared.db.database import Connection

# Each condition has an index.
OLD: Final = (
    ("requests", "at < clock_timestamp() - interval '7 days'"),
    ("request_minutes", "minute < clock_timestamp() - interval '7 days'"),
    ("status_history", "at < clock_timestamp() - interval '1 hour'"),
    ("key_usage", "hour < clock_timestamp() - interval '31 days'"),
    ("console_sessions", "expires_at < clock_timestamp()"),
    ("console_sessions", "secret_hash IS NULL AND link_expires_at < clock_timestamp()"),
    ("operator_sessions", "expires_at < clock_timestamp()"),
    ("idempotency_keys", "expires_at < clock_timestamp()"),
)
DELETE: Final = (
    "DELETE FROM {0} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {0} WHERE {1} LIMIT $1 FOR UPDATE SKIP LOCKED))"
)
BATCH: Final = 5_000


async def delete_old_rows(conn: Connection) -> bool:
    """Whether there may be more."""
    deleted = [await conn.execute(DELETE.format(*old), BATCH) for old in OLD]
    return any(int(status.split()[-1]) == BATCH for status in deleted)
