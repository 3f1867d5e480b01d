"""Events that so many endpoints want that their deliveries are made in several transactions.

The first one stores the event and says which endpoints are left. Whoever takes some of them holds the
studio's counter, so two replicas that both log the studio's events share the work.
"""

from collections.abc import Sequence

import msgspec

from services.webhooks.store.event_log import StoredEvent
from shared.db.database import Connection

BEGIN = "INSERT INTO fan_outs (studio_id, event_id, event_created_at, endpoint_ids) VALUES ($1, $2, $3, $4)"


async def begin(conn: Connection, event: StoredEvent, endpoint_ids: Sequence[str]) -> None:
    await conn.execute(BEGIN, event.studio_id, event.id, event.created_at, endpoint_ids)


NEXT = """
SELECT e.studio_id, e.id, e.sequence, e.type, e.location_id, e.created_at, ''::bytea AS body,
       f.endpoint_ids[:$2]
FROM fan_outs f JOIN events e
  ON e.studio_id = f.studio_id AND e.id = f.event_id AND e.created_at = f.event_created_at
WHERE f.studio_id = $1
"""
REST = "UPDATE fan_outs SET endpoint_ids = endpoint_ids[$2 + 1:] WHERE studio_id = $1"
END = "DELETE FROM fan_outs WHERE studio_id = $1"


async def take(conn: Connection, studio_id: str, count: int) -> list[tuple[StoredEvent, str]]:
    """The event with the next endpoints; fewer than `count` are the last ones.

    None are left, too, if the event was dropped meanwhile.
    """
    row = await conn.fetchrow(NEXT, studio_id, count)
    if row is None or len(row["endpoint_ids"]) < count:
        await conn.execute(END, studio_id)
    else:
        await conn.execute(REST, studio_id, count)
    if row is None:
        return []
    event = msgspec.convert(dict(row), StoredEvent)
    return [(event, endpoint_id) for endpoint_id in row["endpoint_ids"]]


UNFINISHED = "SELECT event_id FROM fan_outs WHERE studio_id = $1"


async def unfinished_event(conn: Connection, studio_id: str) -> str | None:
    found: str | None = await conn.fetchval(UNFINISHED, studio_id)
    return found
