"""Leads in the database, and the events that have converted some."""

from typing import Any

from services.forms.wire.json_text import read_row
from services.forms.wire.leads import StaffLead
from shared.db.database import Connection
from shared.errors import NotFound
from shared.events.outbox import OutboxRow
from shared.http.caller import Caller
from shared.http.pages import Page, page_by_size, start_after
from shared.wire import PageQuery

COLUMNS = """
id, email, first_name, source, status, lifecycle_stage, metadata::text AS metadata, created_at, last_name,
phone, notes, version, updated_at
"""
GET = f"SELECT {COLUMNS} FROM leads WHERE studio_id = $1 AND id = $2"  # noqa: S608


async def get(conn: Connection, caller: Caller, lead_id: str, *, lock: bool = False) -> StaffLead:
    row = await conn.fetchrow(f"{GET} FOR NO KEY UPDATE" if lock else GET, caller.studio_id, lead_id)
    if row is None:
        raise NotFound
    return lead_of(row)


FIND_LOCKED = f"""
SELECT {COLUMNS}
FROM leads WHERE studio_id = $1 AND email = $2 FOR NO KEY UPDATE
"""  # noqa: S608


async def find_locked(conn: Connection, caller: Caller, email: str) -> StaffLead | None:
    row = await conn.fetchrow(FIND_LOCKED, caller.studio_id, email)
    return lead_of(row) if row is not None else None


ID_OF = "SELECT id FROM leads WHERE studio_id = $1 AND email = $2"


async def id_of(conn: Connection, caller: Caller, email: str) -> str | None:
    found: str | None = await conn.fetchval(ID_OF, caller.studio_id, email)
    return found


CURSOR = "SELECT created_at, id FROM leads WHERE studio_id = $1 AND id = $2"
PAGE = f"""
SELECT {COLUMNS}
FROM leads WHERE studio_id = $1 AND (created_at, id) > ($2, $3)
ORDER BY created_at, id LIMIT $4
"""  # noqa: S608


async def page(conn: Connection, caller: Caller, query: PageQuery) -> Page[StaffLead]:
    after = await start_after(conn, CURSOR, query.cursor, caller.studio_id)
    return await page_by_size(conn, PAGE, (caller.studio_id,), after, query.limit, lead_of)


# Waits for a concurrent insert of the same email, then does nothing: only one row is created. With its event,
# in one statement: on a busy machine each round trip waits for a processor several times.
INSERT = """
WITH made AS (
    INSERT INTO leads (studio_id, id, email, first_name, source, status, lifecycle_stage, metadata,
                       created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::json, $9, $9)
    ON CONFLICT (studio_id, email) DO NOTHING
    RETURNING id
)
INSERT INTO outbox (studio_id, partition, event_id, type, envelope, traceparent)
SELECT $1, $10, $11, $12, $13, $14 FROM made
RETURNING event_id
"""


async def insert_if_new(conn: Connection, caller: Caller, lead: StaffLead, event: OutboxRow) -> bool:
    """False if the studio already has a lead with this email: then there is no event either."""
    inserted = await conn.fetchval(
        INSERT,
        caller.studio_id,
        lead.id,
        lead.email,
        lead.first_name,
        lead.source,
        lead.status,
        lead.lifecycle_stage,
        bytes(lead.metadata).decode(),
        lead.created_at,
        event.partition,
        event.event_id,
        event.type,
        event.envelope,
        event.traceparent,
    )
    return inserted is not None


UPDATE = f"""
UPDATE leads SET email = $3, first_name = $4, last_name = $5, phone = $6, source = $7, status = $8,
    lifecycle_stage = $9, notes = $10, metadata = $11::text::json, version = version + 1,
    updated_at = clock_timestamp()
WHERE studio_id = $1 AND id = $2
RETURNING {COLUMNS}
"""  # noqa: S608


async def update(conn: Connection, caller: Caller, lead: StaffLead) -> StaffLead:
    """Stores `lead`, which was read under a lock in this transaction."""
    person = lead.email, lead.first_name, lead.last_name, lead.phone
    state = lead.source, lead.status, lead.lifecycle_stage, lead.notes, bytes(lead.metadata).decode()
    return lead_of(await conn.fetchrow(UPDATE, caller.studio_id, lead.id, *person, *state))


def lead_of(row: Any) -> StaffLead:
    return read_row(row, StaffLead, "metadata")


# 30 days is far longer than any redelivery takes. Each insert deletes a few old rows.
INSERT_EVENT = """
WITH old AS (
    DELETE FROM consumed_events WHERE event_id IN (
        SELECT event_id FROM consumed_events WHERE consumed_at < now() - interval '30 days'
        ORDER BY consumed_at LIMIT 10 FOR UPDATE SKIP LOCKED)
)
INSERT INTO consumed_events (event_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING event_id
"""


async def is_new_event(conn: Connection, event_id: str) -> bool:
    """True once per event. Call it in the transaction that applies the event."""
    return await conn.fetchval(INSERT_EVENT, event_id) is not None
