"""Staff operations, reached through the operators' API."""

from collections.abc import Awaitable, Callable
from typing import Any

from services.bookings import errors
from services.bookings.actions import change_membership
from services.bookings.actions.cancel_booking import cancel_at_desk
from services.bookings.actions.cancel_class import cancel_class
from services.bookings.actions.change_class import change_class
from services.bookings.actions.create_class import check_new_class, create_class
from services.bookings.actions.record_attendance import record_attendance
from services.bookings.actions.record_purchase import record_purchase
from services.bookings.context import Bookings
from services.bookings.wire.bookings import Booking, BookingCancel, BookingStatus, CancellationReceipt
from services.bookings.wire.classes import Class, ClassCancel, ClassChange, ClassCreate
from services.bookings.wire.memberships import Membership, MembershipCancel, MembershipPause
from services.bookings.wire.purchases import Purchase, PurchaseCreate
from shared.errors import DomainError, NotFound
from shared.http.routes import Call, Route


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


BOOKING = "/bookings/{booking_id}"
MEMBERSHIP = "/memberships/{membership_id}"
MOVED = (NotFound, errors.InvalidStateTransition)
SEATED = (*MOVED, errors.AlreadyBooked)
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
]
