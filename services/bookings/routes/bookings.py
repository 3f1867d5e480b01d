"""Bookings and waitlist entries, for partners."""

from services.bookings import errors
from services.bookings.actions.cancel_booking import (
    cancel_booking,
    may_repeat_cancellation,
    may_repeat_confirmation,
    preview_cancellation,
)
from services.bookings.actions.confirm_hold import confirm_hold
from services.bookings.actions.create_booking import check_hold, create_booking
from services.bookings.actions.decide_bookings import preview_booking
from services.bookings.actions.reschedule_booking import (
    may_repeat_reschedule,
    preview_reschedule,
    reschedule_booking,
)
from services.bookings.context import Bookings
from services.bookings.store import bookings, reschedules, waitlist
from services.bookings.wire.bookings import (
    MAX_CLASSES_IN_RANGE,
    Booking,
    BookingCreate,
    BookingMove,
    BookingPreview,
    BookingReschedule,
    BookingsQuery,
    CancellationReceipt,
    CancelQuery,
    ReschedulePreview,
    WaitlistEntry,
    WaitlistQuery,
)
from shared.errors import InvalidCursor, NotFound
from shared.http.idempotency.once import idempotent_request
from shared.http.pages import Page
from shared.http.reads import read_one, read_page
from shared.http.response import Response
from shared.http.routes import Call, Routes
from shared.wire import PageQuery

CANCEL_REFUSALS = (errors.BookingAlreadyCancelled, errors.BookingNotCancellable)


ROUTES: Routes[Bookings] = Routes()


@ROUTES.add(
    "POST",
    "/bookings",
    "Book a class",
    description="Checks capacity, eligibility, spot and waitlist in one transaction. With `join_waitlist`, a "
    "full class returns 201 with status `waitlisted` and the position on the waitlist. If the "
    "response is lost, repeat the request with the same Idempotency-Key: the first response is "
    "returned again, byte for byte. With `hold_seconds` the seat is held, and nothing is charged: the answer "
    "has status `held` and `held_until`.",
    response=Booking,
    status=201,
    check=check_hold,
    idempotent=True,
    claims_key=True,
    errors=(NotFound, *errors.BOOKING_REFUSALS),
    tag="Bookings",
)
async def post_booking(service: Bookings, call: Call[None, BookingCreate]) -> Response:
    request = idempotent_request(call.idempotency_key, "POST", "/bookings", call.body)
    return await create_booking(service, call.caller, request, call.body)


async def _may_repeat(service: Bookings, call: Call[CancelQuery, None], stored: bytes) -> None:
    await may_repeat_cancellation(service, call.caller, call.path["booking_id"])


async def _may_confirm_again(service: Bookings, call: Call[None, None], stored: bytes) -> None:
    await may_repeat_confirmation(service, call.caller, call.path["booking_id"])


@ROUTES.add(
    "POST",
    "/bookings/{booking_id}/confirm",
    "Confirm a hold",
    description="Checks the member in full, charges the credits and makes the booking `confirmed`. Who has "
    "paid too late is still booked: until the class starts, a hold that has run out takes its seat again, if "
    "the seat is free and nobody waits.",
    idempotent=True,
    may_repeat=_may_confirm_again,
    errors=(NotFound, *errors.CONFIRM_REFUSALS),
    tag="Bookings",
)
async def post_confirm(service: Bookings, call: Call[None, None]) -> Booking:
    return await confirm_hold(service, call.caller, call.path["booking_id"])


@ROUTES.add(
    "DELETE",
    "/bookings/{booking_id}",
    "Cancel a booking",
    description="Applies the studio's current cancellation policy. `max_late_fee` and `allow_credit_forfeit` "
    "limit what the caller accepts: if the terms are worse, nothing is cancelled. Giving up a hold is free, "
    "and a key with `bookings:write` alone may do it; any other booking needs `bookings:cancel`.",
    idempotent=True,
    may_repeat=_may_repeat,
    errors=(NotFound, *CANCEL_REFUSALS, errors.CancellationTermsChanged),
    tag="Bookings",
)
async def delete_booking(service: Bookings, call: Call[CancelQuery, None]) -> CancellationReceipt:
    return await cancel_booking(service, call.caller, call.path["booking_id"], call.query)


@ROUTES.add(
    "POST",
    "/bookings/preview",
    "Preview a booking",
    description="Runs every check of a booking and reports each result, without writing anything.",
    reads=True,
    check=check_hold,
    errors=(NotFound,),
    tag="Bookings",
)
async def post_preview(service: Bookings, call: Call[None, BookingCreate]) -> BookingPreview:
    return await preview_booking(service, call.caller, call.body)


@ROUTES.add(
    "GET",
    "/bookings/{booking_id}/cancellation-preview",
    "Preview a cancellation",
    description="The receipt that a cancellation would give at this instant, without cancelling anything. It "
    "changes with the clock, so it carries no `ETag`.",
    tagged=False,
    errors=(NotFound, *CANCEL_REFUSALS),
    tag="Bookings",
)
async def get_cancellation_preview(service: Bookings, call: Call[None, None]) -> CancellationReceipt:
    return await preview_cancellation(service, call.caller, call.path["booking_id"])


MOVE = "/bookings/{booking_id}/reschedule"


async def _may_repeat_move(service: Bookings, call: Call[None, BookingMove], stored: bytes) -> None:
    booking_id = call.path["booking_id"]
    await may_repeat_reschedule(service, call.caller, booking_id, call.body.class_id, stored)


@ROUTES.add(
    "POST",
    MOVE,
    "Move a booking to another class",
    description="A confirmed booking gets a seat in the other class and leaves its own, in one transaction, "
    "and keeps its id. It costs what cancelling costs now, and what the new seat costs; credits that are "
    "returned count for the new seat. If the move is refused, for example because the class is full, the "
    "member keeps the old seat. `max_late_fee` and `allow_credit_forfeit` limit what the caller accepts.",
    also_needs=("bookings:cancel",),
    idempotent=True,
    may_repeat=_may_repeat_move,
    errors=(NotFound, *errors.MOVE_REFUSALS),
    tag="Bookings",
)
async def post_reschedule(service: Bookings, call: Call[None, BookingMove]) -> BookingReschedule:
    return await reschedule_booking(service, call.caller, call.path["booking_id"], call.body)


@ROUTES.add(
    "POST",
    f"{MOVE}/preview",
    "Preview a move",
    description="Runs every check of a move and reports each result with the present price, without writing "
    "anything.",
    reads=True,
    errors=(NotFound,),
    tag="Bookings",
)
async def post_reschedule_preview(service: Bookings, call: Call[None, BookingMove]) -> ReschedulePreview:
    return await preview_reschedule(service, call.caller, call.path["booking_id"], call.body)


@ROUTES.add(
    "GET",
    "/bookings/{booking_id}/reschedules",
    "List the moves of a booking",
    description="Oldest first. `booking` is the booking as it is now, in every row.",
    errors=(InvalidCursor, NotFound),
    tag="Bookings",
)
async def list_reschedules(service: Bookings, call: Call[PageQuery, None]) -> Page[BookingReschedule]:
    async with service.db.connection() as conn:
        return await reschedules.list_page(conn, call.caller, call.path["booking_id"], call.query)


ROUTES += [
    read_page(
        "/bookings",
        bookings.list_page,
        "List bookings",
        BookingsQuery,
        Page[Booking],
        tag="Bookings",
        description=(
            "Oldest first. Filters combine. Without `class_id` or `member_id`, the range from `starts_after` "
            f"to `starts_before` may hold at most {MAX_CLASSES_IN_RANGE:,} of the studio's classes; a wider "
            "one returns 422. Without `status`, bookings that are or were only held are left out."
        ),
    ),
    read_one("/bookings/{booking_id}", bookings.get, "Get a booking", Booking, tag="Bookings"),
    read_page(
        "/waitlist",
        waitlist.list_page,
        "List waitlist entries",
        WaitlistQuery,
        Page[WaitlistEntry],
        tag="Bookings",
        description="Oldest first. `position` is the order within a class.",
    ),
    read_one("/waitlist/{waitlist_id}", waitlist.get, "Get a waitlist entry", WaitlistEntry, tag="Bookings"),
]
