"""Bookings by the start of their class, in the list's own order, which is that of their creation.

No index has both orders. So a page merges the bookings of each class in the range, and the number of classes
in the range is limited. With one class or one member there are few bookings: then the class of each is looked
up, over any range.
"""

from services.bookings.rules.class_times import clamp_to_supported_years
from services.bookings.store.keyset_pages import Filters, LookUp
from services.bookings.wire.bookings import MAX_CLASSES_IN_RANGE, BookingsQuery
from shared.db.database import Connection
from shared.errors import Invalid, Problem
from shared.http.body_problems import EARLIEST, LATEST
from shared.http.caller import Caller

IN_RANGE = "SELECT c.id FROM classes c WHERE c.studio_id = $1 AND c.start_time >= {} AND c.start_time < {}"
OF_BOOKING = """
EXISTS (SELECT FROM classes c WHERE c.studio_id = t.studio_id AND c.id = t.class_id AND c.start_time {} {{}})
"""
HOLDS_TOO_MANY = f"""
SELECT count(*) > {MAX_CLASSES_IN_RANGE} FROM (
    SELECT FROM classes WHERE studio_id = $1 AND start_time >= $2 AND start_time < $3
    LIMIT {MAX_CLASSES_IN_RANGE + 1}) c
"""  # noqa: S608


async def add_class_start(conn: Connection, caller: Caller, filters: Filters, query: BookingsQuery) -> None:
    if query.starts_after is None and query.starts_before is None:
        return
    after = clamp_to_supported_years(query.starts_after or EARLIEST)
    before = clamp_to_supported_years(query.starts_before or LATEST)
    if any(filters.narrow.values()):
        filters.where = [(OF_BOOKING.format(">="), after), (OF_BOOKING.format("<"), before)]
        return
    if await conn.fetchval(HOLDS_TOO_MANY, caller.studio_id, after, before):
        field = "starts_after" if query.starts_before is None else "starts_before"
        text = f"Over {MAX_CLASSES_IN_RANGE} classes start in this range. Choose a shorter one."
        raise Invalid([Problem(("query", field), text, "range_too_wide")])
    filters.look_up = LookUp("class_id", IN_RANGE, (after, before))
