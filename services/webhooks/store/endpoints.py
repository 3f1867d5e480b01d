"""Endpoints and their signing secrets. A partner sees those of its client, an operator all of the studio."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg
import msgspec
from msgspec import Struct

from services.webhooks.rules.visibility import Subscriber, View
from services.webhooks.wire.endpoints import Endpoint, EndpointCreate
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.http.pages import start_after
from shared.wire import new_id


class StoredEndpoint(Struct, kw_only=True):
    shown: Endpoint
    client_id: str
    view: View


COLUMNS = """id, client_id, url, description, event_types, scopes, location_ids, status, disabled_reason,
fifo, rate_limit, key_id, created_at"""
# The caller's own endpoints, or all of the studio for an operator.
OWN = "studio_id = $1 AND (client_id = $2 OR $3) AND deleted_at IS NULL"


def _own(caller: Caller) -> tuple[str, str, bool]:
    return caller.studio_id, caller.client_id, caller.actor == "operator"


def _stored(row: asyncpg.Record) -> StoredEndpoint:
    shown = msgspec.convert(dict(row), Endpoint)
    return StoredEndpoint(shown=shown, client_id=row["client_id"], view=_view(row))


def unique(event_types: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(event_types))


INSERT = f"""
WITH made AS (
    INSERT INTO endpoints (studio_id, id, client_id, url, description, event_types, scopes, location_ids,
                           fifo, rate_limit, key_id, url_key_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) RETURNING studio_id, {COLUMNS}
), lane AS (
    INSERT INTO lanes (endpoint_id, studio_id) SELECT id, studio_id FROM made
)
SELECT {COLUMNS} FROM made
"""  # noqa: S608


async def insert(conn: Connection, caller: Caller, endpoint_id: str, body: EndpointCreate) -> StoredEndpoint:
    row = await conn.fetchrow(
        INSERT,
        caller.studio_id,
        endpoint_id,
        caller.client_id,
        body.url,
        body.description,
        unique(body.event_types),
        sorted(caller.scopes),
        None if caller.location_ids is None else list(caller.location_ids),
        body.fifo,
        body.rate_limit,
        caller.key_id or None,
    )
    assert row is not None
    return _stored(row)


GET = f"SELECT {COLUMNS} FROM endpoints WHERE {OWN} AND id = $4"  # noqa: S608


async def get(
    conn: Connection, caller: Caller, endpoint_id: str, *, lock: bool = False
) -> StoredEndpoint | None:
    row = await conn.fetchrow(GET + (" FOR NO KEY UPDATE" if lock else ""), *_own(caller), endpoint_id)
    return _stored(row) if row else None


VIEW = "SELECT scopes, location_ids FROM endpoints WHERE studio_id = $1 AND id = $2"


async def view_of(conn: Connection, caller: Caller, endpoint_id: str) -> View | None:
    """Also of one that was deleted."""
    row = await conn.fetchrow(VIEW, caller.studio_id, endpoint_id)
    return _view(row) if row else None


PLACE = f"SELECT created_at, id FROM endpoints WHERE {OWN} AND id = $4"  # noqa: S608
LIST = f"""
SELECT {COLUMNS} FROM endpoints WHERE {OWN} AND (created_at, id) > ($4, $5)
ORDER BY created_at, id LIMIT $6
"""  # noqa: S608


async def list_own(conn: Connection, caller: Caller, cursor: str | None, limit: int) -> list[Endpoint]:
    after = await start_after(conn, PLACE, cursor, *_own(caller))
    return [_stored(row).shown for row in await conn.fetch(LIST, *_own(caller), *after, limit)]


VIEWS = f"SELECT id, scopes, location_ids FROM endpoints WHERE {OWN}"  # noqa: S608


async def views(conn: Connection, caller: Caller) -> dict[str, View]:
    """What each of the client's endpoints sees."""
    return {row["id"]: _view(row) for row in await conn.fetch(VIEWS, *_own(caller))}


UPDATE = f"""
UPDATE endpoints SET url = $3, description = $4, event_types = $5, status = $6, disabled_reason = $7,
       fifo = $8, rate_limit = $9, url_key_id = CASE WHEN url = $3 THEN url_key_id ELSE $10 END
WHERE studio_id = $1 AND id = $2 RETURNING {COLUMNS}
"""  # noqa: S608


async def update(conn: Connection, caller: Caller, changed: Endpoint) -> StoredEndpoint:
    row = await conn.fetchrow(
        UPDATE,
        caller.studio_id,
        changed.id,
        changed.url,
        changed.description,
        unique(changed.event_types),
        changed.status,
        changed.disabled_reason,
        changed.fifo,
        changed.rate_limit,
        caller.key_id or None,
    )
    assert row is not None
    return _stored(row)


DELETE = """
WITH gone AS (UPDATE endpoints SET deleted_at = now(), status = 'disabled' WHERE studio_id = $1 AND id = $2)
UPDATE lanes SET due_at = 'infinity', wakes = wakes + 1, changes = changes + 1 WHERE endpoint_id = $2
"""


async def mark_deleted(conn: Connection, caller: Caller, endpoint_id: str) -> None:
    """It disappears at once. Its deliveries are removed later, in batches."""
    await conn.execute(DELETE, caller.studio_id, endpoint_id)


DISABLE = """
WITH off AS (
    UPDATE endpoints SET status = 'disabled', disabled_reason = $3
    WHERE studio_id = $1 AND id = ANY($2::uuid[]) AND status = 'enabled' AND deleted_at IS NULL RETURNING id
)
UPDATE lanes SET due_at = 'infinity', wakes = wakes + 1, changes = changes + 1
WHERE endpoint_id IN (SELECT id FROM off) RETURNING endpoint_id
"""


async def disable(conn: Connection, studio_id: str, endpoint_ids: Sequence[str], reason: str) -> list[str]:
    """Those that were enabled."""
    rows = await conn.fetch(DISABLE, studio_id, list(endpoint_ids), reason)
    return sorted(row["endpoint_id"] for row in rows)


LOCK_CLIENT = "SELECT pg_advisory_xact_lock(hashtextextended('endpoints ' || $1::text || ' ' || $2::text, 0))"
COUNT = f"SELECT count(*) FROM endpoints WHERE {OWN}"  # noqa: S608


async def count_for_insert(conn: Connection, caller: Caller) -> int:
    """How many the client has. Until the commit nobody else can add one, so the limit cannot be exceeded."""
    await conn.execute(LOCK_CLIENT, caller.studio_id, caller.client_id)
    return int(await conn.fetchval(COUNT, *_own(caller)))


ENABLED_OF = """
SELECT id FROM endpoints WHERE studio_id = $1 AND (client_id = $2 OR key_id = $3 OR url_key_id = $3)
  AND status = 'enabled' AND deleted_at IS NULL
"""


async def enabled_of(
    conn: Connection, studio_id: str, *, client_id: str | None = None, key_id: str | None = None
) -> list[str]:
    """Those of the client; or those that the key created, and those whose current URL it set."""
    return [row["id"] for row in await conn.fetch(ENABLED_OF, studio_id, client_id, key_id)]


SUBSCRIBERS = """
SELECT array_agg(id) AS endpoint_ids, studio_id, client_id, event_types, scopes, location_ids FROM endpoints
WHERE studio_id = ANY($1::uuid[]) AND status = 'enabled' AND deleted_at IS NULL
GROUP BY studio_id, client_id, event_types, scopes, location_ids
"""


async def subscribers(conn: Connection, studio_ids: Sequence[str]) -> list[Subscriber]:
    """All enabled endpoints of these studios. For the event log, so there is no caller to filter by."""
    return [read_subscriber(row) for row in await conn.fetch(SUBSCRIBERS, list(studio_ids))]


def read_subscriber(row: asyncpg.Record) -> Subscriber:
    return Subscriber(
        endpoint_ids=row["endpoint_ids"],
        studio_id=row["studio_id"],
        client_id=row["client_id"],
        event_types=frozenset(row["event_types"]),
        view=_view(row),
    )


def _view(row: asyncpg.Record) -> View:
    locations = row["location_ids"]
    return View(frozenset(row["scopes"]), None if locations is None else frozenset(locations))


ADD_SECRET = "INSERT INTO secrets (studio_id, id, endpoint_id, sealed) VALUES ($1, $2, $3, $4)"


async def add_secret(conn: Connection, studio_id: str, endpoint_id: str, sealed: bytes) -> None:
    """Encrypted. During a rotation an endpoint has more than one."""
    await conn.execute(ADD_SECRET, studio_id, new_id(), endpoint_id, sealed)


RETIRE = """
UPDATE secrets SET expires_at = least(coalesce(expires_at, $3), $3) WHERE studio_id = $1 AND endpoint_id = $2
"""
KEEP_NEWEST = """
DELETE FROM secrets WHERE studio_id = $1 AND endpoint_id = $2 AND id NOT IN (
    SELECT id FROM secrets WHERE studio_id = $1 AND endpoint_id = $2
    AND (expires_at IS NULL OR expires_at > now()) ORDER BY created_at DESC, id DESC LIMIT $3)
"""


async def retire_secrets(
    conn: Connection, studio_id: str, endpoint_id: str, at: datetime, *, keep: int
) -> None:
    """The newest live ones expire at `at`, or earlier if they were to expire earlier. Others are removed."""
    await conn.execute(RETIRE, studio_id, endpoint_id, at)
    await conn.execute(KEEP_NEWEST, studio_id, endpoint_id, keep)


REMOVE_EXPIRED = "DELETE FROM secrets WHERE expires_at < now() - interval '1 minute'"


async def remove_expired_secrets(conn: Connection) -> None:
    await conn.execute(REMOVE_EXPIRED)
