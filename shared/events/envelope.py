"""The envelope: an event's bytes on the bus, and how consumers read them back."""

from datetime import datetime
from typing import Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from shared.events.event import Audience, Data, Event, EventResource
from shared.wire import API_VERSION, Id, Instant, encode


class EventData(Struct):
    """`previous`: the changed fields of a `*.updated` before it. `active`: only for an instructor."""

    object: Data
    previous: Data | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class Envelope(Struct, kw_only=True):
    """The event on the bus: what partners see, without the `sequence`, which the event log assigns.

    Only the event log uses `audience` and `moved_to`, and it never shows them.
    """

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
    audience: Audience | UnsetType = UNSET
    moved_to: Id | UnsetType = UNSET


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
            data=Raw(encode(EventData(event.data, event.previous, event.active))),
            audience=event.audience or UNSET,
            moved_to=event.moved_to or UNSET,
        )
    )


class Head(Struct):
    """The fields of an event that logs and metrics use, decoded without its data."""

    studio_id: str
    created_at: datetime
    request_id: str | None = None


# Both raise msgspec.DecodeError (of which ValidationError is one) for anything that is not an envelope.
read_head = msgspec.json.Decoder(Head).decode
read_envelope = msgspec.json.Decoder(Envelope).decode
