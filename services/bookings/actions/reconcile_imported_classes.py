"""After an import: who waits moves into new seats, and a cancelled class lets everybody go. Sends no events.

Bookings of the same batch are written by then, so that a seat is never given twice. What has to be done is
stored with the class: an import that breaks off here is followed up when the class is imported again.
"""

from services.bookings.actions.cancel_class import release_everybody
from services.bookings.actions.class_changes import ClassChanges
from services.bookings.actions.promote_waitlist import promote_waitlist
from services.bookings.context import Bookings
from services.bookings.store import import_classes, studios
from services.bookings.store.import_locks import Lines
from services.bookings.wire.classes import ClassStatus
from shared.http.caller import Caller


async def reconcile_imported_classes(service: Bookings, lines: Lines) -> None:
    """Each in a transaction of its own: its locks are taken in the order of all other actions."""
    async with service.db.connection() as conn:
        concerned = await import_classes.classes_to_reconcile(conn, lines)
    for studio_id, class_id in concerned:
        await _reconcile(service, Caller(studio_id=studio_id, actor="operator"), class_id)


async def _reconcile(service: Bookings, caller: Caller, class_id: str) -> None:
    async with service.db.transaction() as conn:
        changes = await ClassChanges.lock(conn, caller, class_id)
        if changes is None:
            return
        if changes.class_.status is ClassStatus.CANCELLED:
            await release_everybody(conn, changes, None)
        else:
            await changes.load_waitlist(conn)
            await promote_waitlist(conn, changes, await studios.policy(conn, caller))
        await changes.save(conn, send_events=False)
        await import_classes.clear_promotion_due(conn, caller.studio_id, class_id)
