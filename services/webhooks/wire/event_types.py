"""Kinds of event on the wire. The answer itself is a file, see routes/event_types.py."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from shared.wire import Resource


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
