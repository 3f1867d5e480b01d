from typing import Literal

from shared.wire import Id, Resource


class ClassType(Resource, kw_only=True):
    id: Id
    object: Literal["class_type"] = "class_type"
    name: str
    description: str | None
    beginner_safe: bool | None
    recovery: bool | None
