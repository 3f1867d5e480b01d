"""An event as its producer writes it to the outbox, and what all events of a kind have in common."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType, field, structs

from shared.wire import Id, new_id_at, now

Data = Struct | Raw | dict[str, Any]


class EventResource(Struct, frozen=True):
    """What the event is about. `version` grows with each change, so that outdated events can be ignored."""

    object: str
    id: Id
    version: int


class Audience(StrEnum):
    """Who gets an event, if its kind's scope and its location alone do not decide it."""

    FORM_WRITERS = "form_writers"
    """The form is not published: only for keys with `forms:write`."""

    FORM_READERS = "form_readers"
    """For keys without `forms:write`: a form was published, or is no longer published."""

    LEFT_LOCATION = "left_location"
    """The resource has left the event's location: for keys that cannot see where it is now."""

    CAME_TO_LOCATION = "came_to_location"
    """The resource has come to the event's location: for keys that cannot see where it was."""

    BOTH_LOCATIONS = "both_locations"
    """The same, for keys that see both locations."""


class Kind(Struct, frozen=True):
    """A row of the table in shared/events/kinds.py.

    `resource` is the `object` of the resource. `scopes`: any of them is enough; none: no scope is needed.
    `thin` names the fields of `data.object` where it is not the whole resource. `example` is how the
    resource's example differs after the event, `previous` what its `data.previous` holds. `tells_origin`:
    after a move between locations, keys that see both are told where the resource was.
    """

    name: str
    description: str
    resource: str
    scopes: tuple[str, ...]
    location_bound: bool = False
    thin: tuple[str, ...] = ()
    example: dict[str, Any] = field(default_factory=dict)
    previous: dict[str, Any] | None = None
    tells_origin: bool = False

    @property
    def scope(self) -> str | None:
        """The scope that the documentation names."""
        return self.scopes[0] if self.scopes else None


class Event(Struct, kw_only=True, frozen=True):
    """`data` is the resource as its GET shows it, a struct or ready JSON; `previous` its fields before.

    `traceparent`, `audience` and `moved_to` are never shown to a partner; `moved_to` is the other location
    of a move. Events of a resource are sent in the order in which they were written.
    """

    kind: Kind
    studio_id: str
    location_id: str | None = None
    resource: EventResource
    data: Data
    previous: Data | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    audience: Audience | None = None
    moved_to: str | None = None
    request_id: str | None = None
    traceparent: str | None = None
    id: str = ""
    created_at: datetime = field(default_factory=now)

    def __post_init__(self) -> None:
        if not self.id:
            structs.force_setattr(self, "id", new_id_at(self.created_at))

    @property
    def type(self) -> str:
        return self.kind.name
