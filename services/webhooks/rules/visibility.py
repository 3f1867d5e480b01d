"""Who may see an event. The same rule applies to endpoints and to keys that read the event log."""

from collections.abc import Collection

from msgspec import Struct

from shared.events.kinds import KINDS, Event


class View(Struct, frozen=True):
    """What a key or endpoint may see. `location_ids` None means every location."""

    scopes: frozenset[str]
    location_ids: frozenset[str] | None

    def kinds(self) -> list[str]:
        """The kinds that the scopes allow, in the order of `KINDS`."""
        return [name for name, kind in KINDS.items() if _scope_allows(kind, self.scopes)]

    def shows(self, type_: str, location_id: str | None) -> bool:
        """Studio-wide kinds are always shown. Others need a permitted location."""
        kind = KINDS.get(type_)
        if kind is None or not _scope_allows(kind, self.scopes):
            return False
        if self.location_ids is None or not kind.location_bound:
            return True
        return location_id is not None and location_id in self.location_ids


EVERYTHING = View(frozenset(kind.scope for kind in KINDS.values() if kind.scope), None)


class Subscriber(Struct, frozen=True):
    """An endpoint as the event log sees it."""

    id: str
    studio_id: str
    event_types: frozenset[str]
    view: View

    def wants(self, type_: str, location_id: str | None) -> bool:
        """An empty list of types means all that the view shows."""
        return (not self.event_types or type_ in self.event_types) and self.view.shows(type_, location_id)


def scopes_needed(event_types: Collection[str]) -> list[str]:
    """The read scopes that these kinds need, sorted."""
    return sorted({scope for name in event_types if (scope := KINDS[name].scope)})


def is_location_bound(type_: str) -> bool:
    return KINDS[type_].location_bound


def _scope_allows(kind: type[Event], scopes: frozenset[str]) -> bool:
    return kind.scope is None or kind.scope in scopes
