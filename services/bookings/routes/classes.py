"""Classes and their spots, for partners."""

from services.bookings.context import Bookings
from services.bookings.store import classes, studios
from services.bookings.wire.classes import Class, ClassesQuery, ClassSpot
from shared.errors import InvalidCursor, NotFound
from shared.http.pages import Page, json_page_of, page_of
from shared.http.reads import read_one
from shared.http.response import Response
from shared.http.routes import Call, Routes
from shared.wire import PageQuery

ROUTES: Routes[Bookings] = Routes()


@ROUTES.add(
    "GET",
    "/classes",
    "List class sessions",
    description="Ordered by start time. Filters combine. A `location_id` that the key cannot access returns "
    "404. `ids` reads the availability of up to 100 classes in one call.",
    response=Page[Class],
    errors=(InvalidCursor, NotFound),
    tag="Schedule",
)
async def list_classes(service: Bookings, call: Call[ClassesQuery, None]) -> Response:
    async with service.db.connection() as conn:
        # An invalid cursor (400) is reported before an unknown location (404).
        found = await classes.list_json(conn, call.caller, call.query)
        location_id = call.query.location_id
        if location_id and not await studios.knows_location(conn, call.caller, location_id):
            raise NotFound(param="location_id")
    return Response(json_page_of(found, call.query.page_size))


@ROUTES.add(
    "GET",
    "/classes/{class_id}/spots",
    "List the spots of a class",
    description="In the studio's order. Empty for a class without spots.",
    errors=(InvalidCursor, NotFound),
    tag="Schedule",
)
async def list_spots(service: Bookings, call: Call[PageQuery, None]) -> Page[ClassSpot]:
    async with service.db.connection() as conn:
        class_ = await classes.get(conn, call.caller, call.path["class_id"])
        return page_of(await classes.list_spots(conn, call.caller, class_.id, call.query), call.query.limit)


ROUTES += [
    read_one("/classes/{class_id}", classes.get, "Get a class session", Class, tag="Schedule"),
]
