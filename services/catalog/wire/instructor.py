from typing import Literal

from shared.wire import Id, Resource


class Instructor(Resource, kw_only=True):
    """Holds no private staff data, so none can leak."""

    id: Id
    object: Literal["instructor"] = "instructor"
    name: str
    tagline: str
    tags: list[str]
