"""Delete expired console sessions, a batch at a time."""

from typing import Final

from services.gateway.store import console_sessions, operator_sessions
from shared.db.database import Database

BATCH: Final = 1_000


async def delete_expired_sessions(db: Database) -> bool:
    """One step of the loop."""
    async with db.transaction() as conn:
        await console_sessions.delete_expired(conn, BATCH)
        await operator_sessions.delete_expired(conn, BATCH)
    return False
