"""`studioctl sequences advance --offline`: directly in a restored database, before any service is started.

A service that is started first would number the events in its restored outbox, and those that the broker
still has, with numbers that partners have seen already.
"""

from pathlib import Path

import asyncpg

from services.cli.errors import CommandFailed
from services.cli.run_async import run_async
from shared.settings import Settings

STATEMENT = Path(__file__).resolve().parent.parent / "webhooks" / "store" / "advance_sequences.sql"
# If each service has its own database, the others have none.
EXISTS = "SELECT to_regclass('webhooks.event_counters') IS NOT NULL"
COUNT = "SELECT count(*) FROM webhooks.event_counters"


def advance_offline(settings: Settings, by: int) -> dict[str, object]:
    url = settings.database_direct_url or settings.database_url
    if url is None:
        raise CommandFailed("Set STUDIO_DATABASE_URL to the role that runs the migrations.")
    studios = run_async(advance_in_database(url, by))
    return {"object": "sequences_advanced", "studios": studios, "by": by}


async def advance_in_database(url: str, by: int) -> int:
    """Returns how many studios have a sequence. The others start after the jump, too."""
    conn = await asyncpg.connect(url)
    try:
        # In one transaction: behind a transaction pooler the next one may run in another session.
        async with conn.transaction():
            await conn.execute("SELECT set_config('studio.advance_by', $1, true)", str(by))
            await conn.execute(STATEMENT.read_text())
            return int(await conn.fetchval(COUNT)) if await conn.fetchval(EXISTS) else 0
    finally:
        await conn.close()
