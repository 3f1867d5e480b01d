"""After an import: who waits moves into new seats, and a cancelled class lets everybody go. Sends no events.

Bookings of the same batch are written by then, so that a seat is never given twice. What has to be done is
stored with the class: an import that breaks off here is followed up when the class is imported again.
"""

from services.bookings.actions.cancel_class import release_everybody
from services.bookings.actions.promote import promote
from services.bookings.actions.roster import Roster
from services.bookings.context import Bookings
from services.bookings.store import imported, studios
from services.bookings.store.imported import Lines
from services.bookings.wire.classes import ClassStatus
from shared.http.caller import Caller


async def follow_up_classes(service: Bookings, lines: Lines) -> None:
    """Each in a transaction of its own: its locks are taken in the order of all other actions."""
    async with service.db.connection() as conn:
        concerned = await imported.classes_to_follow_up(conn, lines)
    for studio_id, class_id in concerned:
        await _follow_up(service, Caller(studio_id=studio_id, actor="operator"), class_id)


async def _follow_up(service: Bookings, caller: Caller, class_id: str) -> None:
    async with service.db.transaction() as conn:
        roster = await Roster.open(conn, caller, class_id)
        if roster is None:
            return
        if roster.class_.status is ClassStatus.CANCELLED:
            await release_everybody(conn, roster, None)
        else:
            await roster.load_waiting(conn)
            await promote(conn, roster, await studios.policy(conn, caller))
        await roster.save(conn, told=False)
        await imported.mark_promoted(conn, caller.studio_id, class_id)
