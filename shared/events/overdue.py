"""Studios whose events are not acknowledged in time, for the comparison with the event log."""

from msgspec import Struct

from shared.db.database import Connection
from shared.events.backlog import COUNTED

# An acknowledgement usually takes less than a second.
OVERDUE_SECONDS = 60.0
# Only the oldest rows are read, and only some of them are listed. This bounds the work, however long the
# event log was unavailable.
STUDIOS = 20
EVENTS = 20


class OverdueStudio(Struct, kw_only=True):
    """Its overdue events by state. `event_ids` are the oldest of them."""

    studio_id: str
    waiting: int
    in_flight: int
    parked: int
    event_ids: list[str]


STUDIOS_OVERDUE = """
SELECT studio_id::text, count(*) FILTER (WHERE parked_at IS NULL AND sent_at IS NULL) AS waiting,
       count(*) FILTER (WHERE parked_at IS NULL AND sent_at IS NOT NULL) AS in_flight,
       count(*) FILTER (WHERE parked_at IS NOT NULL) AS parked,
       (array_agg(event_id::text ORDER BY id))[1:$4] AS event_ids
FROM (SELECT id, studio_id, event_id, sent_at, parked_at, created_at FROM outbox
      ORDER BY id LIMIT $2) AS oldest
WHERE created_at < clock_timestamp() - $1 * interval '1 second'
GROUP BY studio_id ORDER BY count(*) DESC, studio_id LIMIT $3
"""


async def studios_overdue(conn: Connection, seconds: float = OVERDUE_SECONDS) -> list[OverdueStudio]:
    rows = await conn.fetch(STUDIOS_OVERDUE, seconds, COUNTED, STUDIOS, EVENTS)
    return [OverdueStudio(**dict(row)) for row in rows]
