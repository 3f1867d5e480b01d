"""Pauses end, cancellations take effect and terms run out by themselves."""

from datetime import datetime

import structlog

from services.bookings.actions.change_membership import turn_membership
from services.bookings.context import Bookings
from services.bookings.store import memberships
from shared.caller import Caller

log = structlog.get_logger("bookings")

AT_ONCE = 100


async def turn_memberships(service: Bookings) -> bool:
    """One step of the loop: all that are due. One that fails is left for the next step."""
    after: tuple[datetime, str, str] | None = None
    while True:
        async with service.db.connection() as conn:
            due = await memberships.due(conn, AT_ONCE, after)
        for row in due:
            after = (row["due_at"], row["studio_id"], row["id"])
            try:
                await turn_membership(
                    service, Caller(studio_id=row["studio_id"], actor="operator"), row["id"]
                )
            except Exception:
                log.exception("membership_not_turned", studio_id=row["studio_id"], membership_id=row["id"])
        if len(due) < AT_ONCE:
            return False
