"""What staff read: the partners' lists over the whole studio, rosters with names, members with phone."""

from services.bookings.context import Bookings
from services.bookings.routes import bookings as partner_bookings
from services.bookings.routes import classes as partner_classes
from services.bookings.routes import members as partner_members
from services.bookings.routes import purchases as partner_purchases
from services.bookings.routes import waitlist as partner_waitlist
from services.bookings.store import bookings, classes, members
from services.bookings.wire.bookings import RosterEntry, RosterQuery
from services.bookings.wire.members import MembersQuery, StaffMember
from shared.errors import InvalidCursor, NotFound
from shared.http.pages import Page, page_of
from shared.http.routes import Call, Route

# Members have a staff view of their own below.
_OWN = {"/members", "/members/{member_id}"}
_PARTNER_ROUTES = (
    *partner_classes.ROUTES,
    *partner_bookings.ROUTES,
    *partner_waitlist.ROUTES,
    *partner_members.ROUTES,
    *partner_purchases.ROUTES,
)


async def list_roster(service: Bookings, call: Call[RosterQuery, None]) -> Page[RosterEntry]:
    class_id, query = call.path["class_id"], call.query
    async with service.db.connection() as conn:
        if await classes.get(conn, call.caller, class_id) is None:
            raise NotFound
        return page_of(await bookings.list_roster(conn, call.caller, class_id, query), query.limit)


async def list_members(service: Bookings, call: Call[MembersQuery, None]) -> Page[StaffMember]:
    query = call.query
    email = partner_members.normalized_email(query)
    async with service.db.connection() as conn:
        found = await members.list_for_staff(conn, call.caller, query, email=email)
    return page_of(found, query.limit)


async def get_member(service: Bookings, call: Call[None, None]) -> StaffMember:
    async with service.db.connection() as conn:
        member = await members.get_for_staff(conn, call.caller, call.path["member_id"])
    if member is None:
        raise NotFound
    return member


ROUTES: list[Route[Bookings]] = [
    *(route.for_staff() for route in _PARTNER_ROUTES if route.method == "GET" and route.path not in _OWN),
    Route(
        method="GET",
        path="/staff/classes/{class_id}/roster",
        handler=list_roster,
        summary="List who comes to a class",
        description="Bookings with the members' names; those who wait have their position on the waitlist.",
        query=RosterQuery,
        answer=Page[RosterEntry],
        errors=(InvalidCursor, NotFound),
        staff=True,
        role="staff",
        tag="Bookings",
    ),
    Route(
        method="GET",
        path="/staff/members",
        handler=list_members,
        summary="List members with phone and credits",
        query=MembersQuery,
        answer=Page[StaffMember],
        errors=(InvalidCursor,),
        staff=True,
        role="staff",
        tag="Members",
    ),
    Route(
        method="GET",
        path="/staff/members/{member_id}",
        handler=get_member,
        summary="Read a member with phone and credits",
        answer=StaffMember,
        errors=(NotFound,),
        staff=True,
        role="staff",
        tag="Members",
    ),
]
