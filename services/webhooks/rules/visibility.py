"""Who may see an event. The same rule applies to endpoints and to keys that read the event log."""

from collections.abc import Collection

from msgspec import Struct

from shared.events.event import Audience, Kind
from shared.events.kinds import KINDS

SEPARATOR = "+"
ONE_SIDE = (Audience.LEFT_LOCATION, Audience.CAME_TO_LOCATION)


class Channel(Struct, frozen=True):
    """A kind, or those of its events that have their own audience.

    The event log stores the channel's name instead of the kind's. A view is a set of channels, so a page
    reads only rows that it shows.
    """

    kind: Kind
    audience: Audience | None = None

    @property
    def name(self) -> str:
        return f"{self.kind.name}{SEPARATOR}{self.audience}" if self.audience else self.kind.name


CHANNELS = {
    channel.name: channel
    for kind in KINDS.values()
    for channel in (Channel(kind), *(Channel(kind, audience) for audience in Audience))
}


def channel_name(kind: str, audience: Audience | None) -> str:
    return Channel(KINDS[kind], audience).name


def kind_of(channel: str) -> str:
    return channel.partition(SEPARATOR)[0]


class View(Struct, frozen=True):
    """What a key or endpoint may see. `location_ids` None means every location."""

    scopes: frozenset[str]
    location_ids: frozenset[str] | None

    def channels(self) -> list[Channel]:
        """In the order of `KINDS`; location-bound ones are then limited to the locations."""
        return [channel for channel in CHANNELS.values() if self._includes(channel)]

    def shows(self, channel: str, location_id: str | None, moved_to: str | None) -> bool:
        """Studio-wide kinds are always shown. Others need a permitted location."""
        found = CHANNELS.get(channel)
        if found is None or not self._includes(found):
            return False
        if self.location_ids is None or not found.kind.location_bound:
            return True
        sees_other = moved_to in self.location_ids
        if found.audience in ONE_SIDE and sees_other:
            return False
        if found.audience is Audience.BOTH_LOCATIONS and not sees_other:
            return False
        return location_id is not None and location_id in self.location_ids

    def _includes(self, channel: Channel) -> bool:
        if not _scope_allows(channel.kind, self.scopes):
            return False
        match channel.audience:
            case None:
                return True
            case Audience.FORM_WRITERS:
                return channel.kind.resource == "form" and "forms:write" in self.scopes
            case Audience.FORM_READERS:
                return channel.kind.resource == "form" and "forms:write" not in self.scopes
            case Audience.LEFT_LOCATION:
                return channel.kind.location_bound and self.location_ids is not None
            case Audience.CAME_TO_LOCATION:
                return channel.kind.tells_origin and self.location_ids is not None
            case Audience.BOTH_LOCATIONS:
                return channel.kind.tells_origin


EVERYTHING = View(frozenset(scope for kind in KINDS.values() for scope in kind.scopes), None)


class Subscriber(Struct, frozen=True):
    """Endpoints as the event log sees them: all those of a client that want the same events."""

    endpoint_ids: list[str]
    studio_id: str
    client_id: str
    event_types: frozenset[str]
    view: View

    def wants(
        self, channel: str, location_id: str | None, moved_to: str | None, client_id: str | None
    ) -> bool:
        """An empty list of types means all that the view shows. `client_id`: nobody else sees the event."""
        if client_id is not None and client_id != self.client_id:
            return False
        subscribed = not self.event_types or kind_of(channel) in self.event_types
        return subscribed and self.view.shows(channel, location_id, moved_to)


def missing_scopes(event_types: Collection[str], granted: frozenset[str]) -> list[str]:
    """The scopes that a key needs in addition to `granted` to see these kinds, sorted."""
    kinds = (KINDS[name] for name in event_types)
    return sorted(kind.scopes[0] for kind in kinds if not _scope_allows(kind, granted))


def _scope_allows(kind: Kind, scopes: frozenset[str]) -> bool:
    return not kind.scopes or any(scope in scopes for scope in kind.scopes)
