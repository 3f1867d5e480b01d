"""Staff create a class."""

import msgspec

from services.bookings.actions.event_builders import class_event
from services.bookings.context import Bookings
from services.bookings.errors import ClassExists
from services.bookings.rules.class_times import time_problems
from services.bookings.store import classes
from services.bookings.wire.classes import Class, ClassCreate
from shared.errors import Problem
from shared.events.kinds import ClassCreated
from shared.events.outbox import add_event
from shared.http.caller import Caller
from shared.http.routes import PartialBody
from shared.wire import new_id, now


async def check_new_class(service: Bookings, caller: Caller, given: PartialBody) -> list[Problem]:
    start, end = given.fields.get("start_time"), given.fields.get("end_time")
    return time_problems(start, end) if start and end else []


async def create_class(service: Bookings, caller: Caller, body: ClassCreate) -> Class:
    values = msgspec.structs.asdict(body)
    class_id: str = values.pop("id") or new_id()
    async with service.db.transaction() as conn:
        if not await classes.insert(conn, caller, class_id, values):
            raise ClassExists(param="id")
        class_ = await classes.get_existing(conn, caller, class_id)
        await add_event(conn, class_event(ClassCreated, caller, class_, 1, now()))
    service.wakeup.notify()
    return class_
