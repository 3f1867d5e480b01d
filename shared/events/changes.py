"""How an event describes a change: the old values, and a move to another location."""

from collections.abc import Callable, Collection
from typing import Any

from msgspec import UNSET, Struct, UnsetType, structs

from shared.events.event import Audience, Event, EventResource, Kind
from shared.wire import new_id


def previous_values(before: Struct, after: Struct, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """The visible fields that differ, with their old values. Empty if there is nothing to report."""
    return {
        name: old
        for name in before.__struct_fields__
        if name not in leave_out and (old := getattr(before, name)) != getattr(after, name)
    }


def with_move_event(event: Event, old_location_id: str | None) -> list[Event]:
    """The event for the resource's location and, if it has moved, one for keys that can no longer see it.

    Keys of the new location could not see the old values, so the event has no `previous`.
    """
    if old_location_id == event.location_id:
        return [event]
    if event.location_id is not None:
        event = structs.replace(event, previous=UNSET)
    if old_location_id is None:
        return [event]
    left = structs.replace(
        event,
        id=new_id(),
        location_id=old_location_id,
        data={"id": event.resource.id, "object": event.resource.object},
        previous=UNSET,
        active=UNSET,
        audience=Audience.LEFT_LOCATION,
        moved_to=event.location_id,
    )
    return [event, left]


def for_both_locations(event: Event, old_location_id: str | None) -> list[Event]:
    """The event of a move that tells where the resource was, to whoever may know that.

    A key that sees both locations gets it whole. One that sees only the new location gets no `previous`, and
    one that sees only the old location gets that, and `{id, object}`.
    """
    if old_location_id == event.location_id:
        return [event]
    told = [structs.replace(event, audience=Audience.BOTH_LOCATIONS, moved_to=old_location_id)]
    if event.location_id is not None:
        one_side = {"id": new_id(), "audience": Audience.CAME_TO_LOCATION, "moved_to": old_location_id}
        told.append(structs.replace(event, previous=UNSET, **one_side))
    if old_location_id is not None:
        (*_, left) = with_move_event(event, old_location_id)
        told.append(structs.replace(left, previous=event.previous))
    return told


class Snapshot(Struct, frozen=True, kw_only=True):
    """A resource as partners see it at one point in a transaction. `active`: see `EventData`."""

    data: Struct
    version: int
    location_id: str | None = None
    active: bool | UnsetType = UNSET


Snapshots = dict[tuple[str, str], Snapshot]


def change_events(
    created: Kind,
    updated: Kind,
    before: Snapshots,
    after: Snapshots,
    *,
    special: Callable[[Any, Any], Kind | None] = lambda old, now: None,
    leave_out: Collection[str] = (),
) -> list[Event]:
    """The events of a bulk write, from what partners saw before and after it. Keys are studio and id.

    `special` returns the kind of a change that has one of its own, without old values, instead of `updated`.
    """
    events: list[Event] = []
    for (studio_id, resource_id), now in after.items():
        old = before.get((studio_id, resource_id))
        previous = previous_values(old.data, now.data, leave_out) if old else {}
        if old and not previous and (old.active, old.location_id) == (now.active, now.location_id):
            continue
        kind = updated if old else created
        event = Event(
            kind=kind,
            studio_id=studio_id,
            location_id=now.location_id,
            resource=EventResource(kind.resource, resource_id, now.version),
            data=now.data,
            previous=previous if old else UNSET,
            active=now.active,
        )
        event, *left = with_move_event(event, old.location_id if old else now.location_id)
        if old and (own_kind := special(old.data, now.data)):
            event = structs.replace(event, kind=own_kind, previous=UNSET)
        events += [event, *left]
    return events
