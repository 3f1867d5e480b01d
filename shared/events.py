"""The envelope, and one tagged struct per event kind. Event names live here once, as tags."""

from datetime import datetime
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Raw, Struct, field

from shared.wire import API_VERSION, Id, Instant, encode, new_id, now


class EventResource(Struct, frozen=True):
    """What the event is about. `version` grows with each change, so that stale news can be dropped."""

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


class EventData(Struct):
    object: Struct | Raw | dict[str, Any]


class Envelope(Struct, kw_only=True):
    """The event on the bus: what partners see, less the `sequence` that the event log gives out."""

    id: Id
    object: Literal["event"] = "event"
    type: str
    created_at: Instant
    api_version: str = API_VERSION
    studio_id: Id
    location_id: Id | None
    resource: EventResource
    request_id: str | None
    data: Raw


def render(event: Event) -> bytes:
    """The envelope's bytes, ready for the bus."""
    return encode(
        Envelope(
            id=event.id,
            type=event.type,
            created_at=event.created_at,
            studio_id=event.studio_id,
            location_id=event.location_id,
            resource=event.resource,
            request_id=event.request_id,
            data=Raw(encode(EventData(event.data))),
        )
    )


class Head(Struct):
    """What logs and metrics tell of an event, read without its data."""

    studio_id: str
    created_at: datetime
    request_id: str | None = None


_decoder = msgspec.json.Decoder(Envelope)
_head_decoder = msgspec.json.Decoder(Head)


def read_head(body: bytes) -> Head:
    return _head_decoder.decode(body)


def read_envelope(body: bytes) -> Envelope:
    """Raises msgspec.DecodeError (of which ValidationError is one) for anything that is not an envelope."""
    return _decoder.decode(body)
