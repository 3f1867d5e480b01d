from typing import Annotated, Literal

from msgspec import Meta

from shared.wire import Id, PageQuery, Resource


class Room(Resource, kw_only=True):
    id: Id
    object: Literal["room"] = "room"
    location_id: Id
    name: str
    capacity: int
    active: bool


class RoomsQuery(PageQuery, frozen=True, kw_only=True):
    location_id: Annotated[Id | None, Meta(description="Only rooms of this location.")] = None
