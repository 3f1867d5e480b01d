"""Events on the wire: the same bytes in the log, in `GET /events/{id}` and in the webhook body."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, structs

from services.webhooks.wire.endpoints import EventType
from shared.events.envelope import Envelope
from shared.events.event import EventResource
from shared.wire import Body, Id, Instant, Order, PageQuery, Resource, encode


class EventObject(Struct):
    object: Annotated[dict[str, Any], Meta(description="The resource as its GET returns it.")]
    previous: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="Only in `*.updated` events: the changed fields with their old values."),
    ] = UNSET
    active: Annotated[
        bool | UnsetType,
        Meta(description="Only for instructors: whether the instructor is listed."),
    ] = UNSET


class _WithoutData(Resource, kw_only=True):
    id: Id
    object: Literal["event"] = "event"
    type: str
    created_at: Instant
    api_version: str
    studio_id: Id
    location_id: Id | None
    sequence: int
    resource: EventResource
    request_id: str | None


class EventRead(_WithoutData, kw_only=True):
    """For the OpenAPI document. The response itself is the stored bytes."""

    data: EventObject


class LoggedEvent(_WithoutData, kw_only=True):
    data: Raw


class EventPage(Resource, kw_only=True):
    """For the OpenAPI document, too."""

    object: Literal["list"] = "list"
    data: list[EventRead]
    has_more: bool
    next_cursor: str | None
    latest_sequence: Annotated[
        int,
        Meta(
            description="The sequence of the studio's newest event when the page was read, even if the key "
            "may not see it. Read it before you list resources, and follow the events after it."
        ),
    ]
    oldest_sequence: Annotated[
        int,
        Meta(
            description="The sequence of the studio's oldest event that is kept; one more than "
            "`latest_sequence` if none is."
        ),
    ]


class EventsQuery(PageQuery, frozen=True, kw_only=True):
    type: EventType | None = None
    after_sequence: Annotated[int, Meta(ge=0, le=2**62)] | None = None
    request_id: Annotated[
        Annotated[str, Meta(max_length=128)] | None, Meta(description="Only events that this call caused.")
    ] = None
    order: Order = "asc"


class FollowQuery(EventsQuery, frozen=True, kw_only=True):
    wait: Annotated[
        Annotated[int, Meta(ge=0, le=25)],
        Meta(
            description="With `after_sequence`: if there is no event yet, wait for one, at most this many "
            "seconds. The page is empty if none came; go on after its `latest_sequence`."
        ),
    ] = 0

    @classmethod
    def conflicts(cls, given: dict[str, Any]) -> list[tuple[str, str]]:
        follows = "after_sequence" in given and "cursor" not in given and given.get("order") != "desc"
        text = "Wait with `after_sequence`, and without `cursor` or `order=desc`."
        return [("wait", text)] if given.get("wait", 0) != 0 and not follows else []


class Position(Struct):
    last_sequence: int


class PruneEvents(Body, frozen=True, kw_only=True):
    through: Annotated[
        int, Meta(ge=0, le=2**62, description="The last sequence number that is dropped; 0 for none.")
    ]


class EventsPruned(Struct):
    dropped: int
    object: Literal["events_pruned"] = "events_pruned"


IN_BOTH = set(LoggedEvent.__struct_fields__) & set(Envelope.__struct_fields__)


def render_logged(envelope: Envelope, sequence: int) -> bytes:
    """The envelope with the sequence number from the log."""
    fields = structs.asdict(envelope)
    return encode(LoggedEvent(sequence=sequence, **{name: fields[name] for name in IN_BOTH}))


_logged = msgspec.json.Decoder(LoggedEvent)


def read_logged(body: bytes) -> LoggedEvent:
    return _logged.decode(body)


class EventTypeRead(Resource, kw_only=True):
    object: Literal["event_type"] = "event_type"
    name: Annotated[str, Meta(description="The event's `type`.", examples=["booking.created"])]
    description: Annotated[str, Meta(description="When the event happens.")]
    scope: Annotated[str | None, Meta(description="The scope that it needs, or null if it needs none.")]
    schema: Annotated[dict[str, Any], Meta(description="The JSON Schema of the event.")]
    example: Annotated[dict[str, Any], Meta(description="An event of this kind.")]


class EventTypeTable(Resource, kw_only=True):
    """All kinds, on one page."""

    object: Literal["list"] = "list"
    data: list[EventTypeRead]
