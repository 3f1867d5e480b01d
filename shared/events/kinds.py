"""Every kind of event, once. The OpenAPI document, `GET /event-types`, the docs page and the visibility rules
come from this table: to add a kind, add a row.
"""

from functools import partial

from shared.events.event import Kind

ONLY_ID = ("id", "object")

_booking = partial(Kind, resource="booking", scopes=("bookings:read",), location_bound=True)
BookingHeld = _booking(
    "booking.held",
    "A seat is held until `held_until`; `booking.created` follows if the hold is confirmed",
    example={"status": "held", "held_until": "2026-08-02T09:10:00Z"},
)
BookingCreated = _booking(
    "booking.created", "A booking was created, confirmed or waitlisted, or a hold was confirmed"
)
BookingConfirmed = _booking("booking.confirmed", "A waitlisted booking was confirmed; it keeps its id")
BookingCancelled = _booking("booking.cancelled", "A booking was cancelled", example={"status": "cancelled"})
BookingCheckedIn = _booking(
    "booking.checked_in", "The member has checked in", example={"status": "checked_in"}
)
BookingNoShow = _booking("booking.no_show", "The member did not come", example={"status": "no_show"})
BookingExpired = _booking(
    "booking.expired",
    "The class of a waitlisted booking has started, or a hold has run out (`data.previous.status` is `held`)",
    example={"status": "expired"},
)
BookingRescheduled = _booking(
    "booking.rescheduled",
    "A booking was moved to another class; it keeps its id",
    previous={
        "class_id": "0198f4ec-7c1a-7000-8000-2f6c1d9b3a4e",
        "class_spot_id": None,
        "start_time": "2026-08-03T16:00:00Z",
        "location_id": "0198f4ec-7c1a-7000-8000-9d2b7a5c8e1f",
    },
    tells_origin=True,
)
BookingUpdated = _booking(
    "booking.updated",
    "A booking was corrected, for example a check-in undone",
    previous={"status": "checked_in"},
)

WaitlistUpdated = Kind(
    "waitlist.updated",
    "A waitlist entry was added, moved or removed",
    resource="waitlist",
    scopes=("bookings:read",),
    location_bound=True,
)

_class = partial(Kind, resource="class", scopes=("schedule:read",), location_bound=True)
ClassCreated = _class("class.created", "A class was added to the schedule")
ClassUpdated = _class(
    "class.updated", "A class was changed, in more than its counts", previous={"capacity": 10}
)
ClassCancelled = _class(
    "class.cancelled",
    "A class was cancelled",
    example={"status": "cancelled", "booked_count": 0, "available_count": 20},
)
ClassFull = _class(
    "class.full", "The last seat of a class was taken", example={"booked_count": 20, "available_count": 0}
)
ClassReopened = _class(
    "class.reopened", "A full class has a free seat again", example={"booked_count": 19, "available_count": 1}
)

_member = partial(Kind, resource="member", scopes=("members:read",))
MemberCreated = _member("member.created", "A member was created")
MemberUpdated = _member("member.updated", "A member's profile was changed", previous={"first_name": "Eva"})
MemberErased = _member(
    "member.erased", "A member was erased: delete your copy and fetch the member again", thin=ONLY_ID
)

_membership = partial(Kind, resource="membership", scopes=("members:read",))
MembershipCreated = _membership("membership.created", "A member has a new membership")
MembershipUpdated = _membership(
    "membership.updated",
    "A membership was changed, or has started or expired",
    previous={"status": "paused"},
)

_purchase = partial(Kind, resource="purchase", scopes=("purchases:read",), location_bound=True)
PurchaseCreated = _purchase("purchase.created", "A purchase was recorded")
PurchaseUpdated = _purchase("purchase.updated", "A purchase was changed", previous={"status": "pending"})

_lead = partial(Kind, resource="lead", scopes=("leads:read",))
LeadCreated = _lead("lead.created", "A lead was created")
LeadUpdated = _lead("lead.updated", "A lead was changed")
LeadErased = _lead(
    "lead.erased", "A lead was erased: delete your copy and fetch the lead again", thin=ONLY_ID
)

# Keys that may only read forms get these for published forms, and `{id, object, status}` when one is
# unpublished.
_form = partial(Kind, resource="form", scopes=("forms:read", "forms:write"))
FormCreated = _form(
    "form.created", "A form was created; without `forms:write` you get this only for published forms"
)
FormUpdated = _form(
    "form.updated",
    "A form or its status was changed; without `forms:write` you get this only for published forms",
    previous={"title": "Intake"},
)

_submission = partial(
    Kind, resource="form_submission", scopes=("form_submissions:read",), thin=("id", "object", "form_id")
)
FormSubmitted = _submission("form.submitted", "A form was submitted; fetch the submission by its id")
SubmissionUpdated = _submission(
    "submission.updated", "A submission was reviewed, rejected or made anonymous; fetch it by its id"
)

StudioUpdated = Kind(
    "studio.updated",
    "The studio was changed",
    resource="studio",
    scopes=("studio:read",),
    previous={"name": "Flow"},
)
_location = partial(Kind, resource="location", scopes=("studio:read",), location_bound=True)
LocationCreated = _location("location.created", "The studio has a new location")
LocationUpdated = _location("location.updated", "A location was changed", previous={"name": "Downtown"})
_room = partial(Kind, resource="room", scopes=("schedule:read",), location_bound=True)
RoomCreated = _room("room.created", "A location has a new room")
RoomUpdated = _room("room.updated", "A room was changed", previous={"capacity": 10})
_class_type = partial(Kind, resource="class_type", scopes=("schedule:read",))
ClassTypeCreated = _class_type("class_type.created", "The studio has a new type of class")
ClassTypeUpdated = _class_type("class_type.updated", "A class type was changed", previous={"name": "Flow"})
_instructor = partial(Kind, resource="instructor", scopes=("schedule:read",))
InstructorCreated = _instructor(
    "instructor.created", "An instructor has joined; `data.active` says whether they are listed"
)
InstructorUpdated = _instructor(
    "instructor.updated",
    "An instructor was changed, has left or has come back (see `data.active`)",
    previous={"name": "Sam"},
)
_product = partial(Kind, resource="product", scopes=("catalog:read",))
ProductCreated = _product("product.created", "The studio sells a new product")
ProductUpdated = _product(
    "product.updated", "A product or one of its prices was changed", previous={"active": False}
)

_endpoint = partial(Kind, resource="webhook_endpoint")
WebhookEndpointDisabled = _endpoint(
    "webhook_endpoint.disabled",
    "An endpoint of your client was disabled; sent to its other endpoints",
    scopes=("webhooks:read",),
    example={"status": "disabled", "disabled_reason": "gone"},
)
WebhookTest = _endpoint("webhook.test", "A test event that you requested", scopes=())

# Every kind above, by name.
KINDS: dict[str, Kind] = {kind.name: kind for kind in list(globals().values()) if isinstance(kind, Kind)}
