from typing import Literal

from shared.wire import Id, Resource


class Studio(Resource, kw_only=True):
    id: Id
    object: Literal["studio"] = "studio"
    name: str
    slug: str | None
    timezone: str | None
    logo_url: str | None
    primary_color: str | None
