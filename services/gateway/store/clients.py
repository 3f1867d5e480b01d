"""Clients: a partner's integration with one studio, with its own limits."""

from datetime import timedelta

from msgspec import UNSET

from services.gateway.wire.key import Client, ClientSet
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.wire import new_id

DEFAULT_RATE = 50.0
DEFAULT_BURST = 200
AMBIGUOUS = "Several studios have a client with this name: use its id."

# A client that gets a key again is live again.
ENSURE = """
INSERT INTO clients (studio_id, id, name, rate, burst) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (studio_id, name) DO UPDATE SET live = true
RETURNING id
"""


async def ensure(conn: Connection, studio_id: str, name: str) -> str:
    return str(await conn.fetchval(ENSURE, studio_id, new_id(), name, DEFAULT_RATE, DEFAULT_BURST))


COLUMNS = "id, studio_id, name, rate, burst, hold_share::float8 AS hold_share, created_at"
LIST = f"""
SELECT {COLUMNS} FROM clients WHERE $1::uuid IS NULL OR studio_id = $1 ORDER BY created_at, id
"""  # noqa: S608


async def all_of(conn: Connection, studio_id: str | None) -> list[Client]:
    return [Client(**row) for row in await conn.fetch(LIST, studio_id)]


FIND = """
SELECT id FROM clients WHERE (id::text = lower($1) OR name = $1) AND ($2::uuid IS NULL OR studio_id = $2)
"""


async def find(conn: Connection, client: str, studio_id: str | None) -> str:
    """`client` is an id, or a name that only one client has, of the studio if one is given."""
    found = await conn.fetch(FIND, client, studio_id)
    if len(found) != 1:
        raise NotFound(AMBIGUOUS if found else "There is no such client.")
    return str(found[0]["id"])


SET = f"""
UPDATE clients SET rate = coalesce($2, rate), burst = coalesce($3, burst),
    hold_share = CASE WHEN $4 THEN $5::float8 ELSE hold_share END
WHERE id = $1 RETURNING {COLUMNS}
"""  # noqa: S608


async def set_limits(conn: Connection, client: str, wanted: ClientSet) -> Client:
    rate = None if wanted.rate is UNSET else wanted.rate
    burst = None if wanted.burst is UNSET else wanted.burst
    share = None if wanted.hold_share is UNSET else wanted.hold_share
    found = await find(conn, client, None)
    row = await conn.fetchrow(SET, found, rate, burst, wanted.hold_share is not UNSET, share)
    return Client(**row)  # type: ignore[arg-type]


NEWEST_LIVE_KEY = """
SELECT k.id, k.studio_id, k.client_id, k.scopes FROM keys k
WHERE k.client_id = $1 AND k.studio_id = (SELECT studio_id FROM clients WHERE id = $1)
    AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
ORDER BY k.created_at DESC, k.id DESC LIMIT 1
"""


async def newest_live_key(conn: Connection, client: str, studio_id: str | None) -> Caller | None:
    """The newest key as a caller."""
    row = await conn.fetchrow(NEWEST_LIVE_KEY, await find(conn, client, studio_id))
    if row is None:
        return None
    return Caller(
        studio_id=row["studio_id"],
        client_id=row["client_id"],
        key_id=row["id"],
        scopes=frozenset(row["scopes"]),
    )


WITHOUT_LIVE_KEY = """
SELECT studio_id, id FROM clients c
WHERE live AND NOT EXISTS (
    SELECT FROM keys k WHERE k.studio_id = c.studio_id AND k.client_id = c.id
        AND least(k.revoked_at, k.expires_at, 'infinity') > clock_timestamp() - $1::interval)
LIMIT 100
"""


# Until then another replica may still accept the last key.
REFUSED_AFTER = timedelta(seconds=2)


async def without_live_key(conn: Connection) -> list[tuple[str, str]]:
    """And without one that any replica accepts."""
    return [(row["studio_id"], row["id"]) for row in await conn.fetch(WITHOUT_LIVE_KEY, REFUSED_AFTER)]


async def mark_inactive(conn: Connection, studio_id: str, client_id: str) -> None:
    await conn.execute(
        "UPDATE clients SET live = false WHERE studio_id = $1 AND id = $2", studio_id, client_id
    )
