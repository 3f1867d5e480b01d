"""What the database's clock has shown, and the waiting retries that are moved when it is set back."""

from datetime import datetime

from msgspec import Struct

from shared.db.database import ASYNCHRONOUS_COMMIT, Connection

# A smaller step delays retries by less than this.
TOLERANCE_SECONDS = 5.0
# The retries of one transaction: results that are written meanwhile wait for it.
MAX_BATCH = 2_000

# Several dispatchers do this every second, but the row is written once a second. If a crash undoes a write,
# the next one follows soon. It is never lowered here: the clock may be set back after `now()` was read.
NOTE = f"""
WITH noted AS (
    UPDATE clock SET seen_at = greatest(seen_at, clock_timestamp())
    WHERE seen_at < now() - interval '0.9 s' AND shift_seconds IS NULL AND {ASYNCHRONOUS_COMMIT}
)
SELECT shift_seconds IS NOT NULL OR seen_at > now() + $1 * interval '1 second' FROM clock
"""  # noqa: S608


async def note(conn: Connection) -> bool:
    """True if the clock was set back and retries are to be moved."""
    return bool(await conn.fetchval(NOTE, TOLERANCE_SECONDS))


BEGIN = """
UPDATE clock SET shift_seconds = extract(epoch FROM seen_at - clock_timestamp()), shifted_until = NULL,
       last_endpoint_id = NULL, last_at = NULL, last_id = NULL
WHERE shift_seconds IS NULL AND seen_at > clock_timestamp() + $1 * interval '1 second'
RETURNING shift_seconds
"""


async def begin_shift(conn: Connection) -> float | None:
    """Records by how much the clock was set back, unless that is recorded already."""
    seconds: float | None = await conn.fetchval(BEGIN, TOLERANCE_SECONDS)
    return seconds


class LastShifted(Struct, frozen=True):
    """The last retry of a lane that is done. `at`: when it was due before."""

    endpoint_id: str
    at: datetime
    id: str


class Shift(Struct, frozen=True):
    """Lanes up to `until`, in the order of their ids, are done, and retries of the next one up to `last`."""

    seconds: float
    until: str | None
    last: LastShifted | None


CLAIM = """
SELECT shift_seconds, shifted_until::text, last_endpoint_id::text, last_at, last_id::text
FROM clock WHERE shift_seconds IS NOT NULL FOR UPDATE SKIP LOCKED
"""


async def claim_shift(conn: Connection) -> Shift | None:
    """Until the commit nobody else moves retries. None if somebody does, or if all is done."""
    row = await conn.fetchrow(CLAIM)
    if row is None:
        return None
    endpoint_id, at, id_ = row["last_endpoint_id"], row["last_at"], row["last_id"]
    last = LastShifted(endpoint_id, at, id_) if endpoint_id else None
    return Shift(row["shift_seconds"], row["shifted_until"], last)


NEXT = """
SELECT endpoint_id::text, open_since, open_until FROM lanes
WHERE ($1::uuid IS NULL OR endpoint_id > $1) AND (open_since <= open_until OR paused_until IS NOT NULL)
ORDER BY endpoint_id LIMIT 1
"""
# In the order of their times, so none is moved twice: a retry that was moved is before those that were not.
LAST_OF_BATCH = """
SELECT at, id::text, count(*) OVER () AS size FROM (
    SELECT next_attempt_at AS at, id FROM deliveries
    WHERE endpoint_id = $1 AND status = 'pending' AND step > 0 AND next_attempt_at > now()
      AND event_created_at >= $2 AND event_created_at <= $3
      AND (next_attempt_at, id) > (coalesce($4, '-infinity'::timestamptz), coalesce($5, $1))
    ORDER BY next_attempt_at, id LIMIT $6) AS batch
ORDER BY batch.at DESC, batch.id DESC LIMIT 1
"""
# What was due by the clock's earlier time is due now.
SHIFT_RETRIES = """
UPDATE deliveries SET next_attempt_at = greatest(now(), next_attempt_at - $6 * interval '1 second')
WHERE endpoint_id = $1 AND status = 'pending' AND step > 0 AND next_attempt_at > now()
  AND event_created_at >= $2 AND event_created_at <= $3
  AND (next_attempt_at, id) > (coalesce($4, '-infinity'::timestamptz), coalesce($5, $1))
  AND (next_attempt_at, id) <= ($7, $8::uuid)
"""
CONTINUE = "UPDATE clock SET last_endpoint_id = $1, last_at = $2, last_id = $3"
# `wakes`: a release that began before this has read the old times, and must not write them.
SHIFT_LANE = """
UPDATE lanes SET due_at = CASE WHEN due_at > now() THEN greatest(now(), due_at - $2 * interval '1 second')
                               ELSE due_at END,
       paused_until = paused_until - $2 * interval '1 second', wakes = wakes + 1
WHERE endpoint_id = $1
"""
ADVANCE = "UPDATE clock SET shifted_until = $1, last_endpoint_id = NULL, last_at = NULL, last_id = NULL"
# What the clock showed when the shift began. If it shows less now, it was set back again.
END = """
UPDATE clock SET seen_at = greatest(seen_at - shift_seconds * interval '1 second', clock_timestamp()),
       shift_seconds = NULL, shifted_until = NULL, last_endpoint_id = NULL, last_at = NULL, last_id = NULL
"""


async def shift_next_batch(conn: Connection, shift: Shift, limit: int = MAX_BATCH) -> bool:
    """False if there was no lane left. The retries come before their lane, as in a retry by hand."""
    lane = await conn.fetchrow(NEXT, shift.until)
    if lane is None:
        await conn.execute(END)
        return False
    endpoint_id: str = lane["endpoint_id"]
    # Of another lane if that one has been drained or deleted since.
    last = shift.last if shift.last and shift.last.endpoint_id == endpoint_id else None
    after = (last.at, last.id) if last else (None, None)
    rest = (endpoint_id, lane["open_since"], lane["open_until"], *after)
    batch = await conn.fetchrow(LAST_OF_BATCH, *rest, limit)
    if batch is not None:
        await conn.execute(SHIFT_RETRIES, *rest, shift.seconds, batch["at"], batch["id"])
    if batch is not None and batch["size"] == limit:
        await conn.execute(CONTINUE, endpoint_id, batch["at"], batch["id"])
        return True
    await conn.execute(SHIFT_LANE, endpoint_id, shift.seconds)
    await conn.execute(ADVANCE, endpoint_id)
    return True
