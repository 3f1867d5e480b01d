"""Staff operations and what staff read, through the operators' API.

They read the partners' lists over the whole studio, rosters with names, and members with their phones.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from services.bookings import errors
from services.bookings.actions import change_membership
from services.bookings.actions.cancel_booking import cancel_at_desk
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
from shared.http.routes import Call, Route

BOOKING = "/bookings/{booking_id}"
MEMBERSHIP = "/memberships/{membership_id}"
MOVED = (NotFound, errors.InvalidStateTransition)
SEATED = (*MOVED, errors.AlreadyBooked)


async def post_class(service: Bookings, call: Call[None, ClassCreate]) -> Class:
    return await create_class(service, call.caller, call.body)


async def patch_class(service: Bookings, call: Call[None, ClassChange]) -> Class:
    return await change_class(service, call.caller, call.path["class_id"], call.body)


async def post_class_cancel(service: Bookings, call: Call[None, ClassCancel]) -> Class:
    return await cancel_class(service, call.caller, call.path["class_id"], call.body.reason)


async def post_booking_cancel(service: Bookings, call: Call[None, BookingCancel]) -> CancellationReceipt:
    return await cancel_at_desk(service, call.caller, call.path["booking_id"], call.body.reason)


def _attendance(status: BookingStatus) -> Callable[[Bookings, Call[None, None]], Awaitable[Booking]]:
    async def moved(service: Bookings, call: Call[None, None]) -> Booking:
        return await record_attendance(service, call.caller, call.path["booking_id"], status)

    return moved


async def post_pause(service: Bookings, call: Call[None, MembershipPause]) -> Membership:
    membership_id = call.path["membership_id"]
    return await change_membership.pause_membership(service, call.caller, membership_id, call.body)


async def post_resume(service: Bookings, call: Call[None, None]) -> Membership:
    return await change_membership.resume_membership(service, call.caller, call.path["membership_id"])


async def post_membership_cancel(service: Bookings, call: Call[None, MembershipCancel]) -> Membership:
    membership_id = call.path["membership_id"]
    return await change_membership.cancel_membership(service, call.caller, membership_id, call.body)


async def post_purchase(service: Bookings, call: Call[None, PurchaseCreate]) -> Purchase:
    return await record_purchase(service, call.caller, call.body)


def _staff(
    method: str,
    path: str,
    handler: Callable[[Bookings, Call[Any, Any]], Awaitable[Any]],
    summary: str,
    answer: Any,
    *refusals: type[DomainError],
    body: Any = None,
    optional_body: bool = False,
    check: Any = None,
    status: int = 200,
) -> Route[Bookings]:
    return Route(
        method=method,
        path=f"/staff{path}",
        handler=handler,
        summary=summary,
        body=body,
        optional_body=optional_body,
        check=check,
        answer=answer,
        status=status,
        errors=refusals,
        staff=True,
        role="staff",
        tag="Staff",
    )


# Members have a staff view of their own, and staff send no idempotency keys.
_NOT_FOR_STAFF = {"/members", "/members/{member_id}", "/idempotency-keys/{key}"}
_PARTNER_ROUTES = (
    *partner_classes.ROUTES,
    *partner_bookings.ROUTES,
    *partner_members.ROUTES,
)


async def list_roster(service: Bookings, call: Call[RosterQuery, None]) -> Page[RosterEntry]:
    class_id, query = call.path["class_id"], call.query
    async with service.db.connection() as conn:
        await classes.get(conn, call.caller, class_id)
        return page_of(await bookings.list_roster(conn, call.caller, class_id, query), query.limit)


ROUTES: list[Route[Bookings]] = [
    _staff(
        "POST",
        "/classes",
        post_class,
        "Create a class",
        Class,
        errors.ClassExists,
        body=ClassCreate,
        check=check_new_class,
        status=201,
    ),
    _staff("PATCH", "/classes/{class_id}", patch_class, "Change a class", Class, *MOVED, body=ClassChange),
    _staff(
        "POST",
        "/classes/{class_id}/cancel",
        post_class_cancel,
        "Cancel a class",
        Class,
        *MOVED,
        body=ClassCancel,
    ),
    _staff(
        "POST",
        f"{BOOKING}/check-in",
        _attendance(BookingStatus.CHECKED_IN),
        "Check a member in",
        Booking,
        *SEATED,
    ),
    _staff(
        "POST",
        f"{BOOKING}/undo-check-in",
        _attendance(BookingStatus.CONFIRMED),
        "Undo a check-in",
        Booking,
        *MOVED,
    ),
    _staff(
        "POST", f"{BOOKING}/no-show", _attendance(BookingStatus.NO_SHOW), "Mark a no-show", Booking, *MOVED
    ),
    _staff(
        "POST",
        f"{BOOKING}/cancel",
        post_booking_cancel,
        "Cancel a booking under the studio's policy",
        CancellationReceipt,
        NotFound,
        errors.BookingAlreadyCancelled,
        errors.BookingNotCancellable,
        body=BookingCancel,
        optional_body=True,
    ),
    _staff(
        "POST",
        f"{MEMBERSHIP}/pause",
        post_pause,
        "Pause a membership",
        Membership,
        *MOVED,
        body=MembershipPause,
    ),
    _staff("POST", f"{MEMBERSHIP}/resume", post_resume, "Resume a membership", Membership, *MOVED),
    _staff(
        "POST",
        f"{MEMBERSHIP}/cancel",
        post_membership_cancel,
        "Cancel a membership",
        Membership,
        *MOVED,
        body=MembershipCancel,
    ),
    _staff(
        "POST",
        "/purchases",
        post_purchase,
        "Record a purchase",
        Purchase,
        NotFound,
        errors.PurchaseExists,
        body=PurchaseCreate,
        status=201,
    ),
    *(
        route.for_staff()
        for route in _PARTNER_ROUTES
        if route.method == "GET" and route.path not in _NOT_FOR_STAFF
    ),
    Route(
        method="GET",
        path="/classes/{class_id}/roster",
        handler=list_roster,
        summary="List who comes to a class",
        description="Bookings with the members' names; those who wait have their position on the waitlist.",
        query=RosterQuery,
        answer=Page[RosterEntry],
        errors=(InvalidCursor, NotFound),
        tag="Bookings",
    ).for_staff(),
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
