"""The studio and its locations."""

from services.catalog.context import Catalog
from services.catalog.store import locations, studios
from services.catalog.wire.location import Location
from services.catalog.wire.studio import Studio
from shared.errors import InvalidCursor, NotFound
from shared.http.pages import Page
from shared.http.routes import Call, Route
from shared.wire import PageQuery


async def get_studio(catalog: Catalog, call: Call[None, None]) -> Studio:
    async with catalog.db.connection() as conn:
        return await studios.get(conn, call.caller)


async def list_locations(catalog: Catalog, call: Call[PageQuery, None]) -> Page[Location]:
    async with catalog.db.connection() as conn:
        return await locations.page(conn, call.caller, call.query)


async def get_location(catalog: Catalog, call: Call[None, None]) -> Location:
    async with catalog.db.connection() as conn:
        return await locations.get(conn, call.caller, call.path["location_id"])


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
]
