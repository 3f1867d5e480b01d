"""Work at the desk: walk-ins, the waitlist, late fees, and what staff look up for it."""

from functools import partial

from services.bookings import errors
from services.bookings.actions.desk import book_walk_in, check_walk_in, promote_entry, skip_entry, waive_fee
from services.bookings.context import Bookings
from services.bookings.routes.members import page_of_members
from services.bookings.store import classes, desk, members
from services.bookings.wire.bookings import Booking, CancellationReceipt, RosterQuery, WaitlistEntry
from services.bookings.wire.desk import (
    Promote,
    RosterEntry,
    StaffBooking,
    StaffBookingsQuery,
    StaffMembersQuery,
    WalkIn,
)
from services.bookings.wire.members import StaffMember
from shared.errors import Invalid, InvalidCursor, NotFound, Problem
from shared.http.caller import InsufficientRole
from shared.http.pages import Page, whole_page
from shared.http.reads import read_one, read_page
from shared.http.routes import Call, Routes
from shared.wire import now

ROUTES: Routes[Bookings] = Routes("/staff", staff=True, role="staff", tag="Staff")
ENTRY = "/waitlist/{waitlist_id}"


@ROUTES.add(
    "POST",
    "/bookings",
    "Book a walk-in",
    check=check_walk_in,
    status=201,
    errors=(NotFound, InsufficientRole, errors.MemberExists, *errors.BOOKING_REFUSALS),
)
async def post_walk_in(service: Bookings, call: Call[None, WalkIn]) -> Booking:
    return await book_walk_in(service, call.caller, call.body)


@ROUTES.add(
    "POST",
    f"{ENTRY}/promote",
    "Give somebody who waits a seat, out of turn",
    optional_body=True,
    errors=(
        NotFound,
        InsufficientRole,
        errors.InvalidStateTransition,
        errors.ClassNotBookable,
        errors.MemberNotEligible,
        errors.ClassFull,
    ),
)
async def post_promotion(service: Bookings, call: Call[None, Promote]) -> Booking:
    entry_id, override = call.path["waitlist_id"], call.body.override_capacity
    return await promote_entry(service, call.caller, entry_id, override_capacity=override)


@ROUTES.add(
    "POST",
    f"{ENTRY}/skip",
    "Take somebody off the waitlist",
    errors=(NotFound, errors.InvalidStateTransition),
)
async def post_skip(service: Bookings, call: Call[None, None]) -> WaitlistEntry:
    return await skip_entry(service, call.caller, call.path["waitlist_id"])


@ROUTES.add(
    "POST",
    "/bookings/{booking_id}/waive-fee",
    "Waive the fee of a late cancellation",
    role="manager",
    errors=(NotFound, errors.NoFeeToWaive),
)
async def post_waiver(service: Bookings, call: Call[None, None]) -> CancellationReceipt:
    return await waive_fee(service, call.caller, call.path["booking_id"])


@ROUTES.add(
    "GET",
    "/classes/{class_id}/roster",
    "List who comes to a class",
    errors=(InvalidCursor, NotFound),
    tag="Bookings",
)
async def list_roster(service: Bookings, call: Call[RosterQuery, None]) -> Page[RosterEntry]:
    async with service.db.connection() as conn:
        class_ = await classes.get(conn, call.caller, call.path["class_id"])
        return await desk.list_roster(conn, call.caller, class_, call.query, now())


@ROUTES.add("GET", "/members", "List members with phone and credits", errors=(InvalidCursor,), tag="Members")
async def list_members(service: Bookings, call: Call[StaffMembersQuery, None]) -> Page[StaffMember]:
    query = call.query
    async with service.db.connection() as conn:
        if query.q is None:
            page: Page[StaffMember] = await page_of_members(StaffMember)(conn, call.caller, query)
            return page
        if query.cursor is not None or query.email is not None:
            text = "A search has one page, and no other filter."
            raise Invalid([Problem(("query", "q"), text, "value_error")])
        return whole_page(await desk.search_members(conn, call.caller, query.q, query.limit))


ROUTES += [
    read_page(
        "/bookings",
        desk.list_bookings,
        "List bookings with names and receipts",
        StaffBookingsQuery,
        Page[StaffBooking],
        tag="Bookings",
    ).for_staff(),
    read_one(
        "/members/{member_id}",
        partial(members.get, shown=StaffMember),
        "Read a member with phone and credits",
        StaffMember,
        tag="Members",
    ).for_staff(),
]
