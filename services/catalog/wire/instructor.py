from typing import Literal

from shared.wire import Id, Resource


class Instructor(Resource, kw_only=True):
    """Private staff data has no place here, so it cannot leak."""

    id: Id
    object: Literal["instructor"] = "instructor"
    name: str
    tagline: str
    tags: list[str]
