# Generated from the OpenAPI document by `python -m clients.generate --write`. Do not edit.
"""One class for each kind of event, and `Event`, which is any of them."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar

import msgspec
from msgspec import Struct, field

from ._values import OneOf, Page, Reader, Unknown
from .models import (
    Booking,
    BookingReference,
    Class,
    ClassReference,
    ClassType,
    EventResource,
    Form,
    FormReference,
    FormSubmissionReference,
    Instructor,
    Lead,
    LeadReference,
    Location,
    LocationReference,
    Member,
    MemberReference,
    Membership,
    MembershipReference,
    Product,
    Purchase,
    PurchaseReference,
    Room,
    RoomReference,
    Studio,
    WaitlistEntry,
    WaitlistReference,
    WebhookEndpoint,
)
from .models import EventKind as EventKind

T = TypeVar("T")


class EventData(Struct, Generic[T], frozen=True, kw_only=True):
    """`object` is the resource as its own operation shows it, or a reference to it."""

    object: T
    previous: dict[str, Any] = field(default_factory=dict[str, Any])
    """The old values of what changed, in events that tell of a change."""
    active: bool | None = None
    """Whether an instructor is listed. None for all other resources."""


class EventEnvelope(Struct, frozen=True, kw_only=True):
    """What every event has, of whatever kind."""

    id: str
    """The resource's id. Treat it as opaque."""
    created_at: datetime
    """When it happened, in UTC."""
    api_version: str
    """The version of the API that the event is written in."""
    studio_id: str
    """The studio that it belongs to."""
    location_id: str | None
    """The location that the event belongs to, or null."""
    sequence: int
    """Grows by one with each event of the studio. Store the last one and request the events after it."""
    resource: EventResource
    """What the event is about."""
    request_id: str | None
    """The id of the request that caused it, or null."""


if TYPE_CHECKING:
    BookingOrReference: TypeAlias = Booking | BookingReference
    WaitlistEntryOrReference: TypeAlias = WaitlistEntry | WaitlistReference
    ClassOrReference: TypeAlias = Class | ClassReference
    MemberOrReference: TypeAlias = Member | MemberReference
    MembershipOrReference: TypeAlias = Membership | MembershipReference
    PurchaseOrReference: TypeAlias = Purchase | PurchaseReference
    LeadOrReference: TypeAlias = Lead | LeadReference
    FormOrReference: TypeAlias = Form | FormReference
    LocationOrReference: TypeAlias = Location | LocationReference
    RoomOrReference: TypeAlias = Room | RoomReference
else:

    class BookingOrReference(metaclass=OneOf):
        options = (Booking, BookingReference)

    class WaitlistEntryOrReference(metaclass=OneOf):
        options = (WaitlistEntry, WaitlistReference)

    class ClassOrReference(metaclass=OneOf):
        options = (Class, ClassReference)

    class MemberOrReference(metaclass=OneOf):
        options = (Member, MemberReference)

    class MembershipOrReference(metaclass=OneOf):
        options = (Membership, MembershipReference)

    class PurchaseOrReference(metaclass=OneOf):
        options = (Purchase, PurchaseReference)

    class LeadOrReference(metaclass=OneOf):
        options = (Lead, LeadReference)

    class FormOrReference(metaclass=OneOf):
        options = (Form, FormReference)

    class LocationOrReference(metaclass=OneOf):
        options = (Location, LocationReference)

    class RoomOrReference(metaclass=OneOf):
        options = (Room, RoomReference)


class BookingHeld(EventEnvelope, frozen=True, tag_field="type", tag="booking.held"):
    """A seat is held until `held_until`; `booking.created` follows if the hold is confirmed"""

    type: ClassVar[Literal["booking.held"]] = "booking.held"
    data: EventData[Booking]


class BookingCreated(EventEnvelope, frozen=True, tag_field="type", tag="booking.created"):
    """A booking was created, confirmed or waitlisted, or a hold was confirmed"""

    type: ClassVar[Literal["booking.created"]] = "booking.created"
    data: EventData[Booking]


class BookingConfirmed(EventEnvelope, frozen=True, tag_field="type", tag="booking.confirmed"):
    """A waitlisted booking was confirmed; it keeps its id"""

    type: ClassVar[Literal["booking.confirmed"]] = "booking.confirmed"
    data: EventData[Booking]


class BookingCancelled(EventEnvelope, frozen=True, tag_field="type", tag="booking.cancelled"):
    """A booking was cancelled"""

    type: ClassVar[Literal["booking.cancelled"]] = "booking.cancelled"
    data: EventData[Booking]


class BookingCheckedIn(EventEnvelope, frozen=True, tag_field="type", tag="booking.checked_in"):
    """The member has checked in"""

    type: ClassVar[Literal["booking.checked_in"]] = "booking.checked_in"
    data: EventData[Booking]


class BookingNoShow(EventEnvelope, frozen=True, tag_field="type", tag="booking.no_show"):
    """The member did not come"""

    type: ClassVar[Literal["booking.no_show"]] = "booking.no_show"
    data: EventData[Booking]


class BookingExpired(EventEnvelope, frozen=True, tag_field="type", tag="booking.expired"):
    """The class of a waitlisted booking has started, or a hold has run out (`data.previous.status` is `held`)"""

    type: ClassVar[Literal["booking.expired"]] = "booking.expired"
    data: EventData[Booking]


class BookingRescheduled(EventEnvelope, frozen=True, tag_field="type", tag="booking.rescheduled"):
    """A booking was moved to another class; it keeps its id"""

    type: ClassVar[Literal["booking.rescheduled"]] = "booking.rescheduled"
    data: EventData[BookingOrReference]


class BookingUpdated(EventEnvelope, frozen=True, tag_field="type", tag="booking.updated"):
    """A booking was corrected, for example a check-in undone"""

    type: ClassVar[Literal["booking.updated"]] = "booking.updated"
    data: EventData[BookingOrReference]


class WaitlistUpdated(EventEnvelope, frozen=True, tag_field="type", tag="waitlist.updated"):
    """A waitlist entry was added, moved or removed"""

    type: ClassVar[Literal["waitlist.updated"]] = "waitlist.updated"
    data: EventData[WaitlistEntryOrReference]


class ClassCreated(EventEnvelope, frozen=True, tag_field="type", tag="class.created"):
    """A class was added to the schedule"""

    type: ClassVar[Literal["class.created"]] = "class.created"
    data: EventData[Class]


class ClassUpdated(EventEnvelope, frozen=True, tag_field="type", tag="class.updated"):
    """A class was changed, in more than its counts"""

    type: ClassVar[Literal["class.updated"]] = "class.updated"
    data: EventData[ClassOrReference]


class ClassCancelled(EventEnvelope, frozen=True, tag_field="type", tag="class.cancelled"):
    """A class was cancelled"""

    type: ClassVar[Literal["class.cancelled"]] = "class.cancelled"
    data: EventData[Class]


class ClassFull(EventEnvelope, frozen=True, tag_field="type", tag="class.full"):
    """The last seat of a class was taken"""

    type: ClassVar[Literal["class.full"]] = "class.full"
    data: EventData[Class]


class ClassReopened(EventEnvelope, frozen=True, tag_field="type", tag="class.reopened"):
    """A full class has a free seat again"""

    type: ClassVar[Literal["class.reopened"]] = "class.reopened"
    data: EventData[Class]


class MemberCreated(EventEnvelope, frozen=True, tag_field="type", tag="member.created"):
    """A member was created"""

    type: ClassVar[Literal["member.created"]] = "member.created"
    data: EventData[MemberOrReference]


class MemberUpdated(EventEnvelope, frozen=True, tag_field="type", tag="member.updated"):
    """A member's profile was changed"""

    type: ClassVar[Literal["member.updated"]] = "member.updated"
    data: EventData[MemberOrReference]


class MemberErased(EventEnvelope, frozen=True, tag_field="type", tag="member.erased"):
    """A member was erased: delete your copy and fetch the member again"""

    type: ClassVar[Literal["member.erased"]] = "member.erased"
    data: EventData[MemberReference]


class MembershipCreated(EventEnvelope, frozen=True, tag_field="type", tag="membership.created"):
    """A member has a new membership"""

    type: ClassVar[Literal["membership.created"]] = "membership.created"
    data: EventData[MembershipOrReference]


class MembershipUpdated(EventEnvelope, frozen=True, tag_field="type", tag="membership.updated"):
    """A membership was changed, or has started or expired"""

    type: ClassVar[Literal["membership.updated"]] = "membership.updated"
    data: EventData[MembershipOrReference]


class PurchaseCreated(EventEnvelope, frozen=True, tag_field="type", tag="purchase.created"):
    """A purchase was recorded"""

    type: ClassVar[Literal["purchase.created"]] = "purchase.created"
    data: EventData[Purchase]


class PurchaseUpdated(EventEnvelope, frozen=True, tag_field="type", tag="purchase.updated"):
    """A purchase was changed"""

    type: ClassVar[Literal["purchase.updated"]] = "purchase.updated"
    data: EventData[PurchaseOrReference]


class LeadCreated(EventEnvelope, frozen=True, tag_field="type", tag="lead.created"):
    """A lead was created"""

    type: ClassVar[Literal["lead.created"]] = "lead.created"
    data: EventData[LeadOrReference]


class LeadUpdated(EventEnvelope, frozen=True, tag_field="type", tag="lead.updated"):
    """A lead was changed"""

    type: ClassVar[Literal["lead.updated"]] = "lead.updated"
    data: EventData[LeadOrReference]


class LeadErased(EventEnvelope, frozen=True, tag_field="type", tag="lead.erased"):
    """A lead was erased: delete your copy and fetch the lead again"""

    type: ClassVar[Literal["lead.erased"]] = "lead.erased"
    data: EventData[LeadReference]


class FormCreated(EventEnvelope, frozen=True, tag_field="type", tag="form.created"):
    """A form was created; without `forms:write` you get this only for published forms"""

    type: ClassVar[Literal["form.created"]] = "form.created"
    data: EventData[Form]


class FormUpdated(EventEnvelope, frozen=True, tag_field="type", tag="form.updated"):
    """A form or its status was changed; without `forms:write` you get this only for published forms"""

    type: ClassVar[Literal["form.updated"]] = "form.updated"
    data: EventData[FormOrReference]


class FormSubmitted(EventEnvelope, frozen=True, tag_field="type", tag="form.submitted"):
    """A form was submitted; fetch the submission by its id"""

    type: ClassVar[Literal["form.submitted"]] = "form.submitted"
    data: EventData[FormSubmissionReference]


class SubmissionUpdated(EventEnvelope, frozen=True, tag_field="type", tag="submission.updated"):
    """A submission was reviewed, rejected or made anonymous; fetch it by its id"""

    type: ClassVar[Literal["submission.updated"]] = "submission.updated"
    data: EventData[FormSubmissionReference]


class StudioUpdated(EventEnvelope, frozen=True, tag_field="type", tag="studio.updated"):
    """The studio was changed"""

    type: ClassVar[Literal["studio.updated"]] = "studio.updated"
    data: EventData[Studio]


class LocationCreated(EventEnvelope, frozen=True, tag_field="type", tag="location.created"):
    """The studio has a new location"""

    type: ClassVar[Literal["location.created"]] = "location.created"
    data: EventData[Location]


class LocationUpdated(EventEnvelope, frozen=True, tag_field="type", tag="location.updated"):
    """A location was changed"""

    type: ClassVar[Literal["location.updated"]] = "location.updated"
    data: EventData[LocationOrReference]


class RoomCreated(EventEnvelope, frozen=True, tag_field="type", tag="room.created"):
    """A location has a new room"""

    type: ClassVar[Literal["room.created"]] = "room.created"
    data: EventData[Room]


class RoomUpdated(EventEnvelope, frozen=True, tag_field="type", tag="room.updated"):
    """A room was changed"""

    type: ClassVar[Literal["room.updated"]] = "room.updated"
    data: EventData[RoomOrReference]


class ClassTypeCreated(EventEnvelope, frozen=True, tag_field="type", tag="class_type.created"):
    """The studio has a new type of class"""

    type: ClassVar[Literal["class_type.created"]] = "class_type.created"
    data: EventData[ClassType]


class ClassTypeUpdated(EventEnvelope, frozen=True, tag_field="type", tag="class_type.updated"):
    """A class type was changed"""

    type: ClassVar[Literal["class_type.updated"]] = "class_type.updated"
    data: EventData[ClassType]


class InstructorCreated(EventEnvelope, frozen=True, tag_field="type", tag="instructor.created"):
    """An instructor has joined; `data.active` says whether they are listed"""

    type: ClassVar[Literal["instructor.created"]] = "instructor.created"
    data: EventData[Instructor]


class InstructorUpdated(EventEnvelope, frozen=True, tag_field="type", tag="instructor.updated"):
    """An instructor was changed, has left or has come back (see `data.active`)"""

    type: ClassVar[Literal["instructor.updated"]] = "instructor.updated"
    data: EventData[Instructor]


class ProductCreated(EventEnvelope, frozen=True, tag_field="type", tag="product.created"):
    """The studio sells a new product"""

    type: ClassVar[Literal["product.created"]] = "product.created"
    data: EventData[Product]


class ProductUpdated(EventEnvelope, frozen=True, tag_field="type", tag="product.updated"):
    """A product or one of its prices was changed"""

    type: ClassVar[Literal["product.updated"]] = "product.updated"
    data: EventData[Product]


class WebhookEndpointDisabled(EventEnvelope, frozen=True, tag_field="type", tag="webhook_endpoint.disabled"):
    """An endpoint of your client was disabled; sent to its other endpoints"""

    type: ClassVar[Literal["webhook_endpoint.disabled"]] = "webhook_endpoint.disabled"
    data: EventData[WebhookEndpoint]


class WebhookTest(EventEnvelope, frozen=True, tag_field="type", tag="webhook.test"):
    """A test event that you requested"""

    type: ClassVar[Literal["webhook.test"]] = "webhook.test"
    data: EventData[WebhookEndpoint]


class UnknownEvent(Unknown):
    """An event of a kind that is newer than this package. Its text is its kind, `raw` all of it."""

    id: str
    created_at: datetime
    api_version: str
    studio_id: str
    location_id: str | None
    sequence: int
    resource: EventResource
    request_id: str | None

    def __new__(cls, text: str, raw: Any = None) -> Self:
        self = super().__new__(cls, text, raw)
        envelope = msgspec.convert(raw, EventEnvelope)
        for name in EventEnvelope.__struct_fields__:
            setattr(self, name, getattr(envelope, name))
        return self

    @property
    def type(self) -> str:
        return str(self)


KnownEvent: TypeAlias = (
    BookingHeld
    | BookingCreated
    | BookingConfirmed
    | BookingCancelled
    | BookingCheckedIn
    | BookingNoShow
    | BookingExpired
    | BookingRescheduled
    | BookingUpdated
    | WaitlistUpdated
    | ClassCreated
    | ClassUpdated
    | ClassCancelled
    | ClassFull
    | ClassReopened
    | MemberCreated
    | MemberUpdated
    | MemberErased
    | MembershipCreated
    | MembershipUpdated
    | PurchaseCreated
    | PurchaseUpdated
    | LeadCreated
    | LeadUpdated
    | LeadErased
    | FormCreated
    | FormUpdated
    | FormSubmitted
    | SubmissionUpdated
    | StudioUpdated
    | LocationCreated
    | LocationUpdated
    | RoomCreated
    | RoomUpdated
    | ClassTypeCreated
    | ClassTypeUpdated
    | InstructorCreated
    | InstructorUpdated
    | ProductCreated
    | ProductUpdated
    | WebhookEndpointDisabled
    | WebhookTest
)
Event: TypeAlias = KnownEvent | UnknownEvent


class EventPage(Page[Event], frozen=True, kw_only=True):
    """Some events, and the oldest and newest sequence that the studio keeps."""

    latest_sequence: int
    oldest_sequence: int


class _RawPage(Page[msgspec.Raw], frozen=True, kw_only=True):
    latest_sequence: int
    oldest_sequence: int


_read_known: Reader[KnownEvent] = Reader(KnownEvent)
_read_page = Reader(_RawPage)


def read_event(content: bytes) -> Event:
    try:
        return _read_known(content)
    except msgspec.ValidationError:
        raw = msgspec.json.decode(content, type=dict[str, Any])
        return UnknownEvent(str(raw.get("type")), raw)


def read_event_page(content: bytes) -> EventPage:
    page = _read_page(content)
    return EventPage(
        data=[read_event(row) for row in page.data],
        has_more=page.has_more,
        next_cursor=page.next_cursor,
        latest_sequence=page.latest_sequence,
        oldest_sequence=page.oldest_sequence,
    )
