"""The daily partitions of the event log and the deliveries: functions/log_days.sql."""

from datetime import datetime

from shared.db.database import Connection

LAST = "SELECT coalesce(max(until), '0001-01-01 00:00+00') FROM log_days"


async def last(conn: Connection) -> datetime:
    """The end of the last day that has a partition."""
    found: datetime = await conn.fetchval(LAST)
    return found


ADD = "SELECT add_log_day()"


async def add(conn: Connection) -> datetime:
    """Adds the next day. Returns its end."""
    found: datetime = await conn.fetchval(ADD)
    return found


EXPIRED = """
SELECT until FROM log_days
WHERE until <= least($1, date_trunc('day', now() - interval '30 days', 'UTC')) ORDER BY until
"""


async def expired(conn: Connection, before: datetime) -> list[datetime]:
    """The ends of the days that ended at `before` or earlier, and are expired by the database's clock too."""
    return [row["until"] for row in await conn.fetch(EXPIRED, before)]


DROP = "SELECT drop_log_day($1, $2)"
FORGET = "DELETE FROM event_days WHERE until <= $1"


async def drop(conn: Connection, until: datetime) -> None:
    """Outside a transaction: each table is locked alone. Can be repeated if it fails in between."""
    await conn.execute(DROP, until, "deliveries")
    await conn.execute(DROP, until, "events")
    await conn.execute(FORGET, until)


# In a new database the first partition is a day like the others, and has no index by age.
FIRST = """
SELECT until FROM log_days
WHERE since < '1000-01-01' AND to_regclass('webhooks.events_before_by_age') IS NOT NULL
"""


async def end_of_first(conn: Connection) -> datetime | None:
    """The end of the first partition, if it has rows from before there were others. None once it is gone."""
    found: datetime | None = await conn.fetchval(FIRST)
    return found


BOUNDS = "SELECT now(), coalesce(min(since), '0001-01-01 00:00+00') FROM log_days"


async def clock_and_first(conn: Connection) -> tuple[datetime, datetime]:
    """The database's clock, and the start of the oldest day that was not dropped."""
    row = await conn.fetchrow(BOUNDS)
    assert row is not None
    return row[0], row[1]
