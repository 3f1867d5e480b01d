"""What uses the database directly: `studioctl migrate` and `studioctl sequences advance --offline`."""

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

import asyncpg
import uvloop

from services.cli.command import CommandFailed
from shared.db.migrate import MigrationProblem, migrate
from shared.http.server import PortTaken
from shared.observability.log import set_up_logging
from shared.servers.problem import ServerProblem
from shared.settings import SERVICES, Settings


def run_async(work: Coroutine[Any, Any, Any]) -> Any:
    """Runs a command's coroutine. Expected errors become one sentence."""
    try:
        return uvloop.run(work)
    except (ServerProblem, PortTaken, MigrationProblem) as problem:
        raise CommandFailed(str(problem)) from None
    except (asyncpg.PostgresError, OSError) as problem:
        raise CommandFailed(f"The database cannot be used: {problem}") from None
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def migrate_schemas(settings: Settings, services: Sequence[str]) -> Any:
    """Schemas, roles and migrations, of all services if none is named."""
    if unknown := [name for name in services if name not in SERVICES]:
        raise CommandFailed(f"There is no service {', '.join(unknown)}.", exit_code=2)
    if settings.database_url is None:
        raise CommandFailed("Set STUDIO_DATABASE_URL to a role that may create roles and schemas.")
    set_up_logging(settings, "migrate")
    url = settings.database_direct_url or settings.database_url
    return run_async(migrate(url, services or SERVICES, passwords=settings.db_passwords))


STATEMENT = Path(__file__).resolve().parent.parent / "webhooks" / "store" / "advance_sequences.sql"
# If each service has its own database, the others have none.
EXISTS = "SELECT to_regclass('webhooks.event_counters') IS NOT NULL"
COUNT = "SELECT count(*) FROM webhooks.event_counters"


def advance_offline(settings: Settings, by: int) -> dict[str, object]:
    """Directly in a restored database, before any service is started.

    A service that is started first would number the events in its restored outbox, and those that the broker
    still has, with numbers that partners have seen already.
    """
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
