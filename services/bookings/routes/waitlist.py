"""Waitlist entries, for partners."""

from services.bookings.context import Bookings
from services.bookings.store import waitlist
from services.bookings.wire.waitlist import WaitlistEntry, WaitlistQuery
from shared.errors import InvalidCursor, NotFound
from shared.http.pages import Page, page_of
from shared.http.routes import Call, Route


async def list_waitlist(service: Bookings, call: Call[WaitlistQuery, None]) -> Page[WaitlistEntry]:
    async with service.db.connection() as conn:
        return page_of(await waitlist.list_page(conn, call.caller, call.query), call.query.limit)


async def get_waitlist_entry(service: Bookings, call: Call[None, None]) -> WaitlistEntry:
    async with service.db.connection() as conn:
        entry = await waitlist.get(conn, call.caller, call.path["waitlist_id"])
    if entry is None:
        raise NotFound
    return entry


ROUTES: list[Route[Bookings]] = [
    Route(
        method="GET",
        path="/waitlist",
        handler=list_waitlist,
        summary="List waitlist entries",
        description="Oldest first. `position` is the order within a class.",
        query=WaitlistQuery,
        answer=Page[WaitlistEntry],
        errors=(InvalidCursor,),
        tag="Bookings",
    ),
    Route(
        method="GET",
        path="/waitlist/{waitlist_id}",
        handler=get_waitlist_entry,
        summary="Get a waitlist entry",
        answer=WaitlistEntry,
        errors=(NotFound,),
        tag="Bookings",
    ),
]
