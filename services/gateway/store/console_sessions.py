"""Console sessions. Every statement binds studio, client and key, except lookups by a presented secret."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from services.gateway.rules.key_text import NewKey
from shared.db.database import Connection
from shared.http.caller import Caller

# A session never outlives its key. Nothing is inserted for a key that is no longer live.
INSERT = """
INSERT INTO console_sessions
    (studio_id, id, client_id, key_id, scopes, link_hash, link_expires_at, expires_at)
SELECT k.studio_id, $4, k.client_id, k.id, $5, $6, clock_timestamp() + interval '10 minutes',
    least(k.expires_at, clock_timestamp() + make_interval(secs => $7))
FROM keys k
WHERE k.studio_id = $1 AND k.client_id = $2 AND k.id = $3 AND k.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
RETURNING expires_at
"""


async def add(
    conn: Connection, caller: Caller, link: NewKey, *, link_hash: bytes, scopes: Sequence[str], seconds: int
) -> datetime | None:
    """Returns when the session ends, or None if the caller's key is not live."""
    values = (caller.studio_id, caller.client_id, caller.key_id, link.id, scopes, link_hash, float(seconds))
    found: datetime | None = await conn.fetchval(INSERT, *values)
    return found


SECONDS_UNTIL_ROOM = """
SELECT ceil(extract(epoch FROM min(link_expires_at) - clock_timestamp()))::int FROM (
    SELECT link_expires_at FROM console_sessions
    WHERE studio_id = $1 AND client_id = $2 AND secret_hash IS NULL AND link_expires_at > clock_timestamp()
    ORDER BY link_expires_at DESC LIMIT $3) AS newest
HAVING count(*) = $3
"""


async def seconds_until_room(conn: Connection, caller: Caller, most: int) -> int | None:
    """None if the client has fewer open links than `most`, else when the next one expires."""
    found: int | None = await conn.fetchval(SECONDS_UNTIL_ROOM, caller.studio_id, caller.client_id, most)
    return found


# If a link is used twice at once, the row lock decides: the second request finds no link.
EXCHANGE = """
UPDATE console_sessions s SET link_hash = NULL, secret_hash = $3
FROM keys k
WHERE s.id = $1 AND s.link_hash = $2 AND s.ended_at IS NULL
    AND s.link_expires_at > clock_timestamp() AND s.expires_at > clock_timestamp()
    AND k.id = s.key_id AND k.studio_id = s.studio_id AND k.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
RETURNING s.expires_at
"""


async def exchange(conn: Connection, link: asyncpg.Record, secret_hash: bytes) -> datetime | None:
    """Uses the link up. None if it was used or has expired."""
    found: datetime | None = await conn.fetchval(EXCHANGE, link["id"], link["secret_hash"], secret_hash)
    return found


OPEN_LINKS = """
SELECT id, link_hash AS secret_hash FROM console_sessions
WHERE id = ANY ($1) AND link_hash IS NOT NULL AND ended_at IS NULL
"""


async def open_links(conn: Connection, link_ids: Sequence[str]) -> Sequence[asyncpg.Record]:
    return await conn.fetch(OPEN_LINKS, link_ids)


PRESENTED = """
SELECT id, key_id, scopes, secret_hash, expires_at FROM console_sessions
WHERE id = ANY ($1) AND secret_hash IS NOT NULL AND ended_at IS NULL AND expires_at > clock_timestamp()
"""


async def presented(conn: Connection, session_ids: Sequence[str]) -> Sequence[asyncpg.Record]:
    """The live sessions with these ids, with the hashes that their secrets have to match."""
    return await conn.fetch(PRESENTED, session_ids)


END = "UPDATE console_sessions SET ended_at = clock_timestamp() WHERE studio_id = $1 AND id = $2"


async def end(conn: Connection, studio_id: str, session_id: str) -> None:
    await conn.execute(END, studio_id, session_id)
