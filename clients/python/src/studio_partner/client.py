# Generated from the OpenAPI document by `python -m clients.generate --write`. Do not edit.
"""Every operation of the API as a method, blocking and with asyncio."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

from ._exchange import Operation, segment
from ._following import LIST_EVENTS, AsyncEvents, Events
from ._http import AsyncioClient, BlockingClient
from ._values import UNSET, Page, Reader, Unknown, UnsetType
from .events import Event, EventPage, read_event
from .models import (
    Booking,
    BookingPreview,
    BookingReschedule,
    BookingReschedulePreview,
    BookingStatusText,
    CancellationReceipt,
    Class,
    ClassSpot,
    ClassStatusText,
    ClassType,
    EndpointHealth,
    EventKind,
    EventTypes,
    Form,
    FormEvaluation,
    FormField,
    FormSettings,
    FormStatusText,
    FormSubmission,
    IdempotencyKeyState,
    Instructor,
    Key,
    Lead,
    LeadStatusText,
    Location,
    Member,
    Membership,
    MissedEvents,
    MutationResult,
    OwnConsoleSession,
    Product,
    Purchase,
    Request,
    RequestCounts,
    RequestCountsWindowText,
    RequestSourceText,
    Room,
    Scope,
    Studio,
    WaitlistEntry,
    WaitlistStatusText,
    WebhookDelivery,
    WebhookDeliveryStatusText,
    WebhookDeliveryWithHeaders,
    WebhookEndpoint,
    WebhookEndpointStatusText,
    WebhookEndpointWithSecret,
    WebhookRecovery,
)


def _read_nothing(_: bytes) -> None:
    return None


_GET_KEY = Operation("GET", Reader(Key))
_LIST_REQUESTS = Operation("GET", Reader(Page[Request]))
_GET_REQUEST_COUNTS = Operation("GET", Reader(RequestCounts))
_GET_IDEMPOTENCY_KEY = Operation("GET", Reader(IdempotencyKeyState))
_CREATE_CONSOLE_SESSION = Operation("POST", Reader(OwnConsoleSession), writes=True, shown_once="url")
_GET_STUDIO = Operation("GET", Reader(Studio))
_LIST_LOCATIONS = Operation("GET", Reader(Page[Location]))
_GET_LOCATION = Operation("GET", Reader(Location))
_LIST_ROOMS = Operation("GET", Reader(Page[Room]))
_GET_ROOM = Operation("GET", Reader(Room))
_LIST_CLASS_TYPES = Operation("GET", Reader(Page[ClassType]))
_GET_CLASS_TYPE = Operation("GET", Reader(ClassType))
_LIST_INSTRUCTORS = Operation("GET", Reader(Page[Instructor]))
_GET_INSTRUCTOR = Operation("GET", Reader(Instructor))
_LIST_PRODUCTS = Operation("GET", Reader(Page[Product]))
_GET_PRODUCT = Operation("GET", Reader(Product))
_LIST_CLASSES = Operation("GET", Reader(Page[Class]))
_GET_CLASS = Operation("GET", Reader(Class))
_LIST_CLASS_SPOTS = Operation("GET", Reader(Page[ClassSpot]))
_LIST_MEMBERS = Operation("GET", Reader(Page[Member]))
_CREATE_MEMBER = Operation("POST", Reader(Member), writes=True)
_GET_MEMBER = Operation("GET", Reader(Member))
_LIST_MEMBERSHIPS = Operation("GET", Reader(Page[Membership]))
_GET_MEMBERSHIP = Operation("GET", Reader(Membership))
_LIST_BOOKINGS = Operation("GET", Reader(Page[Booking]))
_CREATE_BOOKING = Operation("POST", Reader(Booking), writes=True)
_PREVIEW_BOOKING = Operation("POST", Reader(BookingPreview))
_GET_BOOKING = Operation("GET", Reader(Booking))
_CANCEL_BOOKING = Operation("DELETE", Reader(CancellationReceipt), writes=True)
_CONFIRM_BOOKING = Operation("POST", Reader(Booking), writes=True)
_PREVIEW_CANCELLATION = Operation("GET", Reader(CancellationReceipt))
_RESCHEDULE_BOOKING = Operation("POST", Reader(BookingReschedule), writes=True)
_PREVIEW_RESCHEDULE = Operation("POST", Reader(BookingReschedulePreview))
_LIST_RESCHEDULES = Operation("GET", Reader(Page[BookingReschedule]))
_LIST_WAITLIST = Operation("GET", Reader(Page[WaitlistEntry]))
_GET_WAITLIST_ENTRY = Operation("GET", Reader(WaitlistEntry))
_LIST_PURCHASES = Operation("GET", Reader(Page[Purchase]))
_GET_PURCHASE = Operation("GET", Reader(Purchase))
_LIST_FORMS = Operation("GET", Reader(Page[Form]))
_CREATE_FORM = Operation("POST", Reader(Form), writes=True)
_GET_FORM = Operation("GET", Reader(Form))
_UPDATE_FORM = Operation("PUT", Reader(Form), writes=True)
_EVALUATE_FORM = Operation("POST", Reader(FormEvaluation))
_LIST_SUBMISSIONS = Operation("GET", Reader(Page[FormSubmission]))
_CREATE_SUBMISSION = Operation("POST", Reader(FormSubmission), writes=True)
_GET_SUBMISSION = Operation("GET", Reader(FormSubmission))
_LIST_LEADS = Operation("GET", Reader(Page[Lead]))
_CREATE_LEAD = Operation("POST", Reader(MutationResult), writes=True)
_GET_LEAD = Operation("GET", Reader(Lead))
_UPDATE_LEAD = Operation("PATCH", Reader(MutationResult), writes=True)
_UPDATE_LEAD_BY_POST = Operation("POST", Reader(MutationResult), writes=True)
_LIST_WEBHOOK_ENDPOINTS = Operation("GET", Reader(Page[WebhookEndpoint]))
_CREATE_WEBHOOK_ENDPOINT = Operation(
    "POST", Reader(WebhookEndpointWithSecret), writes=True, shown_once="secret"
)
_GET_WEBHOOK_ENDPOINT = Operation("GET", Reader(WebhookEndpoint))
_UPDATE_WEBHOOK_ENDPOINT = Operation("PATCH", Reader(WebhookEndpoint), writes=True)
_DELETE_WEBHOOK_ENDPOINT = Operation("DELETE", _read_nothing, writes=True)
_ROTATE_WEBHOOK_SECRET = Operation(
    "POST", Reader(WebhookEndpointWithSecret), writes=True, shown_once="secret"
)
_TEST_WEBHOOK_ENDPOINT = Operation("POST", Reader(WebhookDelivery), writes=True)
_RECOVER_WEBHOOK_ENDPOINT = Operation("POST", Reader(WebhookRecovery), writes=True)
_GET_WEBHOOK_RECOVERY = Operation("GET", Reader(WebhookRecovery))
_LIST_WEBHOOK_DELIVERIES = Operation("GET", Reader(Page[WebhookDelivery]))
_COUNT_MISSED_EVENTS = Operation("GET", Reader(MissedEvents))
_LIST_WEBHOOK_HEALTH = Operation("GET", Reader(Page[EndpointHealth]))
_LIST_DELIVERIES_OF_EVENT = Operation("GET", Reader(Page[WebhookDelivery]))
_GET_WEBHOOK_DELIVERY = Operation("GET", Reader(WebhookDeliveryWithHeaders))
_RETRY_WEBHOOK_DELIVERY = Operation("POST", Reader(WebhookDelivery), writes=True)
_LIST_EVENTS = LIST_EVENTS
_GET_EVENT = Operation("GET", read_event)
_LIST_EVENT_TYPES = Operation("GET", Reader(EventTypes))


class Client(BlockingClient):
    """The API for code that blocks. Threads may share it. `with` closes it."""

    def __init__(
        self, key: str, *, base_url: str, timeout: float = 30.0, retries: int = 4, cache: bool = False
    ) -> None:
        """`base_url` ends in `/partner/v1`. `timeout` is for one attempt, in seconds.

        With `cache`, what has not changed since it was last read is not sent again."""
        super().__init__(key, base_url=base_url, timeout=timeout, retries=retries, cache=cache)
        self.events = Events(self)

    def get_key(
        self,
    ) -> Key:
        """Read the key in use.

        The key's name, studio, scopes, locations, expiry and rate limit, without its secret.

        Any valid key may call this."""
        return self._call(_GET_KEY, "/key")

    def list_requests(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        status_class: Literal["2xx", "3xx", "4xx", "5xx"] | Unknown | None = None,
        request_id: str | None = None,
        route: str | None = None,
        error_code: str | None = None,
        source: RequestSourceText | None = None,
    ) -> Page[Request]:
        """List your requests of the last seven days.

        The requests of your client's keys, newest first: method, route, status and duration, without bodies. They appear within seconds. Under high load some successful requests are not recorded.

        Any valid key may call this."""
        return self._call(
            _LIST_REQUESTS,
            "/requests",
            query={
                "cursor": cursor,
                "limit": limit,
                "status_class": status_class,
                "request_id": request_id,
                "route": route,
                "error_code": error_code,
                "source": source,
            },
        )

    def iter_requests(
        self,
        *,
        status_class: Literal["2xx", "3xx", "4xx", "5xx"] | Unknown | None = None,
        request_id: str | None = None,
        route: str | None = None,
        error_code: str | None = None,
        source: RequestSourceText | None = None,
        page_size: int = 200,
    ) -> Iterator[Request]:
        """All rows of `list_requests`, page after page."""
        return self._rows(
            _LIST_REQUESTS,
            "/requests",
            {
                "limit": page_size,
                "status_class": status_class,
                "request_id": request_id,
                "route": route,
                "error_code": error_code,
                "source": source,
            },
        )

    def get_request_counts(
        self, *, window: RequestCountsWindowText | None = None, source: RequestSourceText | None = None
    ) -> RequestCounts:
        """Count your requests by status over a window.

        The bars of a histogram, oldest first: minutes, half hours or three hours. A request is counted within seconds. When very many arrive at once, some successful ones are not.

        Any valid key may call this."""
        return self._call(_GET_REQUEST_COUNTS, "/requests/counts", query={"window": window, "source": source})

    def get_idempotency_key(self, key: str) -> IdempotencyKeyState:
        """Look up an idempotency key.

        For a write whose response was lost: in progress, succeeded or refused. Keys are kept for 24 hours. If several services have the key, the newest use of it is returned. A key that contains a slash cannot be looked up; retry the write with it instead.

        Any valid key may call this."""
        return self._call(_GET_IDEMPOTENCY_KEY, f"/idempotency-keys/{segment(key)}")

    def create_console_session(
        self,
        *,
        expires_in: int | UnsetType = UNSET,
        scopes: Sequence[Scope | Unknown] | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> OwnConsoleSession:
        """Create a link into the console.

        A link for a person's browser, so that the key stays on your server. It works once, within ten minutes, and opens a session with the key's scopes or some of them. Revoking the key ends the session. A session shares the client's rate limit and cannot create sessions.

        Any valid key may call this."""
        return self._call(
            _CREATE_CONSOLE_SESSION,
            "/console-sessions",
            body={"expires_in": expires_in, "scopes": scopes},
            idempotency_key=idempotency_key,
        )

    def get_studio(
        self,
    ) -> Studio:
        """Read the studio."""
        return self._call(_GET_STUDIO, "/studio")

    def list_locations(self, *, cursor: str | None = None, limit: int | None = None) -> Page[Location]:
        """List locations, active and inactive."""
        return self._call(_LIST_LOCATIONS, "/locations", query={"cursor": cursor, "limit": limit})

    def iter_locations(self, *, page_size: int = 200) -> Iterator[Location]:
        """All rows of `list_locations`, page after page."""
        return self._rows(
            _LIST_LOCATIONS,
            "/locations",
            {
                "limit": page_size,
            },
        )

    def get_location(self, location_id: str) -> Location:
        """Read a location."""
        return self._call(_GET_LOCATION, f"/locations/{segment(location_id)}")

    def list_rooms(
        self, *, cursor: str | None = None, limit: int | None = None, location_id: str | None = None
    ) -> Page[Room]:
        """List rooms.

        A `location_id` that the key cannot access returns 404."""
        return self._call(
            _LIST_ROOMS, "/rooms", query={"cursor": cursor, "limit": limit, "location_id": location_id}
        )

    def iter_rooms(self, *, location_id: str | None = None, page_size: int = 200) -> Iterator[Room]:
        """All rows of `list_rooms`, page after page."""
        return self._rows(_LIST_ROOMS, "/rooms", {"limit": page_size, "location_id": location_id})

    def get_room(self, room_id: str) -> Room:
        """Read a room."""
        return self._call(_GET_ROOM, f"/rooms/{segment(room_id)}")

    def list_class_types(self, *, cursor: str | None = None, limit: int | None = None) -> Page[ClassType]:
        """List class types."""
        return self._call(_LIST_CLASS_TYPES, "/class-types", query={"cursor": cursor, "limit": limit})

    def iter_class_types(self, *, page_size: int = 200) -> Iterator[ClassType]:
        """All rows of `list_class_types`, page after page."""
        return self._rows(
            _LIST_CLASS_TYPES,
            "/class-types",
            {
                "limit": page_size,
            },
        )

    def get_class_type(self, class_type_id: str) -> ClassType:
        """Read a class type."""
        return self._call(_GET_CLASS_TYPE, f"/class-types/{segment(class_type_id)}")

    def list_instructors(self, *, cursor: str | None = None, limit: int | None = None) -> Page[Instructor]:
        """List active instructors."""
        return self._call(_LIST_INSTRUCTORS, "/instructors", query={"cursor": cursor, "limit": limit})

    def iter_instructors(self, *, page_size: int = 200) -> Iterator[Instructor]:
        """All rows of `list_instructors`, page after page."""
        return self._rows(
            _LIST_INSTRUCTORS,
            "/instructors",
            {
                "limit": page_size,
            },
        )

    def get_instructor(self, instructor_id: str) -> Instructor:
        """Read an instructor, active or not."""
        return self._call(_GET_INSTRUCTOR, f"/instructors/{segment(instructor_id)}")

    def list_products(
        self, *, cursor: str | None = None, limit: int | None = None, active: bool | None = None
    ) -> Page[Product]:
        """List products with their prices."""
        return self._call(
            _LIST_PRODUCTS, "/products", query={"cursor": cursor, "limit": limit, "active": active}
        )

    def iter_products(self, *, active: bool | None = None, page_size: int = 200) -> Iterator[Product]:
        """All rows of `list_products`, page after page."""
        return self._rows(_LIST_PRODUCTS, "/products", {"limit": page_size, "active": active})

    def get_product(self, product_id: str) -> Product:
        """Read a product with all its prices."""
        return self._call(_GET_PRODUCT, f"/products/{segment(product_id)}")

    def list_classes(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        ids: Sequence[str] | None = None,
        starts_after: datetime | str | None = None,
        starts_before: datetime | str | None = None,
        on: date | str | None = None,
        location_id: str | None = None,
        instructor_id: str | None = None,
        class_type_id: str | None = None,
        room_id: str | None = None,
        status: ClassStatusText | None = None,
    ) -> Page[Class]:
        """List class sessions.

        Ordered by start time. Filters combine. A `location_id` that the key cannot access returns 404. `ids` reads the availability of up to 100 classes in one call."""
        return self._call(
            _LIST_CLASSES,
            "/classes",
            query={
                "cursor": cursor,
                "limit": limit,
                "ids": ids,
                "starts_after": starts_after,
                "starts_before": starts_before,
                "on": on,
                "location_id": location_id,
                "instructor_id": instructor_id,
                "class_type_id": class_type_id,
                "room_id": room_id,
                "status": status,
            },
        )

    def iter_classes(
        self,
        *,
        ids: Sequence[str] | None = None,
        starts_after: datetime | str | None = None,
        starts_before: datetime | str | None = None,
        on: date | str | None = None,
        location_id: str | None = None,
        instructor_id: str | None = None,
        class_type_id: str | None = None,
        room_id: str | None = None,
        status: ClassStatusText | None = None,
        page_size: int = 200,
    ) -> Iterator[Class]:
        """All rows of `list_classes`, page after page."""
        return self._rows(
            _LIST_CLASSES,
            "/classes",
            {
                "limit": page_size,
                "ids": ids,
                "starts_after": starts_after,
                "starts_before": starts_before,
                "on": on,
                "location_id": location_id,
                "instructor_id": instructor_id,
                "class_type_id": class_type_id,
                "room_id": room_id,
                "status": status,
            },
        )

    def get_class(self, class_id: str) -> Class:
        """Get a class session."""
        return self._call(_GET_CLASS, f"/classes/{segment(class_id)}")

    def list_class_spots(
        self, class_id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[ClassSpot]:
        """List the spots of a class.

        In the studio's order. Empty for a class without spots."""
        return self._call(
            _LIST_CLASS_SPOTS, f"/classes/{segment(class_id)}/spots", query={"cursor": cursor, "limit": limit}
        )

    def iter_class_spots(self, class_id: str, *, page_size: int = 200) -> Iterator[ClassSpot]:
        """All rows of `list_class_spots`, page after page."""
        return self._rows(
            _LIST_CLASS_SPOTS,
            f"/classes/{segment(class_id)}/spots",
            {
                "limit": page_size,
            },
        )

    def list_members(
        self, *, cursor: str | None = None, limit: int | None = None, email: str | None = None
    ) -> Page[Member]:
        """List members.

        Member, user and lead-role profiles of the studio, oldest first."""
        return self._call(_LIST_MEMBERS, "/members", query={"cursor": cursor, "limit": limit, "email": email})

    def iter_members(self, *, email: str | None = None, page_size: int = 200) -> Iterator[Member]:
        """All rows of `list_members`, page after page."""
        return self._rows(_LIST_MEMBERS, "/members", {"limit": page_size, "email": email})

    def create_member(
        self,
        *,
        email: str,
        first_name: str,
        last_name: str,
        phone: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Member:
        """Create a member.

        The normalized email must be unique; the error names the member who already has it."""
        return self._call(
            _CREATE_MEMBER,
            "/members",
            body={"email": email, "first_name": first_name, "last_name": last_name, "phone": phone},
            idempotency_key=idempotency_key,
        )

    def get_member(self, member_id: str) -> Member:
        """Get a member."""
        return self._call(_GET_MEMBER, f"/members/{segment(member_id)}")

    def list_memberships(
        self, member_id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[Membership]:
        """List a member's memberships."""
        return self._call(
            _LIST_MEMBERSHIPS,
            f"/members/{segment(member_id)}/memberships",
            query={"cursor": cursor, "limit": limit},
        )

    def iter_memberships(self, member_id: str, *, page_size: int = 200) -> Iterator[Membership]:
        """All rows of `list_memberships`, page after page."""
        return self._rows(
            _LIST_MEMBERSHIPS,
            f"/members/{segment(member_id)}/memberships",
            {
                "limit": page_size,
            },
        )

    def get_membership(self, membership_id: str) -> Membership:
        """Get a membership."""
        return self._call(_GET_MEMBERSHIP, f"/memberships/{segment(membership_id)}")

    def list_bookings(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        class_id: str | None = None,
        member_id: str | None = None,
        status: BookingStatusText | None = None,
        starts_after: datetime | str | None = None,
        starts_before: datetime | str | None = None,
    ) -> Page[Booking]:
        """List bookings.

        Oldest first. Filters combine. Without `class_id` or `member_id`, the range from `starts_after` to `starts_before` may hold at most 1,000 of the studio's classes; a wider one returns 422. Without `status`, bookings that are or were only held are left out."""
        return self._call(
            _LIST_BOOKINGS,
            "/bookings",
            query={
                "cursor": cursor,
                "limit": limit,
                "class_id": class_id,
                "member_id": member_id,
                "status": status,
                "starts_after": starts_after,
                "starts_before": starts_before,
            },
        )

    def iter_bookings(
        self,
        *,
        class_id: str | None = None,
        member_id: str | None = None,
        status: BookingStatusText | None = None,
        starts_after: datetime | str | None = None,
        starts_before: datetime | str | None = None,
        page_size: int = 200,
    ) -> Iterator[Booking]:
        """All rows of `list_bookings`, page after page."""
        return self._rows(
            _LIST_BOOKINGS,
            "/bookings",
            {
                "limit": page_size,
                "class_id": class_id,
                "member_id": member_id,
                "status": status,
                "starts_after": starts_after,
                "starts_before": starts_before,
            },
        )

    def create_booking(
        self,
        *,
        class_id: str,
        member_id: str,
        join_waitlist: bool | UnsetType = UNSET,
        class_spot_id: str | UnsetType | None = UNSET,
        hold_seconds: int | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Booking:
        """Book a class.

        Checks capacity, eligibility, spot and waitlist in one transaction. With `join_waitlist`, a full class returns 201 with status `waitlisted` and the position on the waitlist. If the response is lost, repeat the request with the same Idempotency-Key: the first response is returned again, byte for byte. With `hold_seconds` the seat is held, and nothing is charged: the answer has status `held` and `held_until`."""
        return self._call(
            _CREATE_BOOKING,
            "/bookings",
            body={
                "class_id": class_id,
                "member_id": member_id,
                "join_waitlist": join_waitlist,
                "class_spot_id": class_spot_id,
                "hold_seconds": hold_seconds,
            },
            idempotency_key=idempotency_key,
        )

    def preview_booking(
        self,
        *,
        class_id: str,
        member_id: str,
        join_waitlist: bool | UnsetType = UNSET,
        class_spot_id: str | UnsetType | None = UNSET,
        hold_seconds: int | UnsetType | None = UNSET,
    ) -> BookingPreview:
        """Preview a booking.

        Runs every check of a booking and reports each result, without writing anything."""
        return self._call(
            _PREVIEW_BOOKING,
            "/bookings/preview",
            body={
                "class_id": class_id,
                "member_id": member_id,
                "join_waitlist": join_waitlist,
                "class_spot_id": class_spot_id,
                "hold_seconds": hold_seconds,
            },
        )

    def get_booking(self, booking_id: str) -> Booking:
        """Get a booking."""
        return self._call(_GET_BOOKING, f"/bookings/{segment(booking_id)}")

    def cancel_booking(
        self,
        booking_id: str,
        *,
        reason: str | None = None,
        max_late_fee: Decimal | str | None = None,
        allow_credit_forfeit: bool | None = None,
        idempotency_key: str | None = None,
    ) -> CancellationReceipt:
        """Cancel a booking.

        Applies the studio's current cancellation policy. `max_late_fee` and `allow_credit_forfeit` limit what the caller accepts: if the terms are worse, nothing is cancelled. Giving up a hold is free, and a key with `bookings:write` alone may do it; any other booking needs `bookings:cancel`."""
        return self._call(
            _CANCEL_BOOKING,
            f"/bookings/{segment(booking_id)}",
            query={
                "reason": reason,
                "max_late_fee": max_late_fee,
                "allow_credit_forfeit": allow_credit_forfeit,
            },
            idempotency_key=idempotency_key,
        )

    def confirm_booking(self, booking_id: str, *, idempotency_key: str | None = None) -> Booking:
        """Confirm a hold.

        Checks the member in full, charges the credits and makes the booking `confirmed`. Who has paid too late is still booked: until the class starts, a hold that has run out takes its seat again, if the seat is free and nobody waits."""
        return self._call(
            _CONFIRM_BOOKING, f"/bookings/{segment(booking_id)}/confirm", idempotency_key=idempotency_key
        )

    def preview_cancellation(self, booking_id: str) -> CancellationReceipt:
        """Preview a cancellation.

        The receipt that a cancellation would give at this instant, without cancelling anything. It changes with the clock, so it carries no `ETag`."""
        return self._call(_PREVIEW_CANCELLATION, f"/bookings/{segment(booking_id)}/cancellation-preview")

    def reschedule_booking(
        self,
        booking_id: str,
        *,
        class_id: str,
        class_spot_id: str | UnsetType | None = UNSET,
        max_late_fee: Decimal | str | UnsetType | None = UNSET,
        allow_credit_forfeit: bool | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> BookingReschedule:
        """Move a booking to another class.

        A confirmed booking gets a seat in the other class and leaves its own, in one transaction, and keeps its id. It costs what cancelling costs now, and what the new seat costs; credits that are returned count for the new seat. If the move is refused, for example because the class is full, the member keeps the old seat. `max_late_fee` and `allow_credit_forfeit` limit what the caller accepts.

        Required scopes: `bookings:write` and `bookings:cancel`."""
        return self._call(
            _RESCHEDULE_BOOKING,
            f"/bookings/{segment(booking_id)}/reschedule",
            body={
                "class_id": class_id,
                "class_spot_id": class_spot_id,
                "max_late_fee": max_late_fee,
                "allow_credit_forfeit": allow_credit_forfeit,
            },
            idempotency_key=idempotency_key,
        )

    def preview_reschedule(
        self,
        booking_id: str,
        *,
        class_id: str,
        class_spot_id: str | UnsetType | None = UNSET,
        max_late_fee: Decimal | str | UnsetType | None = UNSET,
        allow_credit_forfeit: bool | UnsetType | None = UNSET,
    ) -> BookingReschedulePreview:
        """Preview a move.

        Runs every check of a move and reports each result with the present price, without writing anything."""
        return self._call(
            _PREVIEW_RESCHEDULE,
            f"/bookings/{segment(booking_id)}/reschedule/preview",
            body={
                "class_id": class_id,
                "class_spot_id": class_spot_id,
                "max_late_fee": max_late_fee,
                "allow_credit_forfeit": allow_credit_forfeit,
            },
        )

    def list_reschedules(
        self, booking_id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[BookingReschedule]:
        """List the moves of a booking.

        Oldest first. `booking` is the booking as it is now, in every row."""
        return self._call(
            _LIST_RESCHEDULES,
            f"/bookings/{segment(booking_id)}/reschedules",
            query={"cursor": cursor, "limit": limit},
        )

    def iter_reschedules(self, booking_id: str, *, page_size: int = 200) -> Iterator[BookingReschedule]:
        """All rows of `list_reschedules`, page after page."""
        return self._rows(
            _LIST_RESCHEDULES,
            f"/bookings/{segment(booking_id)}/reschedules",
            {
                "limit": page_size,
            },
        )

    def list_waitlist(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        class_id: str | None = None,
        member_id: str | None = None,
        status: WaitlistStatusText | None = None,
    ) -> Page[WaitlistEntry]:
        """List waitlist entries.

        Oldest first. `position` is the order within a class."""
        return self._call(
            _LIST_WAITLIST,
            "/waitlist",
            query={
                "cursor": cursor,
                "limit": limit,
                "class_id": class_id,
                "member_id": member_id,
                "status": status,
            },
        )

    def iter_waitlist(
        self,
        *,
        class_id: str | None = None,
        member_id: str | None = None,
        status: WaitlistStatusText | None = None,
        page_size: int = 200,
    ) -> Iterator[WaitlistEntry]:
        """All rows of `list_waitlist`, page after page."""
        return self._rows(
            _LIST_WAITLIST,
            "/waitlist",
            {"limit": page_size, "class_id": class_id, "member_id": member_id, "status": status},
        )

    def get_waitlist_entry(self, waitlist_id: str) -> WaitlistEntry:
        """Get a waitlist entry."""
        return self._call(_GET_WAITLIST_ENTRY, f"/waitlist/{segment(waitlist_id)}")

    def list_purchases(
        self, *, cursor: str | None = None, limit: int | None = None, member_id: str | None = None
    ) -> Page[Purchase]:
        """List purchases.

        Oldest first. A key limited to locations sees only purchases made there."""
        return self._call(
            _LIST_PURCHASES, "/purchases", query={"cursor": cursor, "limit": limit, "member_id": member_id}
        )

    def iter_purchases(self, *, member_id: str | None = None, page_size: int = 200) -> Iterator[Purchase]:
        """All rows of `list_purchases`, page after page."""
        return self._rows(_LIST_PURCHASES, "/purchases", {"limit": page_size, "member_id": member_id})

    def get_purchase(self, purchase_id: str) -> Purchase:
        """Get a purchase."""
        return self._call(_GET_PURCHASE, f"/purchases/{segment(purchase_id)}")

    def list_forms(
        self, *, cursor: str | None = None, limit: int | None = None, include_drafts: bool | None = None
    ) -> Page[Form]:
        """List published forms.

        With `include_drafts`, also draft and archived forms; this needs the scope forms:write."""
        return self._call(
            _LIST_FORMS, "/forms", query={"cursor": cursor, "limit": limit, "include_drafts": include_drafts}
        )

    def iter_forms(self, *, include_drafts: bool | None = None, page_size: int = 200) -> Iterator[Form]:
        """All rows of `list_forms`, page after page."""
        return self._rows(_LIST_FORMS, "/forms", {"limit": page_size, "include_drafts": include_drafts})

    def create_form(
        self,
        *,
        title: str,
        slug: str | UnsetType = UNSET,
        description: str | UnsetType | None = UNSET,
        fields: Sequence[FormField] | UnsetType = UNSET,
        settings: FormSettings | UnsetType = UNSET,
        status: Literal["draft", "published"] | Unknown | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Form:
        """Create a form.

        Unknown properties of fields and settings are stored and returned."""
        return self._call(
            _CREATE_FORM,
            "/forms",
            body={
                "title": title,
                "slug": slug,
                "description": description,
                "fields": fields,
                "settings": settings,
                "status": status,
            },
            idempotency_key=idempotency_key,
        )

    def get_form(self, form_id: str) -> Form:
        """Read a form."""
        return self._call(_GET_FORM, f"/forms/{segment(form_id)}")

    def update_form(
        self,
        form_id: str,
        *,
        title: str | UnsetType = UNSET,
        slug: str | UnsetType = UNSET,
        description: str | UnsetType | None = UNSET,
        fields: Sequence[FormField] | UnsetType = UNSET,
        settings: FormSettings | UnsetType = UNSET,
        status: FormStatusText | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Form:
        """Update a form.

        Omitted properties stay unchanged; `fields` and `settings` are replaced as a whole."""
        return self._call(
            _UPDATE_FORM,
            f"/forms/{segment(form_id)}",
            body={
                "title": title,
                "slug": slug,
                "description": description,
                "fields": fields,
                "settings": settings,
                "status": status,
            },
            idempotency_key=idempotency_key,
        )

    def evaluate_form(
        self, form_id: str, *, data: Mapping[str, str | Sequence[str]] | UnsetType = UNSET
    ) -> FormEvaluation:
        """Evaluate answers without submitting them.

        Returns the visible and required fields, and every problem a submission would have."""
        return self._call(_EVALUATE_FORM, f"/forms/{segment(form_id)}/evaluate", body={"data": data})

    def list_submissions(
        self, form_id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[FormSubmission]:
        """List a form's submissions."""
        return self._call(
            _LIST_SUBMISSIONS,
            f"/forms/{segment(form_id)}/submissions",
            query={"cursor": cursor, "limit": limit},
        )

    def iter_submissions(self, form_id: str, *, page_size: int = 200) -> Iterator[FormSubmission]:
        """All rows of `list_submissions`, page after page."""
        return self._rows(
            _LIST_SUBMISSIONS,
            f"/forms/{segment(form_id)}/submissions",
            {
                "limit": page_size,
            },
        )

    def create_submission(
        self,
        form_id: str,
        *,
        submitter_email: str,
        data: Mapping[str, str | Sequence[str]],
        submitter_name: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> FormSubmission:
        """Submit answers to a form.

        Only answers for visible fields are accepted."""
        return self._call(
            _CREATE_SUBMISSION,
            f"/forms/{segment(form_id)}/submissions",
            body={"submitter_name": submitter_name, "submitter_email": submitter_email, "data": data},
            idempotency_key=idempotency_key,
        )

    def get_submission(self, form_id: str, submission_id: str) -> FormSubmission:
        """Read a submission."""
        return self._call(_GET_SUBMISSION, f"/forms/{segment(form_id)}/submissions/{segment(submission_id)}")

    def list_leads(self, *, cursor: str | None = None, limit: int | None = None) -> Page[Lead]:
        """List leads."""
        return self._call(_LIST_LEADS, "/leads", query={"cursor": cursor, "limit": limit})

    def iter_leads(self, *, page_size: int = 200) -> Iterator[Lead]:
        """All rows of `list_leads`, page after page."""
        return self._rows(
            _LIST_LEADS,
            "/leads",
            {
                "limit": page_size,
            },
        )

    def create_lead(
        self,
        *,
        email: str,
        first_name: str | UnsetType = UNSET,
        source: str | UnsetType = UNSET,
        metadata: Mapping[str, Any] | UnsetType = UNSET,
        utm_source: str | UnsetType = UNSET,
        utm_campaign: str | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> MutationResult:
        """Create or identify a lead.

        Leads are unique per normalized email. `created` tells whether the lead is new."""
        return self._call(
            _CREATE_LEAD,
            "/leads",
            body={
                "email": email,
                "first_name": first_name,
                "source": source,
                "metadata": metadata,
                "utm_source": utm_source,
                "utm_campaign": utm_campaign,
            },
            idempotency_key=idempotency_key,
        )

    def get_lead(self, lead_id: str) -> Lead:
        """Read a lead."""
        return self._call(_GET_LEAD, f"/leads/{segment(lead_id)}")

    def update_lead(
        self,
        lead_id: str,
        *,
        first_name: str | UnsetType = UNSET,
        last_name: str | UnsetType | None = UNSET,
        phone: str | UnsetType | None = UNSET,
        email: str | UnsetType = UNSET,
        status: LeadStatusText | UnsetType = UNSET,
        notes: str | UnsetType | None = UNSET,
        metadata: Mapping[str, Any] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> MutationResult:
        """Update a lead.

        PATCH and POST …/update are the same operation. Omitted properties stay unchanged."""
        return self._call(
            _UPDATE_LEAD,
            f"/leads/{segment(lead_id)}",
            body={
                "first_name": first_name,
                "last_name": last_name,
                "phone": phone,
                "email": email,
                "status": status,
                "notes": notes,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
        )

    def update_lead_by_post(
        self,
        lead_id: str,
        *,
        first_name: str | UnsetType = UNSET,
        last_name: str | UnsetType | None = UNSET,
        phone: str | UnsetType | None = UNSET,
        email: str | UnsetType = UNSET,
        status: LeadStatusText | UnsetType = UNSET,
        notes: str | UnsetType | None = UNSET,
        metadata: Mapping[str, Any] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> MutationResult:
        """Update a lead by POST.

        PATCH and POST …/update are the same operation. Omitted properties stay unchanged."""
        return self._call(
            _UPDATE_LEAD_BY_POST,
            f"/leads/{segment(lead_id)}/update",
            body={
                "first_name": first_name,
                "last_name": last_name,
                "phone": phone,
                "email": email,
                "status": status,
                "notes": notes,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
        )

    def list_webhook_endpoints(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[WebhookEndpoint]:
        """List your client's webhook endpoints."""
        return self._call(
            _LIST_WEBHOOK_ENDPOINTS, "/webhook-endpoints", query={"cursor": cursor, "limit": limit}
        )

    def iter_webhook_endpoints(self, *, page_size: int = 200) -> Iterator[WebhookEndpoint]:
        """All rows of `list_webhook_endpoints`, page after page."""
        return self._rows(
            _LIST_WEBHOOK_ENDPOINTS,
            "/webhook-endpoints",
            {
                "limit": page_size,
            },
        )

    def create_webhook_endpoint(
        self,
        *,
        url: str,
        description: str | UnsetType = UNSET,
        event_types: Sequence[EventKind | Unknown] | UnsetType = UNSET,
        fifo: bool | UnsetType = UNSET,
        rate_limit: float | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> WebhookEndpointWithSecret:
        """Create a webhook endpoint.

        The response contains the signing secret. It is not shown again until you rotate it."""
        return self._call(
            _CREATE_WEBHOOK_ENDPOINT,
            "/webhook-endpoints",
            body={
                "url": url,
                "description": description,
                "event_types": event_types,
                "fifo": fifo,
                "rate_limit": rate_limit,
            },
            idempotency_key=idempotency_key,
        )

    def get_webhook_endpoint(self, endpoint_id: str) -> WebhookEndpoint:
        """Get a webhook endpoint."""
        return self._call(_GET_WEBHOOK_ENDPOINT, f"/webhook-endpoints/{segment(endpoint_id)}")

    def update_webhook_endpoint(
        self,
        endpoint_id: str,
        *,
        url: str | UnsetType = UNSET,
        description: str | UnsetType = UNSET,
        event_types: Sequence[EventKind | Unknown] | UnsetType = UNSET,
        status: WebhookEndpointStatusText | UnsetType = UNSET,
        fifo: bool | UnsetType = UNSET,
        rate_limit: float | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> WebhookEndpoint:
        """Change, disable or enable a webhook endpoint.

        Use `recover` to get the events that were created while the endpoint was disabled."""
        return self._call(
            _UPDATE_WEBHOOK_ENDPOINT,
            f"/webhook-endpoints/{segment(endpoint_id)}",
            body={
                "url": url,
                "description": description,
                "event_types": event_types,
                "status": status,
                "fifo": fifo,
                "rate_limit": rate_limit,
            },
            idempotency_key=idempotency_key,
        )

    def delete_webhook_endpoint(self, endpoint_id: str, *, idempotency_key: str | None = None) -> None:
        """Delete a webhook endpoint."""
        return self._call(
            _DELETE_WEBHOOK_ENDPOINT,
            f"/webhook-endpoints/{segment(endpoint_id)}",
            idempotency_key=idempotency_key,
        )

    def rotate_webhook_secret(
        self,
        endpoint_id: str,
        *,
        overlap_seconds: int | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> WebhookEndpointWithSecret:
        """Rotate the signing secret.

        Both secrets sign until the overlap ends. The default overlap is one day. At most five secrets sign at once; the oldest one expires first."""
        return self._call(
            _ROTATE_WEBHOOK_SECRET,
            f"/webhook-endpoints/{segment(endpoint_id)}/rotate-secret",
            body={"overlap_seconds": overlap_seconds},
            idempotency_key=idempotency_key,
        )

    def test_webhook_endpoint(
        self, endpoint_id: str, *, idempotency_key: str | None = None
    ) -> WebhookDelivery:
        """Send a test event to this endpoint only."""
        return self._call(
            _TEST_WEBHOOK_ENDPOINT,
            f"/webhook-endpoints/{segment(endpoint_id)}/test",
            idempotency_key=idempotency_key,
        )

    def recover_webhook_endpoint(
        self, endpoint_id: str, *, since: datetime | str, idempotency_key: str | None = None
    ) -> WebhookRecovery:
        """Send what the endpoint missed since a given time.

        Sends every event created at `since` or later that the endpoint subscribes to, may see and has not received. Dead deliveries are retried. Events without a delivery get the next `webhook-sequence` numbers, including events from before the endpoint existed. Deliveries that succeeded or are still being retried are left alone. It runs in the background; use the returned id to follow its progress."""
        return self._call(
            _RECOVER_WEBHOOK_ENDPOINT,
            f"/webhook-endpoints/{segment(endpoint_id)}/recover",
            body={"since": since},
            idempotency_key=idempotency_key,
        )

    def get_webhook_recovery(self, endpoint_id: str, recovery_id: str) -> WebhookRecovery:
        """Get a recovery.

        `offered` counts the deliveries that were created or retried so far. It grows while the status is `running`. With `done` everything was offered; each delivery shows whether it succeeded."""
        return self._call(
            _GET_WEBHOOK_RECOVERY,
            f"/webhook-endpoints/{segment(endpoint_id)}/recoveries/{segment(recovery_id)}",
        )

    def list_webhook_deliveries(
        self,
        endpoint_id: str,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        status: WebhookDeliveryStatusText | None = None,
        order: Literal["asc", "desc"] | Unknown | None = None,
    ) -> Page[WebhookDelivery]:
        """List an endpoint's deliveries.

        Each delivery has its latest attempts, up to 20, and their responses. `status=dead` lists deliveries that were given up."""
        return self._call(
            _LIST_WEBHOOK_DELIVERIES,
            f"/webhook-endpoints/{segment(endpoint_id)}/deliveries",
            query={"cursor": cursor, "limit": limit, "status": status, "order": order},
        )

    def iter_webhook_deliveries(
        self,
        endpoint_id: str,
        *,
        status: WebhookDeliveryStatusText | None = None,
        order: Literal["asc", "desc"] | Unknown | None = None,
        page_size: int = 200,
    ) -> Iterator[WebhookDelivery]:
        """All rows of `list_webhook_deliveries`, page after page."""
        return self._rows(
            _LIST_WEBHOOK_DELIVERIES,
            f"/webhook-endpoints/{segment(endpoint_id)}/deliveries",
            {"limit": page_size, "status": status, "order": order},
        )

    def count_missed_events(self, endpoint_id: str, *, since: datetime | str) -> MissedEvents:
        """Count what a recovery would send.

        Among the first 5,000 events since then."""
        return self._call(
            _COUNT_MISSED_EVENTS,
            f"/webhook-endpoints/{segment(endpoint_id)}/missed-events",
            query={"since": since},
        )

    def list_webhook_health(
        self, *, cursor: str | None = None, limit: int | None = None, endpoint_id: str | None = None
    ) -> Page[EndpointHealth]:
        """List how your endpoints are doing.

        A word for each, attempts by the hour, the last error, and when the next attempt is due."""
        return self._call(
            _LIST_WEBHOOK_HEALTH,
            "/webhook-health",
            query={"cursor": cursor, "limit": limit, "endpoint_id": endpoint_id},
        )

    def iter_webhook_health(
        self, *, endpoint_id: str | None = None, page_size: int = 200
    ) -> Iterator[EndpointHealth]:
        """All rows of `list_webhook_health`, page after page."""
        return self._rows(
            _LIST_WEBHOOK_HEALTH, "/webhook-health", {"limit": page_size, "endpoint_id": endpoint_id}
        )

    def list_deliveries_of_event(
        self, *, event_id: str, cursor: str | None = None, limit: int | None = None
    ) -> Page[WebhookDelivery]:
        """List the deliveries of an event.

        To those of your client's endpoints that see no more than your key does."""
        return self._call(
            _LIST_DELIVERIES_OF_EVENT,
            "/webhook-deliveries",
            query={"cursor": cursor, "limit": limit, "event_id": event_id},
        )

    def iter_deliveries_of_event(self, *, event_id: str, page_size: int = 200) -> Iterator[WebhookDelivery]:
        """All rows of `list_deliveries_of_event`, page after page."""
        return self._rows(
            _LIST_DELIVERIES_OF_EVENT, "/webhook-deliveries", {"limit": page_size, "event_id": event_id}
        )

    def get_webhook_delivery(self, delivery_id: str) -> WebhookDeliveryWithHeaders:
        """Get a delivery.

        Each attempt with the headers that sign it, and with the first headers of the response."""
        return self._call(_GET_WEBHOOK_DELIVERY, f"/webhook-deliveries/{segment(delivery_id)}")

    def retry_webhook_delivery(
        self, delivery_id: str, *, idempotency_key: str | None = None
    ) -> WebhookDelivery:
        """Retry a delivery now."""
        return self._call(
            _RETRY_WEBHOOK_DELIVERY,
            f"/webhook-deliveries/{segment(delivery_id)}/retry",
            idempotency_key=idempotency_key,
        )

    def list_events(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        type: EventKind | Unknown | None = None,
        after_sequence: int | None = None,
        request_id: str | None = None,
        order: Literal["asc", "desc"] | Unknown | None = None,
        wait: int | None = None,
    ) -> EventPage:
        """List events in order, or wait for the next one.

        The events that the key may see, kept for 30 days. Use `after_sequence` to catch up, and `wait` to follow: a page comes as soon as there is an event. Even a key that may see everything misses some numbers: a change that keys see differently has an event for each audience, and you get only your own. A skipped number is not a missing event."""
        return self._call(
            _LIST_EVENTS,
            "/events",
            query={
                "cursor": cursor,
                "limit": limit,
                "type": type,
                "after_sequence": after_sequence,
                "request_id": request_id,
                "order": order,
                "wait": wait,
            },
        )

    def iter_events(
        self,
        *,
        type: EventKind | Unknown | None = None,
        after_sequence: int | None = None,
        request_id: str | None = None,
        order: Literal["asc", "desc"] | Unknown | None = None,
        page_size: int = 200,
    ) -> Iterator[Event]:
        """All rows of `list_events`, page after page."""
        return self._rows(
            _LIST_EVENTS,
            "/events",
            {
                "limit": page_size,
                "type": type,
                "after_sequence": after_sequence,
                "request_id": request_id,
                "order": order,
            },
        )

    def get_event(self, event_id: str) -> Event:
        """Get an event."""
        return self._call(_GET_EVENT, f"/events/{segment(event_id)}")

    def list_event_types(
        self,
    ) -> EventTypes:
        """List the kinds of event.

        All kinds on one page, each with its scope, its JSON Schema and an example."""
        return self._call(_LIST_EVENT_TYPES, "/event-types")


class AsyncClient(AsyncioClient):
    """The API for asyncio. `async with` closes it."""

    def __init__(
        self, key: str, *, base_url: str, timeout: float = 30.0, retries: int = 4, cache: bool = False
    ) -> None:
        """`base_url` ends in `/partner/v1`. `timeout` is for one attempt, in seconds.

        With `cache`, what has not changed since it was last read is not sent again."""
        super().__init__(key, base_url=base_url, timeout=timeout, retries=retries, cache=cache)
        self.events = AsyncEvents(self)

    async def get_key(
        self,
    ) -> Key:
        """Read the key in use.

        The key's name, studio, scopes, locations, expiry and rate limit, without its secret.

        Any valid key may call this."""
        return await self._call(_GET_KEY, "/key")

    async def list_requests(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        status_class: Literal["2xx", "3xx", "4xx", "5xx"] | Unknown | None = None,
        request_id: str | None = None,
        route: str | None = None,
        error_code: str | None = None,
        source: RequestSourceText | None = None,
    ) -> Page[Request]:
        """List your requests of the last seven days.

        The requests of your client's keys, newest first: method, route, status and duration, without bodies. They appear within seconds. Under high load some successful requests are not recorded.

        Any valid key may call this."""
        return await self._call(
            _LIST_REQUESTS,
            "/requests",
            query={
                "cursor": cursor,
                "limit": limit,
                "status_class": status_class,
                "request_id": request_id,
                "route": route,
                "error_code": error_code,
                "source": source,
            },
        )

    def iter_requests(
        self,
        *,
        status_class: Literal["2xx", "3xx", "4xx", "5xx"] | Unknown | None = None,
        request_id: str | None = None,
        route: str | None = None,
        error_code: str | None = None,
        source: RequestSourceText | None = None,
        page_size: int = 200,
    ) -> AsyncIterator[Request]:
        """All rows of `list_requests`, page after page."""
        return self._rows(
            _LIST_REQUESTS,
            "/requests",
            {
                "limit": page_size,
                "status_class": status_class,
                "request_id": request_id,
                "route": route,
                "error_code": error_code,
                "source": source,
            },
        )

    async def get_request_counts(
        self, *, window: RequestCountsWindowText | None = None, source: RequestSourceText | None = None
    ) -> RequestCounts:
        """Count your requests by status over a window.

        The bars of a histogram, oldest first: minutes, half hours or three hours. A request is counted within seconds. When very many arrive at once, some successful ones are not.

        Any valid key may call this."""
        return await self._call(
            _GET_REQUEST_COUNTS, "/requests/counts", query={"window": window, "source": source}
        )

    async def get_idempotency_key(self, key: str) -> IdempotencyKeyState:
        """Look up an idempotency key.

        For a write whose response was lost: in progress, succeeded or refused. Keys are kept for 24 hours. If several services have the key, the newest use of it is returned. A key that contains a slash cannot be looked up; retry the write with it instead.

        Any valid key may call this."""
        return await self._call(_GET_IDEMPOTENCY_KEY, f"/idempotency-keys/{segment(key)}")

    async def create_console_session(
        self,
        *,
        expires_in: int | UnsetType = UNSET,
        scopes: Sequence[Scope | Unknown] | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> OwnConsoleSession:
        """Create a link into the console.

        A link for a person's browser, so that the key stays on your server. It works once, within ten minutes, and opens a session with the key's scopes or some of them. Revoking the key ends the session. A session shares the client's rate limit and cannot create sessions.

        Any valid key may call this."""
        return await self._call(
            _CREATE_CONSOLE_SESSION,
            "/console-sessions",
            body={"expires_in": expires_in, "scopes": scopes},
            idempotency_key=idempotency_key,
        )

    async def get_studio(
        self,
    ) -> Studio:
        """Read the studio."""
        return await self._call(_GET_STUDIO, "/studio")

    async def list_locations(self, *, cursor: str | None = None, limit: int | None = None) -> Page[Location]:
        """List locations, active and inactive."""
        return await self._call(_LIST_LOCATIONS, "/locations", query={"cursor": cursor, "limit": limit})

    def iter_locations(self, *, page_size: int = 200) -> AsyncIterator[Location]:
        """All rows of `list_locations`, page after page."""
        return self._rows(
            _LIST_LOCATIONS,
            "/locations",
            {
                "limit": page_size,
            },
        )

    async def get_location(self, location_id: str) -> Location:
        """Read a location."""
        return await self._call(_GET_LOCATION, f"/locations/{segment(location_id)}")

    async def list_rooms(
        self, *, cursor: str | None = None, limit: int | None = None, location_id: str | None = None
    ) -> Page[Room]:
        """List rooms.

        A `location_id` that the key cannot access returns 404."""
        return await self._call(
            _LIST_ROOMS, "/rooms", query={"cursor": cursor, "limit": limit, "location_id": location_id}
        )

    def iter_rooms(self, *, location_id: str | None = None, page_size: int = 200) -> AsyncIterator[Room]:
        """All rows of `list_rooms`, page after page."""
        return self._rows(_LIST_ROOMS, "/rooms", {"limit": page_size, "location_id": location_id})

    async def get_room(self, room_id: str) -> Room:
        """Read a room."""
        return await self._call(_GET_ROOM, f"/rooms/{segment(room_id)}")

    async def list_class_types(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[ClassType]:
        """List class types."""
        return await self._call(_LIST_CLASS_TYPES, "/class-types", query={"cursor": cursor, "limit": limit})

    def iter_class_types(self, *, page_size: int = 200) -> AsyncIterator[ClassType]:
        """All rows of `list_class_types`, page after page."""
        return self._rows(
            _LIST_CLASS_TYPES,
            "/class-types",
            {
                "limit": page_size,
            },
        )

    async def get_class_type(self, class_type_id: str) -> ClassType:
        """Read a class type."""
        return await self._call(_GET_CLASS_TYPE, f"/class-types/{segment(class_type_id)}")

    async def list_instructors(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[Instructor]:
        """List active instructors."""
        return await self._call(_LIST_INSTRUCTORS, "/instructors", query={"cursor": cursor, "limit": limit})

    def iter_instructors(self, *, page_size: int = 200) -> AsyncIterator[Instructor]:
        """All rows of `list_instructors`, page after page."""
        return self._rows(
            _LIST_INSTRUCTORS,
            "/instructors",
            {
                "limit": page_size,
            },
        )

    async def get_instructor(self, instructor_id: str) -> Instructor:
        """Read an instructor, active or not."""
        return await self._call(_GET_INSTRUCTOR, f"/instructors/{segment(instructor_id)}")

    async def list_products(
        self, *, cursor: str | None = None, limit: int | None = None, active: bool | None = None
    ) -> Page[Product]:
        """List products with their prices."""
        return await self._call(
            _LIST_PRODUCTS, "/products", query={"cursor": cursor, "limit": limit, "active": active}
        )

    def iter_products(self, *, active: bool | None = None, page_size: int = 200) -> AsyncIterator[Product]:
        """All rows of `list_products`, page after page."""
        return self._rows(_LIST_PRODUCTS, "/products", {"limit": page_size, "active": active})

    async def get_product(self, product_id: str) -> Product:
        """Read a product with all its prices."""
        return await self._call(_GET_PRODUCT, f"/products/{segment(product_id)}")

    async def list_classes(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        ids: Sequence[str] | None = None,
        starts_after: datetime | str | None = None,
        starts_before: datetime | str | None = None,
        on: date | str | None = None,
        location_id: str | None = None,
        instructor_id: str | None = None,
        class_type_id: str | None = None,
        room_id: str | None = None,
        status: ClassStatusText | None = None,
    ) -> Page[Class]:
        """List class sessions.

        Ordered by start time. Filters combine. A `location_id` that the key cannot access returns 404. `ids` reads the availability of up to 100 classes in one call."""
        return await self._call(
            _LIST_CLASSES,
            "/classes",
            query={
                "cursor": cursor,
                "limit": limit,
                "ids": ids,
                "starts_after": starts_after,
                "starts_before": starts_before,
                "on": on,
                "location_id": location_id,
                "instructor_id": instructor_id,
                "class_type_id": class_type_id,
                "room_id": room_id,
                "status": status,
            },
        )

    def iter_classes(
        self,
        *,
        ids: Sequence[str] | None = None,
        starts_after: datetime | str | None = None,
        starts_before: datetime | str | None = None,
        on: date | str | None = None,
        location_id: str | None = None,
        instructor_id: str | None = None,
        class_type_id: str | None = None,
        room_id: str | None = None,
        status: ClassStatusText | None = None,
        page_size: int = 200,
    ) -> AsyncIterator[Class]:
        """All rows of `list_classes`, page after page."""
        return self._rows(
            _LIST_CLASSES,
            "/classes",
            {
                "limit": page_size,
                "ids": ids,
                "starts_after": starts_after,
                "starts_before": starts_before,
                "on": on,
                "location_id": location_id,
                "instructor_id": instructor_id,
                "class_type_id": class_type_id,
                "room_id": room_id,
                "status": status,
            },
        )

    async def get_class(self, class_id: str) -> Class:
        """Get a class session."""
        return await self._call(_GET_CLASS, f"/classes/{segment(class_id)}")

    async def list_class_spots(
        self, class_id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[ClassSpot]:
        """List the spots of a class.

        In the studio's order. Empty for a class without spots."""
        return await self._call(
            _LIST_CLASS_SPOTS, f"/classes/{segment(class_id)}/spots", query={"cursor": cursor, "limit": limit}
        )

    def iter_class_spots(self, class_id: str, *, page_size: int = 200) -> AsyncIterator[ClassSpot]:
        """All rows of `list_class_spots`, page after page."""
        return self._rows(
            _LIST_CLASS_SPOTS,
            f"/classes/{segment(class_id)}/spots",
            {
                "limit": page_size,
            },
        )

    async def list_members(
        self, *, cursor: str | None = None, limit: int | None = None, email: str | None = None
    ) -> Page[Member]:
        """List members.

        Member, user and lead-role profiles of the studio, oldest first."""
        return await self._call(
            _LIST_MEMBERS, "/members", query={"cursor": cursor, "limit": limit, "email": email}
        )

    def iter_members(self, *, email: str | None = None, page_size: int = 200) -> AsyncIterator[Member]:
        """All rows of `list_members`, page after page."""
        return self._rows(_LIST_MEMBERS, "/members", {"limit": page_size, "email": email})

    async def create_member(
        self,
        *,
        email: str,
        first_name: str,
        last_name: str,
        phone: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Member:
        """Create a member.

        The normalized email must be unique; the error names the member who already has it."""
        return await self._call(
            _CREATE_MEMBER,
            "/members",
            body={"email": email, "first_name": first_name, "last_name": last_name, "phone": phone},
            idempotency_key=idempotency_key,
        )

    async def get_member(self, member_id: str) -> Member:
        """Get a member."""
        return await self._call(_GET_MEMBER, f"/members/{segment(member_id)}")

    async def list_memberships(
        self, member_id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[Membership]:
        """List a member's memberships."""
        return await self._call(
            _LIST_MEMBERSHIPS,
            f"/members/{segment(member_id)}/memberships",
            query={"cursor": cursor, "limit": limit},
        )

    def iter_memberships(self, member_id: str, *, page_size: int = 200) -> AsyncIterator[Membership]:
        """All rows of `list_memberships`, page after page."""
        return self._rows(
            _LIST_MEMBERSHIPS,
            f"/members/{segment(member_id)}/memberships",
            {
                "limit": page_size,
            },
        )

    async def get_membership(self, membership_id: str) -> Membership:
        """Get a membership."""
        return await self._call(_GET_MEMBERSHIP, f"/memberships/{segment(membership_id)}")

    async def list_bookings(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        class_id: str | None = None,
        member_id: str | None = None,
        status: BookingStatusText | None = None,
        starts_after: datetime | str | None = None,
        starts_before: datetime | str | None = None,
    ) -> Page[Booking]:
        """List bookings.

        Oldest first. Filters combine. Without `class_id` or `member_id`, the range from `starts_after` to `starts_before` may hold at most 1,000 of the studio's classes; a wider one returns 422. Without `status`, bookings that are or were only held are left out."""
        return await self._call(
            _LIST_BOOKINGS,
            "/bookings",
            query={
                "cursor": cursor,
                "limit": limit,
                "class_id": class_id,
                "member_id": member_id,
                "status": status,
                "starts_after": starts_after,
                "starts_before": starts_before,
            },
        )

    def iter_bookings(
        self,
        *,
        class_id: str | None = None,
        member_id: str | None = None,
        status: BookingStatusText | None = None,
        starts_after: datetime | str | None = None,
        starts_before: datetime | str | None = None,
        page_size: int = 200,
    ) -> AsyncIterator[Booking]:
        """All rows of `list_bookings`, page after page."""
        return self._rows(
            _LIST_BOOKINGS,
            "/bookings",
            {
                "limit": page_size,
                "class_id": class_id,
                "member_id": member_id,
                "status": status,
                "starts_after": starts_after,
                "starts_before": starts_before,
            },
        )

    async def create_booking(
        self,
        *,
        class_id: str,
        member_id: str,
        join_waitlist: bool | UnsetType = UNSET,
        class_spot_id: str | UnsetType | None = UNSET,
        hold_seconds: int | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Booking:
        """Book a class.

        Checks capacity, eligibility, spot and waitlist in one transaction. With `join_waitlist`, a full class returns 201 with status `waitlisted` and the position on the waitlist. If the response is lost, repeat the request with the same Idempotency-Key: the first response is returned again, byte for byte. With `hold_seconds` the seat is held, and nothing is charged: the answer has status `held` and `held_until`."""
        return await self._call(
            _CREATE_BOOKING,
            "/bookings",
            body={
                "class_id": class_id,
                "member_id": member_id,
                "join_waitlist": join_waitlist,
                "class_spot_id": class_spot_id,
                "hold_seconds": hold_seconds,
            },
            idempotency_key=idempotency_key,
        )

    async def preview_booking(
        self,
        *,
        class_id: str,
        member_id: str,
        join_waitlist: bool | UnsetType = UNSET,
        class_spot_id: str | UnsetType | None = UNSET,
        hold_seconds: int | UnsetType | None = UNSET,
    ) -> BookingPreview:
        """Preview a booking.

        Runs every check of a booking and reports each result, without writing anything."""
        return await self._call(
            _PREVIEW_BOOKING,
            "/bookings/preview",
            body={
                "class_id": class_id,
                "member_id": member_id,
                "join_waitlist": join_waitlist,
                "class_spot_id": class_spot_id,
                "hold_seconds": hold_seconds,
            },
        )

    async def get_booking(self, booking_id: str) -> Booking:
        """Get a booking."""
        return await self._call(_GET_BOOKING, f"/bookings/{segment(booking_id)}")

    async def cancel_booking(
        self,
        booking_id: str,
        *,
        reason: str | None = None,
        max_late_fee: Decimal | str | None = None,
        allow_credit_forfeit: bool | None = None,
        idempotency_key: str | None = None,
    ) -> CancellationReceipt:
        """Cancel a booking.

        Applies the studio's current cancellation policy. `max_late_fee` and `allow_credit_forfeit` limit what the caller accepts: if the terms are worse, nothing is cancelled. Giving up a hold is free, and a key with `bookings:write` alone may do it; any other booking needs `bookings:cancel`."""
        return await self._call(
            _CANCEL_BOOKING,
            f"/bookings/{segment(booking_id)}",
            query={
                "reason": reason,
                "max_late_fee": max_late_fee,
                "allow_credit_forfeit": allow_credit_forfeit,
            },
            idempotency_key=idempotency_key,
        )

    async def confirm_booking(self, booking_id: str, *, idempotency_key: str | None = None) -> Booking:
        """Confirm a hold.

        Checks the member in full, charges the credits and makes the booking `confirmed`. Who has paid too late is still booked: until the class starts, a hold that has run out takes its seat again, if the seat is free and nobody waits."""
        return await self._call(
            _CONFIRM_BOOKING, f"/bookings/{segment(booking_id)}/confirm", idempotency_key=idempotency_key
        )

    async def preview_cancellation(self, booking_id: str) -> CancellationReceipt:
        """Preview a cancellation.

        The receipt that a cancellation would give at this instant, without cancelling anything. It changes with the clock, so it carries no `ETag`."""
        return await self._call(
            _PREVIEW_CANCELLATION, f"/bookings/{segment(booking_id)}/cancellation-preview"
        )

    async def reschedule_booking(
        self,
        booking_id: str,
        *,
        class_id: str,
        class_spot_id: str | UnsetType | None = UNSET,
        max_late_fee: Decimal | str | UnsetType | None = UNSET,
        allow_credit_forfeit: bool | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> BookingReschedule:
        """Move a booking to another class.

        A confirmed booking gets a seat in the other class and leaves its own, in one transaction, and keeps its id. It costs what cancelling costs now, and what the new seat costs; credits that are returned count for the new seat. If the move is refused, for example because the class is full, the member keeps the old seat. `max_late_fee` and `allow_credit_forfeit` limit what the caller accepts.

        Required scopes: `bookings:write` and `bookings:cancel`."""
        return await self._call(
            _RESCHEDULE_BOOKING,
            f"/bookings/{segment(booking_id)}/reschedule",
            body={
                "class_id": class_id,
                "class_spot_id": class_spot_id,
                "max_late_fee": max_late_fee,
                "allow_credit_forfeit": allow_credit_forfeit,
            },
            idempotency_key=idempotency_key,
        )

    async def preview_reschedule(
        self,
        booking_id: str,
        *,
        class_id: str,
        class_spot_id: str | UnsetType | None = UNSET,
        max_late_fee: Decimal | str | UnsetType | None = UNSET,
        allow_credit_forfeit: bool | UnsetType | None = UNSET,
    ) -> BookingReschedulePreview:
        """Preview a move.

        Runs every check of a move and reports each result with the present price, without writing anything."""
        return await self._call(
            _PREVIEW_RESCHEDULE,
            f"/bookings/{segment(booking_id)}/reschedule/preview",
            body={
                "class_id": class_id,
                "class_spot_id": class_spot_id,
                "max_late_fee": max_late_fee,
                "allow_credit_forfeit": allow_credit_forfeit,
            },
        )

    async def list_reschedules(
        self, booking_id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[BookingReschedule]:
        """List the moves of a booking.

        Oldest first. `booking` is the booking as it is now, in every row."""
        return await self._call(
            _LIST_RESCHEDULES,
            f"/bookings/{segment(booking_id)}/reschedules",
            query={"cursor": cursor, "limit": limit},
        )

    def iter_reschedules(self, booking_id: str, *, page_size: int = 200) -> AsyncIterator[BookingReschedule]:
        """All rows of `list_reschedules`, page after page."""
        return self._rows(
            _LIST_RESCHEDULES,
            f"/bookings/{segment(booking_id)}/reschedules",
            {
                "limit": page_size,
            },
        )

    async def list_waitlist(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        class_id: str | None = None,
        member_id: str | None = None,
        status: WaitlistStatusText | None = None,
    ) -> Page[WaitlistEntry]:
        """List waitlist entries.

        Oldest first. `position` is the order within a class."""
        return await self._call(
            _LIST_WAITLIST,
            "/waitlist",
            query={
                "cursor": cursor,
                "limit": limit,
                "class_id": class_id,
                "member_id": member_id,
                "status": status,
            },
        )

    def iter_waitlist(
        self,
        *,
        class_id: str | None = None,
        member_id: str | None = None,
        status: WaitlistStatusText | None = None,
        page_size: int = 200,
    ) -> AsyncIterator[WaitlistEntry]:
        """All rows of `list_waitlist`, page after page."""
        return self._rows(
            _LIST_WAITLIST,
            "/waitlist",
            {"limit": page_size, "class_id": class_id, "member_id": member_id, "status": status},
        )

    async def get_waitlist_entry(self, waitlist_id: str) -> WaitlistEntry:
        """Get a waitlist entry."""
        return await self._call(_GET_WAITLIST_ENTRY, f"/waitlist/{segment(waitlist_id)}")

    async def list_purchases(
        self, *, cursor: str | None = None, limit: int | None = None, member_id: str | None = None
    ) -> Page[Purchase]:
        """List purchases.

        Oldest first. A key limited to locations sees only purchases made there."""
        return await self._call(
            _LIST_PURCHASES, "/purchases", query={"cursor": cursor, "limit": limit, "member_id": member_id}
        )

    def iter_purchases(
        self, *, member_id: str | None = None, page_size: int = 200
    ) -> AsyncIterator[Purchase]:
        """All rows of `list_purchases`, page after page."""
        return self._rows(_LIST_PURCHASES, "/purchases", {"limit": page_size, "member_id": member_id})

    async def get_purchase(self, purchase_id: str) -> Purchase:
        """Get a purchase."""
        return await self._call(_GET_PURCHASE, f"/purchases/{segment(purchase_id)}")

    async def list_forms(
        self, *, cursor: str | None = None, limit: int | None = None, include_drafts: bool | None = None
    ) -> Page[Form]:
        """List published forms.

        With `include_drafts`, also draft and archived forms; this needs the scope forms:write."""
        return await self._call(
            _LIST_FORMS, "/forms", query={"cursor": cursor, "limit": limit, "include_drafts": include_drafts}
        )

    def iter_forms(self, *, include_drafts: bool | None = None, page_size: int = 200) -> AsyncIterator[Form]:
        """All rows of `list_forms`, page after page."""
        return self._rows(_LIST_FORMS, "/forms", {"limit": page_size, "include_drafts": include_drafts})

    async def create_form(
        self,
        *,
        title: str,
        slug: str | UnsetType = UNSET,
        description: str | UnsetType | None = UNSET,
        fields: Sequence[FormField] | UnsetType = UNSET,
        settings: FormSettings | UnsetType = UNSET,
        status: Literal["draft", "published"] | Unknown | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Form:
        """Create a form.

        Unknown properties of fields and settings are stored and returned."""
        return await self._call(
            _CREATE_FORM,
            "/forms",
            body={
                "title": title,
                "slug": slug,
                "description": description,
                "fields": fields,
                "settings": settings,
                "status": status,
            },
            idempotency_key=idempotency_key,
        )

    async def get_form(self, form_id: str) -> Form:
        """Read a form."""
        return await self._call(_GET_FORM, f"/forms/{segment(form_id)}")

    async def update_form(
        self,
        form_id: str,
        *,
        title: str | UnsetType = UNSET,
        slug: str | UnsetType = UNSET,
        description: str | UnsetType | None = UNSET,
        fields: Sequence[FormField] | UnsetType = UNSET,
        settings: FormSettings | UnsetType = UNSET,
        status: FormStatusText | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Form:
        """Update a form.

        Omitted properties stay unchanged; `fields` and `settings` are replaced as a whole."""
        return await self._call(
            _UPDATE_FORM,
            f"/forms/{segment(form_id)}",
            body={
                "title": title,
                "slug": slug,
                "description": description,
                "fields": fields,
                "settings": settings,
                "status": status,
            },
            idempotency_key=idempotency_key,
        )

    async def evaluate_form(
        self, form_id: str, *, data: Mapping[str, str | Sequence[str]] | UnsetType = UNSET
    ) -> FormEvaluation:
        """Evaluate answers without submitting them.

        Returns the visible and required fields, and every problem a submission would have."""
        return await self._call(_EVALUATE_FORM, f"/forms/{segment(form_id)}/evaluate", body={"data": data})

    async def list_submissions(
        self, form_id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[FormSubmission]:
        """List a form's submissions."""
        return await self._call(
            _LIST_SUBMISSIONS,
            f"/forms/{segment(form_id)}/submissions",
            query={"cursor": cursor, "limit": limit},
        )

    def iter_submissions(self, form_id: str, *, page_size: int = 200) -> AsyncIterator[FormSubmission]:
        """All rows of `list_submissions`, page after page."""
        return self._rows(
            _LIST_SUBMISSIONS,
            f"/forms/{segment(form_id)}/submissions",
            {
                "limit": page_size,
            },
        )

    async def create_submission(
        self,
        form_id: str,
        *,
        submitter_email: str,
        data: Mapping[str, str | Sequence[str]],
        submitter_name: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> FormSubmission:
        """Submit answers to a form.

        Only answers for visible fields are accepted."""
        return await self._call(
            _CREATE_SUBMISSION,
            f"/forms/{segment(form_id)}/submissions",
            body={"submitter_name": submitter_name, "submitter_email": submitter_email, "data": data},
            idempotency_key=idempotency_key,
        )

    async def get_submission(self, form_id: str, submission_id: str) -> FormSubmission:
        """Read a submission."""
        return await self._call(
            _GET_SUBMISSION, f"/forms/{segment(form_id)}/submissions/{segment(submission_id)}"
        )

    async def list_leads(self, *, cursor: str | None = None, limit: int | None = None) -> Page[Lead]:
        """List leads."""
        return await self._call(_LIST_LEADS, "/leads", query={"cursor": cursor, "limit": limit})

    def iter_leads(self, *, page_size: int = 200) -> AsyncIterator[Lead]:
        """All rows of `list_leads`, page after page."""
        return self._rows(
            _LIST_LEADS,
            "/leads",
            {
                "limit": page_size,
            },
        )

    async def create_lead(
        self,
        *,
        email: str,
        first_name: str | UnsetType = UNSET,
        source: str | UnsetType = UNSET,
        metadata: Mapping[str, Any] | UnsetType = UNSET,
        utm_source: str | UnsetType = UNSET,
        utm_campaign: str | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> MutationResult:
        """Create or identify a lead.

        Leads are unique per normalized email. `created` tells whether the lead is new."""
        return await self._call(
            _CREATE_LEAD,
            "/leads",
            body={
                "email": email,
                "first_name": first_name,
                "source": source,
                "metadata": metadata,
                "utm_source": utm_source,
                "utm_campaign": utm_campaign,
            },
            idempotency_key=idempotency_key,
        )

    async def get_lead(self, lead_id: str) -> Lead:
        """Read a lead."""
        return await self._call(_GET_LEAD, f"/leads/{segment(lead_id)}")

    async def update_lead(
        self,
        lead_id: str,
        *,
        first_name: str | UnsetType = UNSET,
        last_name: str | UnsetType | None = UNSET,
        phone: str | UnsetType | None = UNSET,
        email: str | UnsetType = UNSET,
        status: LeadStatusText | UnsetType = UNSET,
        notes: str | UnsetType | None = UNSET,
        metadata: Mapping[str, Any] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> MutationResult:
        """Update a lead.

        PATCH and POST …/update are the same operation. Omitted properties stay unchanged."""
        return await self._call(
            _UPDATE_LEAD,
            f"/leads/{segment(lead_id)}",
            body={
                "first_name": first_name,
                "last_name": last_name,
                "phone": phone,
                "email": email,
                "status": status,
                "notes": notes,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
        )

    async def update_lead_by_post(
        self,
        lead_id: str,
        *,
        first_name: str | UnsetType = UNSET,
        last_name: str | UnsetType | None = UNSET,
        phone: str | UnsetType | None = UNSET,
        email: str | UnsetType = UNSET,
        status: LeadStatusText | UnsetType = UNSET,
        notes: str | UnsetType | None = UNSET,
        metadata: Mapping[str, Any] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> MutationResult:
        """Update a lead by POST.

        PATCH and POST …/update are the same operation. Omitted properties stay unchanged."""
        return await self._call(
            _UPDATE_LEAD_BY_POST,
            f"/leads/{segment(lead_id)}/update",
            body={
                "first_name": first_name,
                "last_name": last_name,
                "phone": phone,
                "email": email,
                "status": status,
                "notes": notes,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
        )

    async def list_webhook_endpoints(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[WebhookEndpoint]:
        """List your client's webhook endpoints."""
        return await self._call(
            _LIST_WEBHOOK_ENDPOINTS, "/webhook-endpoints", query={"cursor": cursor, "limit": limit}
        )

    def iter_webhook_endpoints(self, *, page_size: int = 200) -> AsyncIterator[WebhookEndpoint]:
        """All rows of `list_webhook_endpoints`, page after page."""
        return self._rows(
            _LIST_WEBHOOK_ENDPOINTS,
            "/webhook-endpoints",
            {
                "limit": page_size,
            },
        )

    async def create_webhook_endpoint(
        self,
        *,
        url: str,
        description: str | UnsetType = UNSET,
        event_types: Sequence[EventKind | Unknown] | UnsetType = UNSET,
        fifo: bool | UnsetType = UNSET,
        rate_limit: float | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> WebhookEndpointWithSecret:
        """Create a webhook endpoint.

        The response contains the signing secret. It is not shown again until you rotate it."""
        return await self._call(
            _CREATE_WEBHOOK_ENDPOINT,
            "/webhook-endpoints",
            body={
                "url": url,
                "description": description,
                "event_types": event_types,
                "fifo": fifo,
                "rate_limit": rate_limit,
            },
            idempotency_key=idempotency_key,
        )

    async def get_webhook_endpoint(self, endpoint_id: str) -> WebhookEndpoint:
        """Get a webhook endpoint."""
        return await self._call(_GET_WEBHOOK_ENDPOINT, f"/webhook-endpoints/{segment(endpoint_id)}")

    async def update_webhook_endpoint(
        self,
        endpoint_id: str,
        *,
        url: str | UnsetType = UNSET,
        description: str | UnsetType = UNSET,
        event_types: Sequence[EventKind | Unknown] | UnsetType = UNSET,
        status: WebhookEndpointStatusText | UnsetType = UNSET,
        fifo: bool | UnsetType = UNSET,
        rate_limit: float | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> WebhookEndpoint:
        """Change, disable or enable a webhook endpoint.

        Use `recover` to get the events that were created while the endpoint was disabled."""
        return await self._call(
            _UPDATE_WEBHOOK_ENDPOINT,
            f"/webhook-endpoints/{segment(endpoint_id)}",
            body={
                "url": url,
                "description": description,
                "event_types": event_types,
                "status": status,
                "fifo": fifo,
                "rate_limit": rate_limit,
            },
            idempotency_key=idempotency_key,
        )

    async def delete_webhook_endpoint(self, endpoint_id: str, *, idempotency_key: str | None = None) -> None:
        """Delete a webhook endpoint."""
        return await self._call(
            _DELETE_WEBHOOK_ENDPOINT,
            f"/webhook-endpoints/{segment(endpoint_id)}",
            idempotency_key=idempotency_key,
        )

    async def rotate_webhook_secret(
        self,
        endpoint_id: str,
        *,
        overlap_seconds: int | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> WebhookEndpointWithSecret:
        """Rotate the signing secret.

        Both secrets sign until the overlap ends. The default overlap is one day. At most five secrets sign at once; the oldest one expires first."""
        return await self._call(
            _ROTATE_WEBHOOK_SECRET,
            f"/webhook-endpoints/{segment(endpoint_id)}/rotate-secret",
            body={"overlap_seconds": overlap_seconds},
            idempotency_key=idempotency_key,
        )

    async def test_webhook_endpoint(
        self, endpoint_id: str, *, idempotency_key: str | None = None
    ) -> WebhookDelivery:
        """Send a test event to this endpoint only."""
        return await self._call(
            _TEST_WEBHOOK_ENDPOINT,
            f"/webhook-endpoints/{segment(endpoint_id)}/test",
            idempotency_key=idempotency_key,
        )

    async def recover_webhook_endpoint(
        self, endpoint_id: str, *, since: datetime | str, idempotency_key: str | None = None
    ) -> WebhookRecovery:
        """Send what the endpoint missed since a given time.

        Sends every event created at `since` or later that the endpoint subscribes to, may see and has not received. Dead deliveries are retried. Events without a delivery get the next `webhook-sequence` numbers, including events from before the endpoint existed. Deliveries that succeeded or are still being retried are left alone. It runs in the background; use the returned id to follow its progress."""
        return await self._call(
            _RECOVER_WEBHOOK_ENDPOINT,
            f"/webhook-endpoints/{segment(endpoint_id)}/recover",
            body={"since": since},
            idempotency_key=idempotency_key,
        )

    async def get_webhook_recovery(self, endpoint_id: str, recovery_id: str) -> WebhookRecovery:
        """Get a recovery.

        `offered` counts the deliveries that were created or retried so far. It grows while the status is `running`. With `done` everything was offered; each delivery shows whether it succeeded."""
        return await self._call(
            _GET_WEBHOOK_RECOVERY,
            f"/webhook-endpoints/{segment(endpoint_id)}/recoveries/{segment(recovery_id)}",
        )

    async def list_webhook_deliveries(
        self,
        endpoint_id: str,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        status: WebhookDeliveryStatusText | None = None,
        order: Literal["asc", "desc"] | Unknown | None = None,
    ) -> Page[WebhookDelivery]:
        """List an endpoint's deliveries.

        Each delivery has its latest attempts, up to 20, and their responses. `status=dead` lists deliveries that were given up."""
        return await self._call(
            _LIST_WEBHOOK_DELIVERIES,
            f"/webhook-endpoints/{segment(endpoint_id)}/deliveries",
            query={"cursor": cursor, "limit": limit, "status": status, "order": order},
        )

    def iter_webhook_deliveries(
        self,
        endpoint_id: str,
        *,
        status: WebhookDeliveryStatusText | None = None,
        order: Literal["asc", "desc"] | Unknown | None = None,
        page_size: int = 200,
    ) -> AsyncIterator[WebhookDelivery]:
        """All rows of `list_webhook_deliveries`, page after page."""
        return self._rows(
            _LIST_WEBHOOK_DELIVERIES,
            f"/webhook-endpoints/{segment(endpoint_id)}/deliveries",
            {"limit": page_size, "status": status, "order": order},
        )

    async def count_missed_events(self, endpoint_id: str, *, since: datetime | str) -> MissedEvents:
        """Count what a recovery would send.

        Among the first 5,000 events since then."""
        return await self._call(
            _COUNT_MISSED_EVENTS,
            f"/webhook-endpoints/{segment(endpoint_id)}/missed-events",
            query={"since": since},
        )

    async def list_webhook_health(
        self, *, cursor: str | None = None, limit: int | None = None, endpoint_id: str | None = None
    ) -> Page[EndpointHealth]:
        """List how your endpoints are doing.

        A word for each, attempts by the hour, the last error, and when the next attempt is due."""
        return await self._call(
            _LIST_WEBHOOK_HEALTH,
            "/webhook-health",
            query={"cursor": cursor, "limit": limit, "endpoint_id": endpoint_id},
        )

    def iter_webhook_health(
        self, *, endpoint_id: str | None = None, page_size: int = 200
    ) -> AsyncIterator[EndpointHealth]:
        """All rows of `list_webhook_health`, page after page."""
        return self._rows(
            _LIST_WEBHOOK_HEALTH, "/webhook-health", {"limit": page_size, "endpoint_id": endpoint_id}
        )

    async def list_deliveries_of_event(
        self, *, event_id: str, cursor: str | None = None, limit: int | None = None
    ) -> Page[WebhookDelivery]:
        """List the deliveries of an event.

        To those of your client's endpoints that see no more than your key does."""
        return await self._call(
            _LIST_DELIVERIES_OF_EVENT,
            "/webhook-deliveries",
            query={"cursor": cursor, "limit": limit, "event_id": event_id},
        )

    def iter_deliveries_of_event(
        self, *, event_id: str, page_size: int = 200
    ) -> AsyncIterator[WebhookDelivery]:
        """All rows of `list_deliveries_of_event`, page after page."""
        return self._rows(
            _LIST_DELIVERIES_OF_EVENT, "/webhook-deliveries", {"limit": page_size, "event_id": event_id}
        )

    async def get_webhook_delivery(self, delivery_id: str) -> WebhookDeliveryWithHeaders:
        """Get a delivery.

        Each attempt with the headers that sign it, and with the first headers of the response."""
        return await self._call(_GET_WEBHOOK_DELIVERY, f"/webhook-deliveries/{segment(delivery_id)}")

    async def retry_webhook_delivery(
        self, delivery_id: str, *, idempotency_key: str | None = None
    ) -> WebhookDelivery:
        """Retry a delivery now."""
        return await self._call(
            _RETRY_WEBHOOK_DELIVERY,
            f"/webhook-deliveries/{segment(delivery_id)}/retry",
            idempotency_key=idempotency_key,
        )

    async def list_events(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        type: EventKind | Unknown | None = None,
        after_sequence: int | None = None,
        request_id: str | None = None,
        order: Literal["asc", "desc"] | Unknown | None = None,
        wait: int | None = None,
    ) -> EventPage:
        """List events in order, or wait for the next one.

        The events that the key may see, kept for 30 days. Use `after_sequence` to catch up, and `wait` to follow: a page comes as soon as there is an event. Even a key that may see everything misses some numbers: a change that keys see differently has an event for each audience, and you get only your own. A skipped number is not a missing event."""
        return await self._call(
            _LIST_EVENTS,
            "/events",
            query={
                "cursor": cursor,
                "limit": limit,
                "type": type,
                "after_sequence": after_sequence,
                "request_id": request_id,
                "order": order,
                "wait": wait,
            },
        )

    def iter_events(
        self,
        *,
        type: EventKind | Unknown | None = None,
        after_sequence: int | None = None,
        request_id: str | None = None,
        order: Literal["asc", "desc"] | Unknown | None = None,
        page_size: int = 200,
    ) -> AsyncIterator[Event]:
        """All rows of `list_events`, page after page."""
        return self._rows(
            _LIST_EVENTS,
            "/events",
            {
                "limit": page_size,
                "type": type,
                "after_sequence": after_sequence,
                "request_id": request_id,
                "order": order,
            },
        )

    async def get_event(self, event_id: str) -> Event:
        """Get an event."""
        return await self._call(_GET_EVENT, f"/events/{segment(event_id)}")

    async def list_event_types(
        self,
    ) -> EventTypes:
        """List the kinds of event.

        All kinds on one page, each with its scope, its JSON Schema and an example."""
        return await self._call(_LIST_EVENT_TYPES, "/event-types")
