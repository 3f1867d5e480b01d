"""Staff create, change and cancel classes. What frees seats promotes, in the same transaction."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET

from services.bookings.actions.promote import promote
from services.bookings.actions.roster import Roster
from services.bookings.context import Bookings
from services.bookings.errors import ClassExists, InvalidStateTransition
from services.bookings.rules.class_times import problem_with_times
from services.bookings.store import classes, locks, studios
from services.bookings.wire.classes import Class, ClassChange, ClassCreate, ClassStatus
from shared.db.database import Connection
from shared.errors import Invalid, NotFound, Problem
from shared.http.caller import Caller
from shared.http.routes import PartialBody
from shared.wire import new_id


async def check_new_class(service: Bookings, caller: Caller, given: PartialBody) -> list[Problem]:
    start, end = given.fields.get("start_time"), given.fields.get("end_time")
    return _time_problems(start, end) if start and end else []


async def create_class(service: Bookings, caller: Caller, body: ClassCreate) -> Class:
    values = msgspec.structs.asdict(body)
    class_id: str = values.pop("id") or new_id()
    async with service.db.transaction() as conn:
        if not await classes.insert(conn, caller, class_id, values):
            raise ClassExists(param="id")
        return await _shown(conn, caller, class_id)


async def change_class(service: Bookings, caller: Caller, class_id: str, body: ClassChange) -> Class:
    values = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
    async with service.db.transaction() as conn:
        before = await locks.lock_class(conn, caller, class_id)
        if before is None:
            raise NotFound
        shown = await _shown(conn, caller, class_id)
        _check_change(shown, values)
        await classes.change(conn, caller, class_id, values)
        roster = await Roster.open(conn, caller, class_id)
        assert roster is not None
        await roster.load_waiting(conn)
        await promote(conn, roster, await studios.policy(conn, caller))
        await roster.save(conn)
        answer = await _shown(conn, caller, class_id)
    service.wakeup.notify()
    return answer


def _check_change(class_: Class, values: dict[str, Any]) -> None:
    if class_.status == ClassStatus.CANCELLED:
        raise InvalidStateTransition(class_.status, values.get("status", "scheduled"), [])
    times = values.get("start_time", class_.start_time), values.get("end_time", class_.end_time)
    if problems := _time_problems(*times):
        raise Invalid(problems)


def _time_problems(start: datetime, end: datetime) -> list[Problem]:
    problem = problem_with_times(start, end)
    return [Problem(("body", "end_time"), problem, "value_error")] if problem else []


async def _shown(conn: Connection, caller: Caller, class_id: str) -> Class:
    class_ = await classes.get(conn, caller, class_id)
    assert class_ is not None
    return class_
