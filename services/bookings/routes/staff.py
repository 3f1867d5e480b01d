"""Staff operations, and the partners' lists over the whole studio, through the operators' API.

The desk's own views and its work on single bookings are in desk.py.
"""

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
from services.bookings.wire.bookings import (
    Booking,
    BookingCancel,
    BookingStatus,
    CancellationReceipt,
    CancelQuery,
)
from services.bookings.wire.classes import Class, ClassCancel, ClassChange, ClassCreate
from services.bookings.wire.members import (
    Membership,
    MembershipCancel,
    MembershipPause,
    Purchase,
    PurchaseCreate,
)
from shared.errors import DomainError, NotFound
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


# Members and bookings have a staff view of their own, and staff send no idempotency keys.
_NOT_FOR_STAFF = {"/members", "/members/{member_id}", "/bookings"}
ROUTES += [
    route.for_staff()
    for route in (*partner_classes.ROUTES, *partner_bookings.ROUTES, *partner_members.ROUTES)
    if route.method == "GET" and route.path not in _NOT_FOR_STAFF
]
ROUTES += [
    route.for_staff()
    for route in partner_members.ROUTES
    if (route.method, route.path) == ("POST", "/members")
]
