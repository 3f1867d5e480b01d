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
from shared.errors import NotFound
from shared.http.health import OUTBOX_STATUS
from shared.http.pages import Page
from shared.http.reads import read_one, read_page
from shared.http.routes import Call, Route, Routes
from shared.transfer.routes import export_route, import_routes
from shared.wire import PageQuery

ROUTES: Routes[Catalog] = Routes()


@ROUTES.add("GET", "/studio", "Read the studio", tag="Studio")
async def get_studio(catalog: Catalog, call: Call[None, None]) -> Studio:
    async with catalog.db.connection() as conn:
        return await resources.get_studio(conn, call.caller)


ROUTES += [
    read_page(
        "/locations",
        resources.location_page,
        "List locations, active and inactive",
        PageQuery,
        Page[Location],
        tag="Studio",
    ),
    read_one("/locations/{location_id}", resources.get_location, "Read a location", Location, tag="Studio"),
    read_page(
        "/rooms",
        resources.room_page,
        "List rooms",
        RoomsQuery,
        Page[Room],
        tag="Schedule",
        description="A `location_id` that the key cannot access returns 404.",
        errors=(NotFound,),
    ),
    read_one("/rooms/{room_id}", resources.get_room, "Read a room", Room, tag="Schedule"),
    read_page(
        "/class-types",
        resources.class_type_page,
        "List class types",
        PageQuery,
        Page[ClassType],
        tag="Schedule",
    ),
    read_one(
        "/class-types/{class_type_id}",
        resources.get_class_type,
        "Read a class type",
        ClassType,
        tag="Schedule",
    ),
    read_page(
        "/instructors",
        resources.instructor_page,
        "List active instructors",
        PageQuery,
        Page[Instructor],
        tag="Schedule",
    ),
    read_one(
        "/instructors/{instructor_id}",
        resources.get_instructor,
        "Read an instructor, active or not",
        Instructor,
        tag="Schedule",
    ),
    read_page(
        "/products",
        products.page,
        "List products with their prices",
        ProductsQuery,
        Page[Product],
        tag="Catalog",
    ),
    read_one(
        "/products/{product_id}", products.get, "Read a product with all its prices", Product, tag="Catalog"
    ),
]

# What the desk chooses from.
FOR_STAFF = ("/locations", "/rooms", "/class-types", "/instructors", "/products")
ROUTES += [route.for_staff() for route in [*ROUTES] if route.path in FOR_STAFF]


def routes() -> list[Route[Catalog]]:
    return [
        *ROUTES,
        *import_routes(IMPORT),
        export_route(export_lines.SECTIONS),
        OUTBOX_STATUS,
    ]
