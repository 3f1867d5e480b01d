"""Holds that end by themselves: they run out, or their member or client is gone.

Holds end by the clock. Whoever locks a class first expires those that have run out; nobody counts them.
"""

from collections.abc import Callable, Iterable

from services.bookings.actions.class_changes import ClassChanges, promote_locked, promote_waitlist
from services.bookings.actions.due_work import process_due
from services.bookings.context import Bookings
from services.bookings.rules.cancellation import terms_by_studio
from services.bookings.store import bookings, locks, studios
from services.bookings.store.bookings import BookingRow
from shared.db.database import Connection
from shared.http.caller import Caller


async def expire_run_out_holds(
    conn: Connection, caller: Caller, class_id: str, *, also_lock: Iterable[str] = ()
) -> None:
    """Locks the class, gives the seats to the waitlist, and saves.

    `also_lock` are members whom the caller will lock: all members are locked at once.
    """
    changes = await ClassChanges.lock(conn, caller, class_id)
    if changes is None:
        return
    await changes.load_waitlist(conn)
    await promote_waitlist(conn, changes, await studios.policy(conn, caller), also_lock=also_lock)
    if changes.has_changes:
        await changes.save(conn)


async def end_holds(service: Bookings) -> bool:
    """One step of the loop."""
    await process_due(service, bookings.run_out_holds, _expire, failed="holds_not_expired")
    await process_due(service, bookings.holds_of_suspended, _release_suspended, failed="holds_not_released")
    return False


async def _expire(service: Bookings, caller: Caller, class_id: str) -> None:
    async with service.db.transaction() as conn:
        await expire_run_out_holds(conn, caller, class_id)
    service.wakeup.notify()


async def _release_suspended(service: Bookings, caller: Caller, class_id: str) -> None:
    await _release_in(
        service,
        caller,
        class_id,
        lambda changes, hold: changes.members[hold.member_id].suspended,
    )


async def release_holds_of_client(service: Bookings, caller: Caller, client_id: str) -> int:
    """The client has no live key left: nobody will confirm them. The number of classes."""
    async with service.db.connection() as conn:
        class_ids = await bookings.classes_with_holds(conn, caller, held_by=client_id)
    for class_id in class_ids:
        await _release_in(service, caller, class_id, lambda changes, hold: hold.held_by == client_id)
    return len(class_ids)


async def _release_in(
    service: Bookings, caller: Caller, class_id: str, ends: Callable[[ClassChanges, BookingRow], bool]
) -> None:
    async with service.db.transaction() as conn:
        changes = await ClassChanges.lock(conn, caller, class_id)
        if changes is not None:
            await _load(conn, changes)
            await _release(conn, changes, ends)
    service.wakeup.notify()


async def _load(conn: Connection, changes: ClassChanges) -> None:
    await changes.load_holds(conn)
    await changes.load_waitlist(conn)


def _members(changes: ClassChanges) -> set[str]:
    return {hold.member_id for hold in changes.holds()} | {entry.member_id for entry in changes.waiting}


async def _release(
    conn: Connection, changes: ClassChanges, ends: Callable[[ClassChanges, BookingRow], bool]
) -> None:
    await changes.lock_members(conn, _members(changes))
    policy = await studios.policy(conn, changes.caller)
    for hold in changes.holds():
        if ends(changes, hold):
            terms = terms_by_studio(hold.to_cancel(changes.class_.start_time), policy, changes.now)
            changes.cancel(hold, terms, None)
    await promote_locked(conn, changes, policy)
    if changes.has_changes:
        await changes.save(conn)


class HeldMeanwhile(Exception):
    """A hold was made in a class that is not locked. Start over."""


async def lock_and_release(conn: Connection, caller: Caller, member_ids: list[str]) -> None:
    """Locks these members, and before them the classes in which they have holds, and cancels those."""
    class_ids = await bookings.classes_with_holds(conn, caller, member_ids=member_ids)
    found = [await ClassChanges.lock(conn, caller, class_id) for class_id in class_ids]
    locked = [changes for changes in found if changes is not None]
    wanted = set(member_ids)
    for changes in locked:
        await _load(conn, changes)
        wanted |= _members(changes)
    await locks.lock_members(conn, caller, wanted)
    if set(await bookings.classes_with_holds(conn, caller, member_ids=member_ids)) - set(class_ids):
        raise HeldMeanwhile
    for changes in locked:
        # Reads them again: the class before may have charged somebody.
        await _release(conn, changes, lambda changes, hold: hold.member_id in member_ids)
