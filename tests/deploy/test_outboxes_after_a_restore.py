"""What RabbitMQ still holds from after the backup does no harm to a restored outbox."""

from typing import Any

import asyncpg

from services.cli.database import advance_in_database
from shared.events.bus import Acknowledgement
from shared.events.outbox import add_events
from shared.events.outbox_rows import Reference, settle
from shared.wire import new_id
from tests.harness.database_layout import open_database
from tests.shared.events.staged_bus import event as booking_event


async def test_acknowledgements_from_after_the_backup_remove_nothing(database_url: str) -> None:
    """Of an event that was logged after the backup, and that the restored log does not have."""
    db = await open_database(database_url, "bookings", size=2)
    written = booking_event(new_id(), 1)
    async with db.transaction() as conn:
        await add_events(conn, [written])
        [row] = await conn.fetch("UPDATE outbox SET sent_at = now() RETURNING id, version")
    acknowledged = Acknowledgement(Reference(row["id"], row["version"]).text(), written.id)
    await advance_in_database(database_url, 1_000_000)
    async with db.connection() as conn:
        await settle(conn, [acknowledged])
        [row] = await conn.fetch("SELECT id, version, sent_at FROM outbox")
        assert row["sent_at"] is None, "it is published again"
        await settle(conn, [Acknowledgement(Reference(row["id"], row["version"]).text(), written.id)])
        assert not await conn.fetch("SELECT FROM outbox")
    await db.close()


async def test_a_database_without_the_event_log_can_be_prepared_too(database_url: str) -> None:
    """As when each service has its own."""
    conn: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    await conn.execute("DROP SCHEMA webhooks CASCADE")
    await conn.close()
    assert await advance_in_database(database_url, 1_000_000) == 0
