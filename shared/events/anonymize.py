"""What an erasure leaves of an event about a person: the ids. Whoever keeps a copy fetches the rest again."""

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from shared.events.event import EventResource
from shared.wire import encode

# The address of an erased lead. It is nobody's.
ERASED_DOMAIN = "@erased.invalid"


class _OfMember(Struct):
    member_id: str | UnsetType = UNSET


class _Data(Struct):
    object: _OfMember


_of_member = msgspec.json.Decoder(_Data)


def person_in(resource: EventResource, data: Raw) -> str | None:
    """Whose personal data the event carries: a member's, a lead's, or the reasons of a member's membership.

    All other kinds show a person's id at most.
    """
    if resource.object in ("member", "lead"):
        return resource.id
    if resource.object == "membership":
        return _of_member.decode(data).object.member_id or None
    return None


def without_person(resource: EventResource) -> Raw:
    """The event's data with nothing but the id, like an event about something that a key may not see."""
    return Raw(encode({"object": {"id": resource.id, "object": resource.object}}))
