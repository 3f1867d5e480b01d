"""What the oldest rows of the outbox are, by bucket."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from shared.db.database import Connection

# Rows that are in flight for longer are late. An acknowledgement usually takes less than a tenth of it.
LATE_SECONDS = 2.0


class BucketLook(Struct, frozen=True):
    """How many of the rows that were read belong to the bucket, how many are late, and the lowest ids."""

    bucket: int
    rows: int
    late: int
    lowest: int | None
    lowest_waiting: int | None


LATE = """
count(*) FILTER (WHERE sent_at NOT BETWEEN clock_timestamp() - {seconds} * interval '1 second'
                                       AND clock_timestamp() + interval '1 minute')
"""
LOOK = f"""
SELECT bucket, count(*) AS rows, {LATE.format(seconds="$4")} AS late, min(id) AS lowest,
       min(id) FILTER (WHERE sent_at IS NULL) AS lowest_waiting
FROM oldest_outbox_rows($1, '{{}}', $2, $3) GROUP BY bucket
"""  # noqa: S608


async def look(conn: Connection, buckets: Sequence[int], start: int, rows: int) -> list[BucketLook]:
    """The oldest rows of all these buckets together."""
    found = await conn.fetch(LOOK, buckets, start, rows, LATE_SECONDS)
    return [BucketLook(*one) for one in found]


LOOK_AT_EACH = f"""
SELECT one.bucket, count(id) AS rows, {LATE.format(seconds="$4")} AS late, min(id) AS lowest,
       min(id) FILTER (WHERE sent_at IS NULL) AS lowest_waiting
FROM unnest($1::smallint[], $2::bigint[]) AS one (bucket, start)
LEFT JOIN LATERAL oldest_outbox_rows(ARRAY[one.bucket], '{{}}', one.start, $3) AS oldest ON true
GROUP BY one.bucket
"""  # noqa: S608


async def look_at_each(conn: Connection, starts: Mapping[int, int], rows: int) -> list[BucketLook]:
    """The oldest rows of each of these buckets. `starts` has the id to start from."""
    found = await conn.fetch(LOOK_AT_EACH, list(starts), list(starts.values()), rows, LATE_SECONDS)
    return [BucketLook(*one) for one in found]


HOT_STUDIOS = """
SELECT studio_id FROM oldest_outbox_rows($1, '{}', $2, $3)
WHERE studio_id IS NOT NULL GROUP BY studio_id HAVING count(*) >= $3::integer / 2
"""
LOWEST_OF_OTHERS = """
SELECT id FROM outbox
WHERE bucket = ANY ($1::smallint[]) AND parked_at IS NULL AND sent_at IS NULL AND id >= $2
  AND coalesce(studio_id <> ALL ($3::uuid[]), true)
ORDER BY id LIMIT 1
"""


async def look_for_hot_studios(
    conn: Connection, buckets: Sequence[int], start: int, rows: int
) -> tuple[list[str], int | None]:
    """Studios that have at least half of the oldest rows, and the lowest waiting row of all others."""
    studios = [row["studio_id"] for row in await conn.fetch(HOT_STUDIOS, buckets, start, rows)]
    lowest = await conn.fetchval(LOWEST_OF_OTHERS, buckets, start, studios) if studios else None
    return studios, lowest
