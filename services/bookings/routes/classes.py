"""Classes and their spots, for partners."""

from services.bookings.context import Bookings
from services.bookings.page_tags import page_key
from services.bookings.store import classes, spots, studios
from services.bookings.wire.classes import Class, ClassesQuery, ClassSpot
from shared.db.database import Connection
from shared.errors import InvalidCursor, NotFound
from shared.http.answer import IF_NONE_MATCH, Answer, entity_tag, matches, not_modified
from shared.http.pages import Page, json_page_of, page_of
from shared.http.routes import Call, Route
from shared.wire import PageQuery


async def list_classes(service: Bookings, call: Call[ClassesQuery, None]) -> Answer:
    async with service.db.connection() as conn:
        # An invalid cursor (400) is reported before an unknown location (404).
        if IF_NONE_MATCH in call.headers:
            answer = await _polled_page(service, conn, call)
        else:
            found = await classes.list_json(conn, call.caller, call.query)
            answer = Answer(json_page_of(found, call.query.page_size))
        location_id = call.query.location_id
        if location_id and not await studios.knows_location(conn, call.caller, location_id):
            raise NotFound(param="location_id")
    return answer


async def _polled_page(service: Bookings, conn: Connection, call: Call[ClassesQuery, None]) -> Answer:
    """304 without building the page, if its version is that of the page whose tag the caller sent."""
    key = page_key(call.caller, call.raw_query)
    known = service.page_tags.find(key)
    if (
        known is not None
        and matches(known.tag, call.headers.items())
        and await classes.page_version(conn, call.caller, call.query) == known.version
    ):
        return not_modified(known.tag)
    found, version = await classes.list_versioned(conn, call.caller, call.query)
    body = json_page_of(found, call.query.page_size)
    service.page_tags.remember(key, version, entity_tag(body))
    return Answer(body)


async def get_class(service: Bookings, call: Call[None, None]) -> Class:
    async with service.db.connection() as conn:
        class_ = await classes.get(conn, call.caller, call.path["class_id"])
    if class_ is None:
        raise NotFound
    return class_


async def list_spots(service: Bookings, call: Call[PageQuery, None]) -> Page[ClassSpot]:
    async with service.db.connection() as conn:
        class_ = await classes.get(conn, call.caller, call.path["class_id"])
        if class_ is None:
            raise NotFound
        return page_of(await spots.list_page(conn, call.caller, class_.id, call.query), call.query.limit)


ROUTES: list[Route[Bookings]] = [
    Route(
        method="GET",
        path="/classes",
        handler=list_classes,
        summary="List class sessions",
        description=(
            "Ordered by start time. Filters combine. A `location_id` that the key cannot access returns 404. "
            "`ids` reads the availability of up to 100 classes in one call."
        ),
        query=ClassesQuery,
        answer=Page[Class],
        errors=(InvalidCursor, NotFound),
        tag="Schedule",
    ),
    Route(
        method="GET",
        path="/classes/{class_id}",
        handler=get_class,
        summary="Get a class session",
        answer=Class,
        errors=(NotFound,),
        tag="Schedule",
    ),
    Route(
        method="GET",
        path="/classes/{class_id}/spots",
        handler=list_spots,
        summary="List the spots of a class",
        description="In the studio's order. Empty for a class without spots.",
        query=PageQuery,
        answer=Page[ClassSpot],
        errors=(InvalidCursor, NotFound),
        tag="Schedule",
    ),
]
