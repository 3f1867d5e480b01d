"""One sample of the status for each minute of the last hour."""

from typing import Any

from services.gateway.wire.request import StatusSample
from shared.db.database import Connection

# Every gateway takes one; the first in a minute counts.
ADD = """
INSERT INTO status_history (at, sample) VALUES (date_trunc('minute', clock_timestamp()), $1)
ON CONFLICT DO NOTHING
"""


async def add(conn: Connection, sample: dict[str, Any]) -> None:
    await conn.execute(ADD, sample)


LIST = "SELECT at, sample FROM status_history WHERE at > clock_timestamp() - interval '1 hour' ORDER BY at"


async def all_of(conn: Connection) -> list[StatusSample]:
    return [StatusSample(at=row["at"], **row["sample"]) for row in await conn.fetch(LIST)]
