"""Delete expired console sessions, a batch at a time."""

from typing import Final

from services.gateway.store import console_sessions, operator_sessions
from shared.db.database import Database

BATCH: Final = 1_000


async def delete_expired_sessions(db: Database) -> bool:
    """One step of the loop, which goes on at once while there may be more."""
    async with db.transaction() as conn:
        deleted = await console_sessions.delete_expired(conn, BATCH)
        return max(deleted, await operator_sessions.delete_expired(conn, BATCH)) >= BATCH
