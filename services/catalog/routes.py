"""The studio, its locations, rooms, class types, instructors and products; classes belong to bookings."""

from services.catalog.actions import IMPORT
from services.catalog.context import Catalog
from services.catalog.store import export_lines, products, resources
from services.catalog.wire.resources import (
    ClassType,
    Instructor,
    Location,
    Product,
    ProductsQuery,
    Room,
    RoomsQuery,
    Studio,
)
from shared.errors import InvalidCursor, NotFound
from shared.http.health import OUTBOX_STATUS
from shared.http.pages import Page
from shared.http.routes import Call, Route
from shared.transfer.routes import export_route, import_routes
from shared.wire import PageQuery


async def get_studio(catalog: Catalog, call: Call[None, None]) -> Studio:
    async with catalog.db.connection() as conn:
        return await resources.get_studio(conn, call.caller)


async def list_locations(catalog: Catalog, call: Call[PageQuery, None]) -> Page[Location]:
    async with catalog.db.connection() as conn:
        return await resources.location_page(conn, call.caller, call.query)


async def get_location(catalog: Catalog, call: Call[None, None]) -> Location:
    async with catalog.db.connection() as conn:
        return await resources.get_location(conn, call.caller, call.path["location_id"])


async def list_rooms(catalog: Catalog, call: Call[RoomsQuery, None]) -> Page[Room]:
    async with catalog.db.connection() as conn:
        return await resources.room_page(conn, call.caller, call.query)


async def get_room(catalog: Catalog, call: Call[None, None]) -> Room:
    async with catalog.db.connection() as conn:
        return await resources.get_room(conn, call.caller, call.path["room_id"])


async def list_class_types(catalog: Catalog, call: Call[PageQuery, None]) -> Page[ClassType]:
    async with catalog.db.connection() as conn:
        return await resources.class_type_page(conn, call.caller, call.query)


async def get_class_type(catalog: Catalog, call: Call[None, None]) -> ClassType:
    async with catalog.db.connection() as conn:
        return await resources.get_class_type(conn, call.caller, call.path["class_type_id"])


async def list_instructors(catalog: Catalog, call: Call[PageQuery, None]) -> Page[Instructor]:
    async with catalog.db.connection() as conn:
        return await resources.instructor_page(conn, call.caller, call.query)


async def get_instructor(catalog: Catalog, call: Call[None, None]) -> Instructor:
    async with catalog.db.connection() as conn:
        return await resources.get_instructor(conn, call.caller, call.path["instructor_id"])


async def list_products(catalog: Catalog, call: Call[ProductsQuery, None]) -> Page[Product]:
    async with catalog.db.connection() as conn:
        return await products.page(conn, call.caller, call.query)


async def get_product(catalog: Catalog, call: Call[None, None]) -> Product:
    async with catalog.db.connection() as conn:
        return await products.get(conn, call.caller, call.path["product_id"])


ROUTES: list[Route[Catalog]] = [
    Route(
        method="GET",
        path="/studio",
        handler=get_studio,
        summary="Read the studio",
        answer=Studio,
        tag="Studio",
    ),
    Route(
        method="GET",
        path="/locations",
        handler=list_locations,
        summary="List locations, active and inactive",
        query=PageQuery,
        answer=Page[Location],
        errors=(InvalidCursor,),
        tag="Studio",
    ),
    Route(
        method="GET",
        path="/locations/{location_id}",
        handler=get_location,
        summary="Read a location",
        answer=Location,
        errors=(NotFound,),
        tag="Studio",
    ),
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
    Route(
        method="GET",
        path="/products",
        handler=list_products,
        summary="List products with their prices",
        query=ProductsQuery,
        answer=Page[Product],
        errors=(InvalidCursor,),
        tag="Catalog",
    ),
    Route(
        method="GET",
        path="/products/{product_id}",
        handler=get_product,
        summary="Read a product with all its prices",
        answer=Product,
        errors=(NotFound,),
        tag="Catalog",
    ),
]


def routes() -> list[Route[Catalog]]:
    return [
        *ROUTES,
        *import_routes(IMPORT, Catalog),
        export_route(export_lines.SECTIONS),
        OUTBOX_STATUS,
    ]
