"""The studio cancels a class: every booking is cancelled without a fee, and credits are returned."""

import msgspec

from services.bookings.actions.class_changes import ClassChanges
from services.bookings.actions.event_builders import class_event
from services.bookings.context import Bookings
from services.bookings.errors import InvalidStateTransition
from services.bookings.rules.cancellation import terms_by_studio
from services.bookings.store import bookings, classes, studios
from services.bookings.wire.classes import Class, ClassStatus
from shared.db.database import Connection
from shared.errors import NotFound
from shared.events.kinds import ClassCancelled
from shared.events.outbox import add_event
from shared.http.caller import Caller


async def cancel_class(service: Bookings, caller: Caller, class_id: str, reason: str | None) -> Class:
    async with service.db.transaction() as conn:
        changes = await ClassChanges.lock(conn, caller, class_id)
        if changes is None:
            raise NotFound
        if changes.class_.status is not ClassStatus.SCHEDULED:
            raise InvalidStateTransition(changes.class_.status, ClassStatus.CANCELLED, [])
        await release_everybody(conn, changes, reason)
        changes.class_ = msgspec.structs.replace(changes.class_, status=ClassStatus.CANCELLED)
        await changes.save(conn)
        class_ = await classes.get_existing(conn, caller, class_id)
        version = changes.class_.version
        await add_event(conn, class_event(ClassCancelled, caller, class_, version, changes.now))
    service.wakeup.notify()
    return class_


async def release_everybody(conn: Connection, changes: ClassChanges, reason: str | None) -> None:
    policy = await studios.policy(conn, changes.caller)
    await changes.load_waitlist(conn)
    live = await bookings.read_live(conn, changes.caller, changes.class_.id)
    await changes.lock_members(conn, {booking.member_id for booking in live})
    for booking in live:
        terms = terms_by_studio(booking.held(changes.class_.start_time), policy, changes.now)
        changes.cancel(changes.bookings.setdefault(booking.id, booking), terms, reason)
