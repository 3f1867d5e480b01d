"""Moving both sequences forward after a restore: the studio's, and each endpoint's `webhook-sequence`."""

from collections.abc import Sequence

from shared.db.database import Connection

# Locked in the order of their ids, as the event log locks them. A studio whose first event came after the
# backup has no counter any more, so it gets one here: where new studios start, which is after earlier jumps.
LOCK_STUDIOS = """
INSERT INTO event_counters (studio_id)
SELECT id FROM unnest($1::uuid[]) AS studio (id) ORDER BY id
ON CONFLICT (studio_id) DO UPDATE SET last_sequence = event_counters.last_sequence
"""
ADVANCE_STUDIOS = (
    "UPDATE event_counters SET last_sequence = last_sequence + $2 WHERE studio_id = ANY($1::uuid[])"
)
ADVANCE_ENDPOINTS = """
UPDATE lanes SET last_sequence = last_sequence + $2
WHERE endpoint_id IN (
    SELECT endpoint_id FROM lanes WHERE studio_id = ANY($1::uuid[]) ORDER BY endpoint_id FOR UPDATE)
"""


async def advance(conn: Connection, studio_ids: Sequence[str], by: int) -> None:
    await conn.execute(LOCK_STUDIOS, studio_ids)
    await conn.execute(ADVANCE_STUDIOS, studio_ids, by)
    await conn.execute(ADVANCE_ENDPOINTS, studio_ids, by)
