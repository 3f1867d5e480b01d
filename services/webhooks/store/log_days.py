"""The daily partitions of the event log and the deliveries: functions/log_days.sql."""

from datetime import datetime

from shared.db.database import Connection

LAST = "SELECT max(until) FROM log_days"


async def last(conn: Connection) -> datetime:
    """The end of the last day that has a partition."""
    found: datetime = await conn.fetchval(LAST)
    return found


ADD = "SELECT add_log_day()"


async def add(conn: Connection) -> datetime:
    """Adds the next day. Returns its end."""
    found: datetime = await conn.fetchval(ADD)
    return found


EXPIRED = "SELECT until FROM log_days WHERE until <= $1 ORDER BY until"


async def expired(conn: Connection, before: datetime) -> list[datetime]:
    """The ends of the days that ended at `before` or earlier."""
    return [row["until"] for row in await conn.fetch(EXPIRED, before)]


DROP = "SELECT drop_log_day($1, $2)"
FORGET = "DELETE FROM event_days WHERE until <= $1"


async def drop(conn: Connection, until: datetime) -> None:
    """Outside a transaction: each table is locked alone. Can be repeated if it fails in between."""
    await conn.execute(DROP, until, "deliveries")
    await conn.execute(DROP, until, "events")
    await conn.execute(FORGET, until)


# The end of the first partition, which holds all rows from before there were others. None once it is gone.
FIRST = "SELECT until FROM log_days WHERE since < '1000-01-01'"


async def end_of_first(conn: Connection) -> datetime | None:
    found: datetime | None = await conn.fetchval(FIRST)
    return found
