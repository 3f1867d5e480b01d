"""The envelope, and one tagged struct per event kind. Event names live here once, as tags."""

from datetime import datetime
from typing import Any, ClassVar

from msgspec import Raw, Struct, field

from shared.wire import Id, new_id, now


class EventResource(Struct, frozen=True):
    """What the event is about. `version` grows with each change, so that outdated events can be ignored."""

    object: str
    id: Id
    version: int


class Event(Struct, kw_only=True, frozen=True, tag_field="type"):
    """A producer hands it to the outbox; `data` is the resource as its GET shows it, a struct or ready JSON.

    `traceparent` travels beside the envelope, in the message's headers, and is never shown to a partner.
    `aggregate` names what must stay in order, the resource unless said: its events leave as they were put in.
    """

    scope: ClassVar[str | None] = None
    location_bound: ClassVar[bool] = False

    studio_id: str
    location_id: str | None = None
    resource: EventResource
    data: Struct | Raw | dict[str, Any]
    request_id: str | None = None
    traceparent: str | None = None
    aggregate: str | None = None
    id: str = field(default_factory=new_id)
    created_at: datetime = field(default_factory=now)

    @property
    def type(self) -> str:
        return kind_of(type(self))


class BookingCreated(Event, frozen=True, tag="booking.created"):
    scope = "bookings:read"
    location_bound = True


class BookingConfirmed(Event, frozen=True, tag="booking.confirmed"):
    """A promotion from the waitlist; the booking keeps its id."""

    scope = "bookings:read"
    location_bound = True


class BookingCancelled(Event, frozen=True, tag="booking.cancelled"):
    scope = "bookings:read"
    location_bound = True


class WaitlistUpdated(Event, frozen=True, tag="waitlist.updated"):
    """On joining, on every change of position and on leaving."""

    scope = "bookings:read"
    location_bound = True


class ClassCancelled(Event, frozen=True, tag="class.cancelled"):
    scope = "schedule:read"
    location_bound = True


class MemberCreated(Event, frozen=True, tag="member.created"):
    scope = "members:read"


class LeadCreated(Event, frozen=True, tag="lead.created"):
    scope = "leads:read"


class LeadUpdated(Event, frozen=True, tag="lead.updated"):
    scope = "leads:read"


class FormSubmitted(Event, frozen=True, tag="form.submitted"):
    """Thin: `data` is `{id, object, form_id}`, and the submission is fetched by its id."""

    scope = "form_submissions:read"


class WebhookTest(Event, frozen=True, tag="webhook.test"):
    """Sent on request to one endpoint; it needs no scope and reaches nobody else."""


def kind_of(event: type[Event]) -> str:
    return str(event.__struct_config__.tag)


KINDS: dict[str, type[Event]] = {
    kind_of(kind): kind
    for kind in (
        BookingCreated,
        BookingConfirmed,
        BookingCancelled,
        WaitlistUpdated,
        ClassCancelled,
        MemberCreated,
        LeadCreated,
        LeadUpdated,
        FormSubmitted,
        WebhookTest,
    )
}
