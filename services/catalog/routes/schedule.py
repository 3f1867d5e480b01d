"""Rooms, class types and instructors; classes belong to the bookings service."""

from services.catalog.context import Catalog
from services.catalog.store import class_types, instructors, rooms
from services.catalog.wire.class_type import ClassType
from services.catalog.wire.instructor import Instructor
from services.catalog.wire.room import Room, RoomsQuery
from shared.errors import InvalidCursor, NotFound
from shared.http.pages import Page
from shared.http.routes import Call, Route
from shared.wire import PageQuery


async def list_rooms(catalog: Catalog, call: Call[RoomsQuery, None]) -> Page[Room]:
    async with catalog.db.connection() as conn:
        return await rooms.page(conn, call.caller, call.query)


async def get_room(catalog: Catalog, call: Call[None, None]) -> Room:
    async with catalog.db.connection() as conn:
        return await rooms.get(conn, call.caller, call.path["room_id"])


async def list_class_types(catalog: Catalog, call: Call[PageQuery, None]) -> Page[ClassType]:
    async with catalog.db.connection() as conn:
        return await class_types.page(conn, call.caller, call.query)


async def get_class_type(catalog: Catalog, call: Call[None, None]) -> ClassType:
    async with catalog.db.connection() as conn:
        return await class_types.get(conn, call.caller, call.path["class_type_id"])


async def list_instructors(catalog: Catalog, call: Call[PageQuery, None]) -> Page[Instructor]:
    async with catalog.db.connection() as conn:
        return await instructors.page(conn, call.caller, call.query)


async def get_instructor(catalog: Catalog, call: Call[None, None]) -> Instructor:
    async with catalog.db.connection() as conn:
        return await instructors.get(conn, call.caller, call.path["instructor_id"])


ROUTES: list[Route[Catalog]] = [
    Route(
        method="GET",
        path="/rooms",
        handler=list_rooms,
        summary="List rooms",
        description="A `location_id` that the key cannot access returns 404.",
        query=RoomsQuery,
        answer=Page[Room],
        errors=(InvalidCursor, NotFound),
        tag="Schedule",
    ),
    Route(
        method="GET",
        path="/rooms/{room_id}",
        handler=get_room,
        summary="Read a room",
        answer=Room,
        errors=(NotFound,),
        tag="Schedule",
    ),
    Route(
        method="GET",
        path="/class-types",
        handler=list_class_types,
        summary="List class types",
        query=PageQuery,
        answer=Page[ClassType],
        errors=(InvalidCursor,),
        tag="Schedule",
    ),
    Route(
        method="GET",
        path="/class-types/{class_type_id}",
        handler=get_class_type,
        summary="Read a class type",
        answer=ClassType,
        errors=(NotFound,),
        tag="Schedule",
    ),
    Route(
        method="GET",
        path="/instructors",
        handler=list_instructors,
        summary="List active instructors",
        query=PageQuery,
        answer=Page[Instructor],
        errors=(InvalidCursor,),
        tag="Schedule",
    ),
    Route(
        method="GET",
        path="/instructors/{instructor_id}",
        handler=get_instructor,
        summary="Read an instructor, active or not",
        answer=Instructor,
        errors=(NotFound,),
        tag="Schedule",
    ),
]
