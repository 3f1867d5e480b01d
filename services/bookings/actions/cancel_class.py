"""The studio cancels a class: everybody is released, nobody pays, and credits come back."""

import msgspec

from services.bookings.actions.roster import Roster
from services.bookings.context import Bookings
from services.bookings.errors import InvalidStateTransition
from services.bookings.rules.cancellation import terms_by_studio
from services.bookings.store import bookings, classes, studios
from services.bookings.wire.classes import Class, ClassStatus
from shared.db.database import Connection
from shared.errors import NotFound
from shared.events.kinds import ClassCancelled, EventResource
from shared.events.outbox import add_event
from shared.http.caller import Caller


async def cancel_class(service: Bookings, caller: Caller, class_id: str, reason: str | None) -> Class:
    async with service.db.transaction() as conn:
        roster = await Roster.open(conn, caller, class_id)
        if roster is None:
            raise NotFound
        if roster.class_.status is not ClassStatus.SCHEDULED:
            raise InvalidStateTransition(roster.class_.status, ClassStatus.CANCELLED, [])
        await release_everybody(conn, roster, reason)
        roster.class_ = msgspec.structs.replace(roster.class_, status=ClassStatus.CANCELLED)
        await roster.save(conn)
        class_ = await classes.get(conn, caller, class_id)
        assert class_ is not None
        await add_event(
            conn,
            ClassCancelled(
                studio_id=caller.studio_id,
                location_id=class_.location_id,
                resource=EventResource("class", class_id, roster.class_.version),
                data=class_,
                request_id=caller.request_id or None,
                traceparent=caller.traceparent,
                aggregate=f"class:{class_id}",
                created_at=roster.now,
            ),
        )
    service.wakeup.notify()
    return class_


async def release_everybody(conn: Connection, roster: Roster, reason: str | None) -> None:
    policy = await studios.policy(conn, roster.caller)
    await roster.load_waiting(conn)
    live = await bookings.read_live(conn, roster.caller, roster.class_.id)
    await roster.lock_members(conn, {booking.member_id for booking in live})
    for booking in live:
        terms = terms_by_studio(booking.held(roster.class_.start_time), policy, roster.now)
        roster.cancel(roster.bookings.setdefault(booking.id, booking), terms, reason)
