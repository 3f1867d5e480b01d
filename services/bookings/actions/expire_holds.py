"""Holds end by the clock. Whoever locks a class first expires those that have run out; nobody counts them."""

from collections.abc import Iterable

from services.bookings.actions.class_changes import ClassChanges, promote_waitlist
from services.bookings.actions.due_work import process_due
from services.bookings.context import Bookings
from services.bookings.store import bookings, studios
from shared.db.database import Connection
from shared.http.caller import Caller


async def expire_run_out_holds(
    conn: Connection, caller: Caller, class_id: str, *, also_lock: Iterable[str] = ()
) -> bool:
    """Locks the class, gives the seats to the waitlist, and saves. False if no hold had run out.

    `also_lock` are members whom the caller will lock: all members are locked at once.
    """
    changes = await ClassChanges.lock(conn, caller, class_id)
    if changes is None:
        return False
    await changes.load_waitlist(conn)
    await promote_waitlist(conn, changes, await studios.policy(conn, caller), also_lock=also_lock)
    if changes.has_changes:
        await changes.save(conn)
    return changes.has_changes


async def expire_holds(service: Bookings) -> bool:
    """One step of the loop."""
    await process_due(service, bookings.classes_with_run_out_holds, _expire_in, failed="holds_not_expired")
    return False


async def _expire_in(service: Bookings, caller: Caller, class_id: str) -> None:
    async with service.db.transaction() as conn:
        await expire_run_out_holds(conn, caller, class_id)
    service.wakeup.notify()
