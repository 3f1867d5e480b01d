"""What RabbitMQ still holds from after the backup does no harm to a restored outbox."""

from typing import Any

import asyncpg

from services.cli.database import advance_in_database
from shared.events.outbox import add_events, delete_logged, partition_of
from shared.wire import new_id
from tests.harness.database_layout import open_database
from tests.shared.events.staged_bus import STUDIO
from tests.shared.events.staged_bus import event as booking_event


async def test_replies_from_after_the_backup_delete_nothing(database_url: str) -> None:
    """In the restored database ids go on from the backup, so a row's id may be another event's."""
    db = await open_database(database_url, "bookings", size=2)
    written = booking_event(new_id(), 1)
    async with db.transaction() as conn:
        await add_events(conn, [written])
        row_id = await conn.fetchval("SELECT id FROM outbox")
    partition = partition_of(STUDIO)
    async with db.connection() as conn:
        await delete_logged(conn, [(partition, row_id, new_id())])
        assert await conn.fetchval("SELECT count(*) FROM outbox") == 1
        await delete_logged(conn, [(partition, row_id, written.id)])
        assert await conn.fetchval("SELECT count(*) FROM outbox") == 0, "the control"
    await db.close()


async def test_a_database_without_the_event_log_can_be_prepared_too(database_url: str) -> None:
    """As when each service has its own."""
    conn: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    await conn.execute("DROP SCHEMA webhooks CASCADE")
    await conn.close()
    assert await advance_in_database(database_url, 1_000_000) == 0
