from typing import Literal

from shared.wire import Id, Resource


class Location(Resource, kw_only=True):
    id: Id
    object: Literal["location"] = "location"
    name: str
    city: str
    state: str
    timezone: str
    active: bool
    is_primary: bool
