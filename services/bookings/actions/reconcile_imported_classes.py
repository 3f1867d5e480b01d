"""After an import: promotes into free seats, and cancels the bookings of cancelled classes.

Adds no events: actions/import_events.py adds those of the whole batch.

Runs in the transaction of the lines, so no one ever sees a free seat next to a waitlist. The batch's bookings
are already written, so that no seat is given twice.
"""

from services.bookings.actions.cancel_class import release_everybody
from services.bookings.actions.class_changes import ClassChanges
from services.bookings.actions.promote_waitlist import promote_waitlist
from services.bookings.store import import_seats, studios
from services.bookings.store.import_locks import classes_of
from services.bookings.wire.classes import ClassStatus
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.transfer.importing import Rows


async def reconcile_imported_classes(conn: Connection, rows: Rows) -> None:
    """Call it under the locks of the lines' classes and their members."""
    for studio_id, class_id in await import_seats.classes_to_reconcile(conn, classes_of(rows)):
        caller = Caller(studio_id=studio_id, actor="operator")
        changes = await ClassChanges.lock(conn, caller, class_id)
        assert changes is not None
        if changes.class_.status is ClassStatus.CANCELLED:
            await release_everybody(conn, changes, None)
        else:
            await changes.load_waitlist(conn)
            await promote_waitlist(conn, changes, await studios.policy(conn, caller))
        await changes.save(conn, send_events=False)
