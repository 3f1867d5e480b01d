"""Staff operations and what staff read, through the operators' API.

They read the partners' lists over the whole studio, rosters with names, and members with their phones.
"""

from functools import partial

from services.bookings import errors
from services.bookings.actions import change_membership
from services.bookings.actions.cancel_booking import cancel_booking
from services.bookings.actions.manage_class import (
    cancel_class,
    change_class,
    check_new_class,
    create_class,
    record_attendance,
)
from services.bookings.actions.members import record_purchase
from services.bookings.context import Bookings
from services.bookings.routes import bookings as partner_bookings
from services.bookings.routes import classes as partner_classes
from services.bookings.routes import members as partner_members
from services.bookings.store import bookings, classes, members
from services.bookings.wire.bookings import (
    Booking,
    BookingCancel,
    BookingStatus,
    CancellationReceipt,
    CancelQuery,
    RosterEntry,
    RosterQuery,
)
from services.bookings.wire.classes import Class, ClassCancel, ClassChange, ClassCreate
from services.bookings.wire.members import (
    Membership,
    MembershipCancel,
    MembershipPause,
    MembersQuery,
    Purchase,
    PurchaseCreate,
    StaffMember,
)
from shared.errors import DomainError, InvalidCursor, NotFound
from shared.http.pages import Page, page_of
from shared.http.reads import read_one, read_page
from shared.http.routes import Call, Routes

BOOKING = "/bookings/{booking_id}"
MEMBERSHIP = "/memberships/{membership_id}"
MOVED = (NotFound, errors.InvalidStateTransition)
SEATED = (*MOVED, errors.AlreadyBooked, errors.AlreadyHeld, errors.BookingHeld)
Refusals = tuple[type[DomainError], ...]

ROUTES: Routes[Bookings] = Routes("/staff", staff=True, role="staff", tag="Staff")


@ROUTES.add(
    "POST", "/classes", "Create a class", check=check_new_class, status=201, errors=(errors.ClassExists,)
)
async def post_class(service: Bookings, call: Call[None, ClassCreate]) -> Class:
    return await create_class(service, call.caller, call.body)


@ROUTES.add("PATCH", "/classes/{class_id}", "Change a class", errors=MOVED)
async def patch_class(service: Bookings, call: Call[None, ClassChange]) -> Class:
    return await change_class(service, call.caller, call.path["class_id"], call.body)


@ROUTES.add("POST", "/classes/{class_id}/cancel", "Cancel a class", errors=MOVED)
async def post_class_cancel(service: Bookings, call: Call[None, ClassCancel]) -> Class:
    return await cancel_class(service, call.caller, call.path["class_id"], call.body.reason)


def _add_attendance(path: str, summary: str, status: BookingStatus, refusals: Refusals) -> None:
    @ROUTES.add("POST", BOOKING + path, summary, errors=refusals)
    async def moved(service: Bookings, call: Call[None, None]) -> Booking:
        return await record_attendance(service, call.caller, call.path["booking_id"], status)


_add_attendance("/check-in", "Check a member in", BookingStatus.CHECKED_IN, SEATED)
_add_attendance("/undo-check-in", "Undo a check-in", BookingStatus.CONFIRMED, MOVED)
_add_attendance("/no-show", "Mark a no-show", BookingStatus.NO_SHOW, MOVED)


@ROUTES.add(
    "POST",
    f"{BOOKING}/cancel",
    "Cancel a booking under the studio's policy",
    optional_body=True,
    errors=(NotFound, errors.BookingAlreadyCancelled, errors.BookingNotCancellable),
)
async def post_booking_cancel(service: Bookings, call: Call[None, BookingCancel]) -> CancellationReceipt:
    query = CancelQuery(reason=call.body.reason)
    return await cancel_booking(service, call.caller, call.path["booking_id"], query)


@ROUTES.add("POST", f"{MEMBERSHIP}/pause", "Pause a membership", errors=MOVED)
async def post_pause(service: Bookings, call: Call[None, MembershipPause]) -> Membership:
    membership_id = call.path["membership_id"]
    return await change_membership.pause_membership(service, call.caller, membership_id, call.body)


@ROUTES.add("POST", f"{MEMBERSHIP}/resume", "Resume a membership", errors=MOVED)
async def post_resume(service: Bookings, call: Call[None, None]) -> Membership:
    return await change_membership.resume_membership(service, call.caller, call.path["membership_id"])


@ROUTES.add("POST", f"{MEMBERSHIP}/cancel", "Cancel a membership", errors=MOVED)
async def post_membership_cancel(service: Bookings, call: Call[None, MembershipCancel]) -> Membership:
    membership_id = call.path["membership_id"]
    return await change_membership.cancel_membership(service, call.caller, membership_id, call.body)


@ROUTES.add("POST", "/purchases", "Record a purchase", status=201, errors=(NotFound, errors.PurchaseExists))
async def post_purchase(service: Bookings, call: Call[None, PurchaseCreate]) -> Purchase:
    return await record_purchase(service, call.caller, call.body)


# Members have a staff view of their own, and staff send no idempotency keys.
_NOT_FOR_STAFF = {"/members", "/members/{member_id}"}
ROUTES += [
    route.for_staff()
    for route in (*partner_classes.ROUTES, *partner_bookings.ROUTES, *partner_members.ROUTES)
    if route.method == "GET" and route.path not in _NOT_FOR_STAFF
]


@ROUTES.add(
    "GET",
    "/classes/{class_id}/roster",
    "List who comes to a class",
    description="Bookings with the members' names; those who wait have their position on the waitlist.",
    errors=(InvalidCursor, NotFound),
    tag="Bookings",
)
async def list_roster(service: Bookings, call: Call[RosterQuery, None]) -> Page[RosterEntry]:
    class_id, query = call.path["class_id"], call.query
    async with service.db.connection() as conn:
        await classes.get(conn, call.caller, class_id)
        return page_of(await bookings.list_roster(conn, call.caller, class_id, query), query.limit)


ROUTES += [
    read_page(
        "/members",
        partner_members.page_of_members(StaffMember),
        "List members with phone and credits",
        MembersQuery,
        Page[StaffMember],
        tag="Members",
    ).for_staff(),
    read_one(
        "/members/{member_id}",
        partial(members.get, shown=StaffMember),
        "Read a member with phone and credits",
        StaffMember,
        tag="Members",
    ).for_staff(),
]
