"""Clients: a partner's integration with one studio, with its own rate."""

from services.gateway.wire.key import Client
from shared.db.database import Connection
from shared.errors import NotFound
from shared.wire import new_id

DEFAULT_RATE = 50.0
DEFAULT_BURST = 200

# A client that gets a key again is live again.
ENSURE = """
INSERT INTO clients (studio_id, id, name, rate, burst) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (studio_id, name) DO UPDATE SET live = true
RETURNING id
"""


async def ensure(conn: Connection, studio_id: str, name: str) -> str:
    return str(await conn.fetchval(ENSURE, studio_id, new_id(), name, DEFAULT_RATE, DEFAULT_BURST))


LIST = """
SELECT id, studio_id, name, rate, burst, created_at FROM clients
WHERE $1::uuid IS NULL OR studio_id = $1
ORDER BY created_at, id
"""


async def all_of(conn: Connection, studio_id: str | None) -> list[Client]:
    return [Client(**row) for row in await conn.fetch(LIST, studio_id)]


FIND = "SELECT id FROM clients WHERE id::text = lower($1) OR name = $1"
SET = """
WITH client AS (
    UPDATE clients SET rate = coalesce($2, rate), burst = coalesce($3, burst) WHERE id = $1
    RETURNING id, studio_id, name, rate, burst, created_at
), told AS (
    UPDATE keys SET changed_at = clock_timestamp() FROM client
    WHERE keys.studio_id = client.studio_id AND keys.client_id = client.id
)
SELECT * FROM client
"""


async def set_limits(conn: Connection, client: str, rate: float | None, burst: int | None) -> Client:
    """`client` is an id, or a name that only one client has."""
    found = await conn.fetch(FIND, client)
    if len(found) != 1:
        text = (
            "There is no such client."
            if not found
            else "Several studios have a client of this name: use its id."
        )
        raise NotFound(text)
    return Client(**await conn.fetchrow(SET, found[0]["id"], rate, burst))  # type: ignore[arg-type]


WITHOUT_LIVE_KEY = """
SELECT studio_id, id FROM clients c
WHERE live AND NOT EXISTS (
    SELECT FROM keys k WHERE k.studio_id = c.studio_id AND k.client_id = c.id AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()))
LIMIT 100
"""


async def without_live_key(conn: Connection) -> list[tuple[str, str]]:
    return [(row["studio_id"], row["id"]) for row in await conn.fetch(WITHOUT_LIVE_KEY)]


async def mark_inactive(conn: Connection, studio_id: str, client_id: str) -> None:
    await conn.execute(
        "UPDATE clients SET live = false WHERE studio_id = $1 AND id = $2", studio_id, client_id
    )
