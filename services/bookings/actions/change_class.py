"""Staff change a class. Freed seats go to the waitlist in the same transaction."""

from typing import Any

import msgspec
from msgspec import UNSET

from services.bookings.actions.class_changes import ClassChanges
from services.bookings.actions.event_builders import COUNTS, class_event
from services.bookings.actions.moved_bookings import moved_bookings
from services.bookings.actions.promote_waitlist import promote_waitlist
from services.bookings.context import Bookings
from services.bookings.errors import InvalidStateTransition
from services.bookings.rules.class_times import time_problems
from services.bookings.store import classes, locks, studios
from services.bookings.wire.classes import Class, ClassChange, ClassStatus
from shared.errors import Invalid, NotFound
from shared.events.changes import previous_values, with_move_event
from shared.events.kinds import ClassUpdated
from shared.events.outbox import add_events
from shared.http.caller import Caller


async def change_class(service: Bookings, caller: Caller, class_id: str, body: ClassChange) -> Class:
    values = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
    async with service.db.transaction() as conn:
        before = await locks.lock_class(conn, caller, class_id)
        if before is None:
            raise NotFound
        shown = await classes.get_existing(conn, caller, class_id)
        _check_change(shown, values)
        await classes.change(conn, caller, class_id, values)
        changes = await ClassChanges.lock(conn, caller, class_id)
        assert changes is not None
        changes.was_full = before.class_.seats_left <= 0
        if shown.location_id != changes.class_.location_id:
            left = {class_id: shown.location_id}
            await add_events(conn, await moved_bookings(conn, caller, changes.now, left))
        await changes.load_waitlist(conn)
        await promote_waitlist(conn, changes, await studios.policy(conn, caller))
        await changes.save(conn, class_event_follows=True)
        answer = await classes.get_existing(conn, caller, class_id)
        if previous := previous_values(shown, answer, COUNTS):
            version, now = changes.class_.version, changes.now
            event = class_event(ClassUpdated, caller, answer, version, now, previous=previous)
            await add_events(conn, with_move_event(event, shown.location_id))
    service.wakeup.notify()
    return answer


def _check_change(class_: Class, values: dict[str, Any]) -> None:
    if class_.status == ClassStatus.CANCELLED:
        raise InvalidStateTransition(class_.status, values.get("status", "scheduled"), [])
    times = values.get("start_time", class_.start_time), values.get("end_time", class_.end_time)
    if problems := time_problems(*times):
        raise Invalid(problems)
